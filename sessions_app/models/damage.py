"""Stored values that cannot be read: the error that is raised, and the columns to check.

A value is found to be damaged where it is read, perhaps in the middle of a turn. It is replaced later, by
`sessions_app.actions.damage`, in a transaction of its own; until then its column is noted here.
"""

import json
import threading
from collections.abc import Callable, Collection
from typing import Any

from django.db import models
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from mrpvm.errors import StorageDamaged
from sessions_app.models.fields import PlainInMigrations


class DamagedValue(models.Model):
    """An unreadable value, kept before its column was reset, so that it may still be recovered."""

    table = models.CharField(max_length=100, help_text="Table the value was read from.")
    column = models.CharField(max_length=100, help_text="Column the value was read from.")
    row_key = models.CharField(max_length=100, help_text="Primary key of the row.")
    raw = models.BinaryField(help_text="The bytes as they were stored.")
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.table}.{self.column} of {self.row_key}"


class DamagedColumns:
    """Columns in which this process has read a damaged value, as `(model label, field name)`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: set[tuple[str, str]] = set()
        self._on_noted: Callable[[], None] = lambda: None

    def call(self, on_noted: Callable[[], None]) -> None:
        """Call the function whenever a column is noted."""
        self._on_noted = on_noted

    def note(self, label: str, field_name: str) -> None:
        with self._lock:
            self._columns.add((label, field_name))
        self._on_noted()

    def columns(self) -> Collection[tuple[str, str]]:
        """Return all of them as they are now."""
        with self._lock:
            return set(self._columns)

    def forget(self, label: str, field_name: str) -> None:
        """Remove a column that is about to be checked."""
        with self._lock:
            self._columns.discard((label, field_name))


damaged_columns = DamagedColumns()


def damaged(field: "models.Field[Any, Any]") -> StorageDamaged:
    """Return the error for a value of the field that cannot be read, after noting its column."""
    options = field.model._meta
    damaged_columns.note(options.label, field.name)
    place = f"{options.db_table}.{field.column}"
    return StorageDamaged(
        f"A stored value cannot be read ({place}). It is set aside and replaced now; try again in a moment.",
        details={"column": place, "retry_after_seconds": 1},
    )


class StoredJSONField(PlainInMigrations, models.JSONField):
    """Django's JSON column, whose damaged values raise `StorageDamaged`; Django's own returns them as texts."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the value that a column holds."""
        if value is None or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)
        try:
            return json.loads(value, cls=self.decoder)
        except ValueError as error:
            raise damaged(self) from error

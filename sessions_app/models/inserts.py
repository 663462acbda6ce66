"""Inserting rows whose keys nobody asks for, without the price of `bulk_create`."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, Field, JSONField, Model


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model; their keys are not filled in.

    For the tables that every turn writes to: `bulk_create` compiles each value as an expression of its own, which
    costs many times what the database needs.
    """
    if not rows:
        return
    options, quote = type(rows[0])._meta, connection.ops.quote_name
    fields = [field for field in options.concrete_fields if not field.primary_key]
    columns, marks = ", ".join(quote(str(field.column)) for field in fields), ", ".join("%s" for _ in fields)
    read = attrgetter(*(field.attname for field in fields))
    adapters = [(place, adapt) for place, field in enumerate(fields) if (adapt := _adapter(field)) is not None]
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(options.db_table)} ({columns}) VALUES ({marks})",  # noqa: S608 (names of our tables)
            [_adapted(list(read(row)), adapters) for row in rows],
        )


type Adapter = Callable[[Any], Any]


def _adapter(field: Field) -> Adapter | None:
    """Give what makes a value of the field one that the database's driver takes; None where it takes it as it is."""
    if isinstance(field, DateTimeField):
        return connection.ops.adapt_datetimefield_value
    if isinstance(field, JSONField):
        return lambda value: connection.ops.adapt_json_value(value, field.encoder)
    return None


def _adapted(values: list[Any], adapters: Sequence[tuple[int, Adapter]]) -> list[Any]:
    for place, adapt in adapters:
        if values[place] is not None:
            values[place] = adapt(values[place])
    return values

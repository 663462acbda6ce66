"""Columns that store text of conversations without the keys, tokens and passwords that were written in it.

Messages, units, memory and sources are not redacted, so that questions about them can be answered.
"""

from typing import Any

import orjson
from django.db import models

from mrpvm.llm.redaction import redacted_json, without_secrets
from mrpvm.wire import json_bytes
from sessions_app.models.damage import StoredJSONField
from sessions_app.models.fields import PlainInMigrations


def redacted_value(value: Any) -> Any:
    """Return a JSON value without secrets, or the same object if it holds none."""
    data = json_bytes(value)
    kept = redacted_json(data)
    return value if kept is data else orjson.loads(kept)


class RedactedTextField(PlainInMigrations, models.TextField):
    """A text in which secrets are redacted before it is stored."""

    def get_prep_value(self, value: Any) -> Any:
        """Return what is stored of a value."""
        prepared = super().get_prep_value(value)
        return without_secrets(prepared) if isinstance(prepared, str) else prepared


class RedactedCharField(PlainInMigrations, models.CharField):
    """A short text in which secrets are redacted before it is stored, cut where that makes it too long."""

    def get_prep_value(self, value: Any) -> Any:
        """Return what is stored of a value."""
        prepared = super().get_prep_value(value)
        return without_secrets(prepared)[: self.max_length] if isinstance(prepared, str) else prepared


class RedactedJSONField(StoredJSONField):
    """A JSON value in which secrets are redacted before it is stored."""

    def get_prep_value(self, value: Any) -> Any:
        """Return what is stored of a value."""
        prepared = super().get_prep_value(value)
        is_json = prepared is not None and not hasattr(prepared, "resolve_expression")
        return redacted_value(prepared) if is_json else prepared

"""How columns are named in a statement, and what their values go through on the way to the driver and back."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import Any, cast

import orjson
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import DateTimeField, Field, JSONField, Model
from django.db.models.expressions import Col
from msgspec import Struct

from sessions_app.models.damage import damaged
from sessions_app.models.redacted import RedactedCharField, RedactedTextField
from sessions_app.models.turns.compression import CompressedJSONField, stored_json

_ADAPTED = (DateTimeField, JSONField, CompressedJSONField, RedactedTextField, RedactedCharField)
"""Fields whose values the driver does not take as they are."""
_JSON = json.JSONDecoder()
remembered = lru_cache(maxsize=128)
type ColumnConversion = tuple[int, Callable[[Any], Any]]
"""A column's place in a row, and what its values go through."""


@cache
def product() -> str:
    """Return the database's vendor: sqlite or postgresql."""
    return connection.vendor


class Columns[Row: Model](Struct, frozen=True):
    """Columns of a model in a statement, `sql`, whose values are in its rows from the place `start` on."""

    model: type[Row]
    names: Sequence[str]
    sql: str
    converters: Sequence[ColumnConversion]
    start: int = 0

    @property
    def end(self) -> int:
        """Return the place after them."""
        return self.start + len(self.names)

    def values_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """Return their values of a row of the statement, as the model's fields know them."""
        return converted([tuple(row[self.start : self.end])], self.converters)[0]

    def row_of(self, row: Sequence[Any]) -> Row:
        """Return the model's row that they are all columns of."""
        return self.model.from_db(DEFAULT_DB_ALIAS, self.names, self.values_of(row))


@remembered
def model_columns[Row: Model](
    model: type[Row], names: tuple[str, ...] | None, vendor: str, alias: str = "", start: int = 0
) -> Columns[Row]:
    """Return columns of a model, all of them for None."""
    names = names or tuple(field.attname for field in model._meta.concrete_fields)
    prefix = f"{alias}." if alias else ""
    converters = [(place, read) for place, name in enumerate(names) for read in _converters(model_field(model, name))]
    return Columns(model, names, ", ".join(prefix + quoted_column(model, name) for name in names), converters, start)


def model_field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.pk if name == "pk" else model._meta.get_field(name))


def quoted_column(model: type[Model], name: str) -> str:
    return connection.ops.quote_name(str(model_field(model, name).column))


def adapters_of(model: type[Model], columns: Sequence[str]) -> list[ColumnConversion]:
    """Return what makes values of fields those that the database's driver takes."""
    fields = [model_field(model, name) for name in columns]
    adapted = ((place, _adapter(field)) for place, field in enumerate(fields) if isinstance(field, _ADAPTED))
    return [(place, adapt) for place, adapt in adapted if adapt is not None]


def _adapter(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    if isinstance(field, DateTimeField):
        return _sqlite_moment if product() == "sqlite" else None
    if isinstance(field, JSONField) and field.encoder is None:
        return partial(_json_parameter, field)
    return stored_json if isinstance(field, CompressedJSONField) else field.get_prep_value


def _sqlite_moment(moment: datetime | None) -> str | None:
    """Return a moment as Django writes it for SQLite, in a fifth of its time."""
    return None if moment is None else str(moment.astimezone(UTC).replace(tzinfo=None))


def _moment_of_sqlite(read: datetime | str | None) -> datetime | None:
    """Return a moment of a row as Django does, without a look into the settings; the driver parses that of a column."""
    if read is None:
        return None
    return (datetime.fromisoformat(read) if isinstance(read, str) else read).replace(tzinfo=UTC)


def _json_parameter(field: JSONField, value: Any) -> Any:
    prepared = field.get_prep_value(value)
    if prepared is None:
        return None
    if product() == "sqlite":
        return _json_text(prepared)
    from psycopg.types.json import Jsonb

    return Jsonb(prepared, _json_text)


def _json_text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a surrogate pair, a key that is no text, a number of more than 64 bits
        return json.dumps(value)


def _converters(field: "Field[Any, Any]") -> list[Callable[[Any], Any]]:
    """Return what makes the driver's value one of the field's."""
    if isinstance(field, JSONField) and field.decoder is None:
        return [partial(_parsed, field)]
    if isinstance(field, DateTimeField) and product() == "sqlite":
        return [_moment_of_sqlite]
    column = Col("", field)
    converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    return [partial(_converted_by, convert, column) for convert in converters]


def _parsed(field: JSONField, value: str | None) -> Any:
    # The stored JSON is one value without surrounding spaces, so a raw decode is enough.
    try:
        return None if value is None else _JSON.raw_decode(value)[0]
    except ValueError as error:
        raise damaged(field) from error


def _converted_by(convert: Callable[..., Any], column: Col, value: Any) -> Any:
    return convert(value, column, connection)


def converted(rows: Sequence[tuple[Any, ...]], converters: Sequence[ColumnConversion]) -> list[tuple[Any, ...]]:
    """Return rows with the values at some places changed."""
    if not converters:
        return list(rows)
    converted = [list(row) for row in rows]
    for values in converted:
        for place, convert in converters:
            values[place] = convert(values[place])
    return [tuple(values) for values in converted]

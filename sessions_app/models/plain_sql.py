"""Plain statements on one table, for the rows that every turn reads and writes.

The ORM compiles a statement anew each time, which costs many times what the database needs for it. Here its text is
built once for each shape; names are those of the models' columns (`session_id`, not `session`), and values go to and
from the driver as the ORM's do. Everything that is not on a turn's path stays with the ORM.

A condition names a column and what it equals: a value, None for a null, PRESENT for anything else, or a list, tuple,
set or mapping of values of which it is one. Members of TextChoices and booleans are written into the statement, so that
an index over the rows where it is so is found.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import batched, chain
from operator import attrgetter
from typing import Any, cast

from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.models import DateTimeField, Field, JSONField, Model, TextChoices
from django.db.models.expressions import Col

from mrpvm.llm.redaction import redacted_json
from mrpvm.wire import json_bytes
from sessions_app.models.damage import damaged
from sessions_app.models.redacted import RedactedCharField, RedactedTextField
from sessions_app.models.turns.compression import CompressedJSONField, compress

_PARAMETERS_A_STATEMENT = 200_000
"""Where the database has no limit of its own."""
PRESENT = object()
_MANY = (list, tuple, set, frozenset, dict)
_JSON = json.JSONDecoder()
_TRUTH = {"sqlite": ("{} = 0", "{} = 1"), "postgresql": ("NOT {}", "{}")}
"""How Django writes that a boolean column is false, or true, into the condition of an index."""
_remembered = lru_cache(maxsize=256)
type Shape = tuple[tuple[str, str], ...]
"""The columns of a condition, each with the test that it is put to."""
type Converter = Callable[[Any], Any]
type Adapter = Callable[[BaseDatabaseOperations, Any], Any]


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model; their keys are not filled in."""
    if rows:
        statement, read, adapters = _insert(type(rows[0]), connection.vendor)
        with connection.cursor() as cursor:
            cursor.executemany(statement, adapted(map(read, rows), adapters))


def insert_values(model: type[Model], columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows that are not worth an object each, from the values of all columns that have no default in SQL."""
    if rows:
        statement, adapters = _insert_columns(model, columns, connection.vendor)
        with connection.cursor() as cursor:
            cursor.executemany(statement, adapted(rows, adapters))


def insert_keyed_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model and fill in their keys; one statement for some hundred rows."""
    if not rows:
        return
    columns = _written(type(rows[0]))
    keys = insert_keyed_values(type(rows[0]), columns, [attrgetter(*columns)(row) for row in rows])
    for row, key in zip(rows, keys, strict=True):
        row.pk, row._state.adding, row._state.db = key, False, connection.alias


def insert_keyed_values(model: type[Model], columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Insert rows as `insert_values` does and give their keys, in order; one statement for some hundred rows."""
    statement, adapters = _insert_columns(model, columns, connection.vendor)
    start, values = statement.split("VALUES ")
    keys: list[int] = []
    parameters_a_statement = connection.features.max_query_params or _PARAMETERS_A_STATEMENT
    for batch in batched(rows, parameters_a_statement // len(columns), strict=False):
        parameters = list(chain.from_iterable(adapted(batch, adapters)))
        with connection.cursor() as cursor:
            cursor.execute(
                f"{start}VALUES {', '.join([values] * len(batch))} RETURNING {_column(model, 'pk')}", parameters
            )
            keys += [key for (key,) in cursor.fetchall()]
    return keys


def get_row[Row: Model](model: type[Row], *, lock: bool = False, **where: Any) -> Row | None:
    """Return the one row that meets every condition, None if there is none; `lock` as for `select_rows`."""
    found = get_rows(model, lock=lock, **where)
    return found[0] if found else None


def get_rows[Row: Model](model: type[Row], *, lock: bool = False, **where: Any) -> list[Row]:
    """Return the whole rows that meet every condition, in no order; `lock` as for `select_rows`."""
    names = _names(model)
    return [model.from_db(connection.alias, names, values) for values in select_rows(model, names, lock=lock, **where)]


def read_related(row: Model, *names: str) -> None:
    """Read the rows that these foreign keys point at by one statement, and attach them as `select_related` does.

    None of the keys is null. The row's own values are taken as they are: of a row that was locked, what it points at is
    read as it is after the lock was got.
    """
    models, statement, converters = _related(type(row), names, connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(statement, [getattr(row, f"{name}_id") for name in names])
        (values,) = converted(cursor.fetchall(), converters)
    start = 0
    for name, model in zip(names, models, strict=True):
        columns = _names(model)
        setattr(row, name, model.from_db(connection.alias, columns, values[start : start + len(columns)]))
        start += len(columns)


def select_rows(
    model: type[Model],
    columns: Sequence[str],
    *,
    highest: str | None = None,
    limit: int = 0,
    lock: bool = False,
    **where: Any,
) -> list[tuple[Any, ...]]:
    """Return these columns of the rows that meet every condition; none for an empty collection.

    Args:
        highest: give `limit` rows, those with the highest values of this column, the highest first; without it all
            rows are given, in no order.
        lock: hold the rows until the end of the transaction, where the database knows that.
    """
    shape, values = condition(where)
    if values is None:
        return []
    statement, converters = _select(model, tuple(columns), shape, highest, lock, connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(statement, values if highest is None else [*values, limit])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return converted(rows, converters)


def update_rows(model: type[Model], changes: dict[str, Any], **where: Any) -> int:
    """Set columns of the rows that meet every condition; gives how many there were."""
    shape, values = condition(where)
    if values is None:
        return 0
    statement, adapters = _update(model, tuple(changes), shape, connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*adapted([changes.values()], adapters)[0], *values])
        return int(cursor.rowcount)


def save_columns(row: Model, *columns: str) -> None:
    """Save these columns of a stored row."""
    update_rows(type(row), {name: getattr(row, name) for name in columns}, pk=row.pk)


def add_to_row(row: Model, **increments: int) -> None:
    """Add to integer columns of a stored row, whatever they have become since it was read, and take over the sums."""
    with connection.cursor() as cursor:
        cursor.execute(_add(type(row), tuple(increments), connection.vendor), [*increments.values(), row.pk])
        for name, total in zip(increments, cursor.fetchone(), strict=True):
            setattr(row, name, total)


def delete_rows(model: type[Model], **where: Any) -> int:
    """Delete the rows that meet every condition; what refers to them must be gone already."""
    shape, values = condition(where)
    if values is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table_name(model)} WHERE {where_clause(model, shape)}", values)  # noqa: S608
        return int(cursor.rowcount)


def condition(where: dict[str, Any]) -> tuple[Shape, list[Any] | None]:
    """Return the condition's shape and its values; None for values where nothing can meet it."""
    shape: list[tuple[str, str]] = []
    values: list[Any] = []
    for name, wanted in where.items():
        if isinstance(wanted, _MANY):
            if not wanted:
                return (), None
            shape.append((name, f"{{}} IN ({_marks(len(wanted))})"))
            values.extend(wanted)
        elif wanted is None:
            shape.append((name, "{} IS NULL"))
        elif wanted is PRESENT:
            shape.append((name, "{} IS NOT NULL"))
        elif isinstance(wanted, bool):
            shape.append((name, _TRUTH[connection.vendor][wanted]))
        elif isinstance(wanted, TextChoices):
            shape.append((name, f"{{}} = '{wanted.value}'"))
        else:
            shape.append((name, "{} = %s"))
            values.append(wanted)
    return tuple(shape), values


def where_clause(model: type[Model], shape: Shape) -> str:
    return " AND ".join(test.format(_column(model, name)) for name, test in shape)


@lru_cache(maxsize=256)
def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)


def table_name(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def field_named(model: type[Model], name: str) -> "Field[Any, Any]":
    options = model._meta
    return cast("Field[Any, Any]", options.pk if name == "pk" else options.get_field(name))


def _column(model: type[Model], name: str) -> str:
    return connection.ops.quote_name(str(field_named(model, name).column))


@_remembered
def _insert(model: type[Model], vendor: str) -> tuple[str, Callable[[Model], tuple[Any, ...]], Sequence["Place"]]:
    names = _written(model)
    statement, adapters = _insert_columns(model, names, vendor)
    return statement, attrgetter(*names), adapters


def _written(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields if not field.primary_key)


@_remembered
def _insert_columns(model: type[Model], columns: tuple[str, ...], vendor: str) -> tuple[str, Sequence["Place"]]:
    fields = [field_named(model, name) for name in columns]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    return f"INSERT INTO {table_name(model)} ({names}) VALUES ({_marks(len(fields))})", places(fields)  # noqa: S608


@_remembered
def _names(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields)


@_remembered
def _select(
    model: type[Model], columns: tuple[str, ...], shape: Shape, highest: str | None, lock: bool, vendor: str
) -> tuple[str, Sequence["ReadPlace"]]:
    names, converters = selected(model, columns)
    locking = " FOR UPDATE" if lock and connection.features.has_select_for_update else ""
    order = f" ORDER BY {_column(model, highest)} DESC LIMIT %s" if highest else ""
    return f"SELECT {names} FROM {table_name(model)} WHERE {where_clause(model, shape)}{order}{locking}", converters  # noqa: S608


def selected(model: type[Model], columns: Sequence[str]) -> tuple[str, Sequence["ReadPlace"]]:
    """Return the names of columns as a statement has them, and what the values of some go through when they are
    read.
    """
    fields = [field_named(model, name) for name in columns]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    return names, [(place, read) for place, field in enumerate(fields) for read in _converters(field)]


@_remembered
def _related(
    model: type[Model], names: tuple[str, ...], vendor: str
) -> tuple[list[type[Model]], str, Sequence["ReadPlace"]]:
    models = [cast("type[Model]", model._meta.get_field(name).related_model) for name in names]
    columns, converters = list[str](), list[ReadPlace]()
    tables, tests = list[str](), list[str]()
    for place, related in enumerate(models):
        for attname in _names(related):
            field = field_named(related, attname)
            converters += [(len(columns), read) for read in _converters(field)]
            columns.append(f"r{place}.{connection.ops.quote_name(str(field.column))}")
        tables.append(f"{table_name(related)} r{place}")
        tests.append(f"r{place}.{_column(related, 'pk')} = %s")
    statement = f"SELECT {', '.join(columns)} FROM {', '.join(tables)} WHERE {' AND '.join(tests)}"  # noqa: S608
    return models, statement, converters


@_remembered
def _update(model: type[Model], columns: tuple[str, ...], shape: Shape, vendor: str) -> tuple[str, Sequence["Place"]]:
    fields = [field_named(model, name) for name in columns]
    settings = ", ".join(f"{connection.ops.quote_name(str(field.column))} = %s" for field in fields)
    return f"UPDATE {table_name(model)} SET {settings} WHERE {where_clause(model, shape)}", places(fields)  # noqa: S608


@_remembered
def _add(model: type[Model], columns: tuple[str, ...], vendor: str) -> str:
    names = [_column(model, name) for name in columns]
    return (
        f"UPDATE {table_name(model)} SET {', '.join(f'{name} = {name} + %s' for name in names)}"  # noqa: S608
        f" WHERE {_column(model, 'pk')} = %s RETURNING {', '.join(names)}"
    )


type Place = tuple[int, Adapter]
type ReadPlace = tuple[int, Converter]
"""A column's place in a row, and what its values go through."""


def places(fields: Sequence["Field[Any, Any]"]) -> list[Place]:
    return [(place, adapt) for place, field in enumerate(fields) if (adapt := _adapter(field)) is not None]


def _adapter(field: "Field[Any, Any]") -> Adapter | None:
    """Return what makes a value of the field one that the database's driver takes; None where it takes it as it is."""
    if isinstance(field, DateTimeField):
        return lambda operations, value: operations.adapt_datetimefield_value(value)
    if isinstance(field, JSONField):
        return lambda operations, value: operations.adapt_json_value(field.get_prep_value(value), field.encoder)
    if isinstance(field, CompressedJSONField):
        return lambda operations, value: compress(redacted_json(json_bytes(value)))
    if isinstance(field, RedactedTextField | RedactedCharField):
        return lambda operations, value: field.get_prep_value(value)
    return None


def _converters(field: "Field[Any, Any]") -> list[Converter]:
    """Return what makes the driver's value one of the field's."""
    if isinstance(field, JSONField) and field.decoder is None:
        return [partial(_parsed, field)]
    column = Col("", field)
    found = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    return [partial(_converted_by, convert, column) for convert in found]


def _parsed(field: JSONField, value: str | None) -> Any:
    # What is stored is one value without spaces around it, so nothing needs to be looked for there.
    try:
        return None if value is None else _JSON.raw_decode(value)[0]
    except ValueError as error:
        raise damaged(field) from error


def _converted_by(convert: Callable[..., Any], column: Col, value: Any) -> Any:
    return convert(value, column, connection)


def adapted(rows: Iterable[Iterable[Any]], adapters: Sequence[Place]) -> list[list[Any]]:
    found = [list(values) for values in rows]
    if adapters:
        operations = connection.ops  # looked up once: it belongs to the thread, and finding it costs more than its use
        for values in found:
            for place, adapt in adapters:
                if values[place] is not None:
                    values[place] = adapt(operations, values[place])
    return found


def converted(rows: list[tuple[Any, ...]], converters: Sequence["ReadPlace"]) -> list[tuple[Any, ...]]:
    """Return rows as the models' fields know them; `converters` as of `selected`."""
    if not converters:
        return rows
    found = [list(row) for row in rows]
    for values in found:
        for place, convert in converters:
            values[place] = convert(values[place])
    return [tuple(values) for values in found]

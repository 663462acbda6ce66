"""Writes of rows: inserts of many, updates by their keys, and several of them as one statement."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import batched, chain
from operator import attrgetter
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.models import Model, QuerySet
from msgspec import Struct

from sessions_app.models.knowledge.bases import KnowledgeLayer, Posting
from sessions_app.models.named_sql.columns import (
    ColumnConversion,
    adapters_of,
    converted,
    model_field,
    product,
    quoted_column,
    remembered,
)
from sessions_app.models.named_sql.cursor import open_cursor

_ROWS_A_STEP = 200
_FEW_ROWS = 20
"""Up to so many rows PostgreSQL's driver is faster with a parameter for each value than with arrays."""
_MOST_PARAMETERS = 65_535
"""The most parameters of a statement, if the database does not report its limit."""


class Write(Struct, frozen=True):
    """A statement that writes rows, without its RETURNING, its parameters, and the columns that it returns of each."""

    statement: str
    parameters: Sequence[Any]
    returning: tuple[str, ...] = ()


def write_all(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    """Carry out writes of different rows, all of them or none; return what each returns of its rows.

    PostgreSQL carries them out as one statement, which saves a round trip for each and, where no transaction runs,
    those that begin and end one. None of them sees what another has written.
    """
    if product() == "postgresql" and len(writes) > 1:
        return _write_together(writes)
    if not writes:
        return []
    if connection.in_atomic_block or len(writes) == 1:
        return _write_in_turn(writes)
    with transaction.atomic():
        return _write_in_turn(writes)


def _write_in_turn(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    results: list[Sequence[Sequence[Any]]] = []
    with open_cursor() as cursor:
        for write in writes:
            returning = f" RETURNING {', '.join(write.returning)}" if write.returning else ""
            cursor.execute(write.statement + returning, write.parameters)
            results.append(cursor.fetchall() if write.returning else ())
    return results


def _write_together(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    from psycopg import RawCursor  # has numbered parameters; the usual cursor is slow with many parameters

    statement = _joined(tuple((write.statement, write.returning) for write in writes))
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.make_cursor(cast(Any, RawCursor(connection.connection))) as cursor:
        cursor.execute(statement, list(chain.from_iterable(write.parameters for write in writes)))
        (values,) = cursor.fetchall()
    if connection.queries_logged:  # Django's debug cursor does not support numbered parameters
        connection.queries_log.append({"sql": statement, "time": "0"})
    results = iter(values)
    return [next(results) or () if write.returning else () for write in writes]


@remembered
def _joined(parts: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """Return PostgreSQL's statement for several writes; each that returns something gives a JSON array of rows."""
    named, returned = [], []
    for place, (statement, returning) in enumerate(parts):
        named.append(f"w{place} AS ({statement} RETURNING {', '.join(returning) or '1'})")
        if returning:
            returned.append(f"(SELECT json_agg(json_build_array({', '.join(returning)})) FROM w{place})")  # noqa: S608
    before, *after = f"WITH {', '.join(named)} SELECT {', '.join(returned) or '1'}".split("%s")
    return before + "".join(f"${number}{text}" for number, text in enumerate(after, start=1))


def insert_rows(rows: Sequence[Model], *, with_keys: bool = False, along: Sequence[Write] = ()) -> None:
    """Insert new rows of one model, by one statement for some hundred of them; `with_keys` fills in their keys.

    `along` is written with the last of them.
    """
    if not rows:
        return
    *steps, last = insertions(rows, ("id",) if with_keys else ())
    written = [write_all([step])[0] for step in steps]
    written.append(write_all([last, *along])[0])
    for row, (key,) in zip(rows, chain.from_iterable(written), strict=with_keys):
        row.pk, row._state.adding, row._state.db = key, False, DEFAULT_DB_ALIAS


def insert_values(
    model: type[Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], *, with_keys: bool = False
) -> list[int]:
    """Insert rows from the values of all columns that have no default in SQL; return their keys, in order, if asked."""
    returning = ("id",) if with_keys else ()
    written = [write_all([step])[0] for step in value_insertions(model, columns, rows, returning)]
    return [key for keys in written for (key,) in keys]


def insertions(rows: Sequence[Model], returning: tuple[str, ...] = ()) -> list[Write]:
    """Return the writes that insert new rows of one model: a single one for some hundred of them, none for no rows."""
    if not rows:
        return []
    columns = _written(type(rows[0]))
    return value_insertions(type(rows[0]), columns, map(attrgetter(*columns), rows), returning)


def value_insertions(
    model: type[Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], returning: tuple[str, ...] = ()
) -> list[Write]:
    """Return the writes that insert rows from the values of all columns that have no default in SQL, as `insertions`.

    A model instance costs many times as much to create as its values.
    """
    into, types, adapters, most = _insertion(model, columns, product())
    adapted = converted(list(rows), adapters)
    if product() == "postgresql" and len(adapted) > _FEW_ROWS:
        return [Write(f"{into} {_unnested(types)}", _arrays(adapted), returning)]
    # `batched` allocates a whole batch first, which takes longer than writing a few rows.
    batches = [adapted] if 0 < len(adapted) <= most else batched(adapted, most, strict=False)
    return [
        Write(f"{into} {_marks(len(columns), len(batch))}", list(chain.from_iterable(batch)), returning)
        for batch in batches
    ]


def insert_at_once(into: str, types: Sequence[str], rows: Sequence[tuple[Any, ...]], after: str = "") -> None:
    """Insert very many rows of few columns in a few steps, during which other threads of the server continue.

    PostgreSQL gets a whole column as one array, which is far less work for its driver than a parameter a value.

    Args:
        into: the statement up to its values; `after` is what follows them.
        types: the columns' types, as PostgreSQL names them.
    """
    if not rows:
        return
    with open_cursor() as cursor:
        if product() == "postgresql":
            cursor.execute(f"{into} {_unnested(types)} {after}", _arrays(rows))
            return
        whole = len(rows) - len(rows) % _ROWS_A_STEP
        for part, row_count in ((rows[:whole], _ROWS_A_STEP), (rows[whole:], len(rows) - whole)):
            if part:
                steps = [list(chain.from_iterable(step)) for step in batched(part, row_count, strict=True)]
                cursor.executemany(f"{into} {_marks(len(types), row_count)} {after}", steps)


def _unnested(types: Sequence[str]) -> str:
    return f"SELECT * FROM unnest({', '.join(f'%s::{name}[]' for name in types)})"  # noqa: S608  (names of types)


def _arrays(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(values) for values in zip(*rows, strict=True)]


def _marks(column_count: int, row_count: int) -> str:
    return f"VALUES {', '.join([f'({", ".join(["%s"] * column_count)})'] * row_count)}"


@remembered
def _insertion(
    model: type[Model], columns: tuple[str, ...], vendor: str
) -> tuple[str, list[str], Sequence[ColumnConversion], int]:
    """Return the statement up to its values, the columns' types, what values go through, and the most rows at once."""
    into = f"INSERT INTO {model._meta.db_table} ({', '.join(quoted_column(model, name) for name in columns)})"
    types = [str(model_field(model, name).db_type(connection)) for name in columns]
    most = (connection.features.max_query_params or _MOST_PARAMETERS) // len(columns)
    return into, types, adapters_of(model, columns), most


@remembered
def _written(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields if not field.primary_key)


def update_of(
    model: type[Model], columns: tuple[str, ...], values: tuple[Any, ...], condition: str, *held: Any
) -> Write:
    """Return the write of columns of the rows that meet a condition, with its values `held`; it returns their keys."""
    statement, adapters = _update(model, columns, condition, product())
    return Write(statement, [*converted([values], adapters)[0], *held], ("id",))


@remembered
def _update(
    model: type[Model], columns: tuple[str, ...], condition: str, vendor: str
) -> tuple[str, Sequence[ColumnConversion]]:
    settings = ", ".join(f"{quoted_column(model, name)} = %s" for name in columns)
    return f"UPDATE {model._meta.db_table} SET {settings} WHERE {condition}", adapters_of(model, columns)  # noqa: S608


POSTING_COLUMNS = ("layer_id", "term", "unit_id", "frequency", "length")


def insert_postings(rows: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Insert postings: layer, term, unit, frequency and length of each."""
    into, types, *_ = _insertion(Posting, POSTING_COLUMNS, product())
    insert_at_once(into, types, rows)


def add_to_counts(layer: KnowledgeLayer, *, along: Sequence[Write] = (), **increments: int) -> None:
    """Add to counts of a stored layer, whatever they have become since it was read, and take over the sums.

    `along` is written with it.
    """
    changes = ", ".join(f"{name} = {name} + %s" for name in increments)
    statement = f"UPDATE {KnowledgeLayer._meta.db_table} SET {changes} WHERE id = %s"  # noqa: S608
    ((totals,), *_) = write_all([Write(statement, [*increments.values(), layer.pk], tuple(increments)), *along])
    for name, total in zip(increments, totals, strict=True):
        setattr(layer, name, total)


def update_each(model: type[Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Update rows, each with values of its own: `rows` are the values of these columns and, last, the key."""
    statement, adapters = _update(model, columns, f"{quoted_column(model, 'pk')} = %s", product())
    with open_cursor() as cursor:
        cursor.executemany(statement, converted(list(rows), adapters))


def insert_copies(
    model: type[Model], source: QuerySet[Any], columns: Sequence[str], constants: Mapping[str, Any]
) -> None:
    """Insert a row for each row of `source` within the database: the named columns as they are there, others as given.

    Args:
        constants: by column name; values as the database's driver takes them.
    """
    if source.query.is_empty():
        return
    quote = connection.ops.quote_name
    selected, parameters = source.values_list(*columns).query.sql_with_params()
    names = ", ".join(quote(name) for name in (*constants, *columns))
    marks = ", ".join("%s" for _ in constants)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {quote(model._meta.db_table)} ({names}) SELECT {marks}, copied.* FROM ({selected}) copied",  # noqa: S608
            [*constants.values(), *parameters],
        )

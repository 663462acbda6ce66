"""Reads of rows that an index finds by their keys."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

from django.db import connection
from django.db.models import Model

from sessions_app.models.named_sql.columns import (
    ColumnConversion,
    Columns,
    converted,
    model_columns,
    model_field,
    product,
    quoted_column,
    remembered,
)
from sessions_app.models.named_sql.cursor import open_cursor


def read_related(row: Model, *names: str) -> None:
    """Read the rows that these foreign keys point at by one statement, and attach them as `select_related` does.

    None of the keys may be null. The row itself is not read again. If it was locked before, the related rows are read
    after the lock was acquired.
    """
    statement, read = _related(type(row), names, product())
    with open_cursor() as cursor:
        cursor.execute(statement, [getattr(row, f"{name}_id") for name in names])
        (values,) = cursor.fetchall()
    for name, columns in zip(names, read, strict=True):
        setattr(row, name, columns.row_of(values))


@remembered
def _related(model: type[Model], names: tuple[str, ...], vendor: str) -> tuple[str, Sequence[Columns[Model]]]:
    read: list[Columns[Model]] = []
    for place, name in enumerate(names):
        related = cast("type[Model]", model._meta.get_field(name).related_model)
        read.append(model_columns(related, None, vendor, f"r{place}", read[-1].end if read else 0))
    tables = ", ".join(f"{columns.model._meta.db_table} r{place}" for place, columns in enumerate(read))
    tests = " AND ".join(f"r{place}.{quoted_column(columns.model, 'pk')} = %s" for place, columns in enumerate(read))
    return f"SELECT {', '.join(columns.sql for columns in read)} FROM {tables} WHERE {tests}", read  # noqa: S608


def look_up(
    model: type[Model],
    columns: Sequence[str],
    each: Mapping[str, Iterable[Any]],
    *,
    condition: str = "",
    binary: bool = False,
    **holders: Collection[int],
) -> list[tuple[Any, ...]]:
    """Return these columns of rows that an index finds one by one, in no order.

    With a condition on several columns the database chooses the plan. PostgreSQL expects no rows of a layer that its
    statistics do not cover yet, so it reads all rows of the layer and tests each. This statement hides the layers'
    keys from the planner, so that it uses the index on all columns.

    Args:
        each: the wanted values by column, without duplicates; values of several columns are combined by position.
        condition: a further condition in SQL.
        binary: read values in PostgreSQL's binary format, which halves the size of bytes.
        holders: the wanted keys of layers or packings by column; without keys no row is found.
    """
    wanted = [list(values) for values in each.values()]
    if not wanted[0] or not all(holders.values()):
        return []
    keys = [list(held) for held in holders.values()]
    with open_cursor() as cursor:
        if product() == "postgresql":
            statement, converters = _from_arrays(model, tuple(columns), tuple(each), tuple(holders), condition)
            if binary:
                from psycopg.pq import Format

                cursor.cursor.format = Format.BINARY
            cursor.execute(statement, [_array_literal(values) for values in (*wanted, *keys)])
        else:
            counts = tuple((name, len(held)) for name, held in zip(holders, keys, strict=True))
            statement, converters = _from_values(model, tuple(columns), tuple(each), counts, condition, len(wanted[0]))
            cursor.execute(statement, [*chain.from_iterable(zip(*wanted, strict=True)), *chain.from_iterable(keys)])
        return converted(cursor.fetchall(), converters)


@remembered
def _from_arrays(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], holders: tuple[str, ...], condition: str
) -> tuple[str, Sequence[ColumnConversion]]:
    """Return PostgreSQL's statement; OFFSET keeps the planner from merging the subquery into the outer query."""
    read = model_columns(model, columns, product())
    arrays = ", ".join(f"%s::{model_field(model, name).db_type(connection)}[]" for name in names)
    held = [f"{quoted_column(model, name)} = ANY ((SELECT %s::bigint[])::bigint[])" for name in holders]
    rows = f"SELECT {read.sql} FROM {_matching(model, names, [condition, *held])} OFFSET 0"  # noqa: S608
    places = f"unnest({arrays}) AS asked({_listed(names)})"
    return f"SELECT found.* FROM {places} CROSS JOIN LATERAL ({rows}) found", read.converters  # noqa: S608


def _array_literal(values: Iterable[Any]) -> str:
    """Return values as a PostgreSQL array literal, in half the time that the driver takes for a list."""
    return f"{{{','.join(str(value) if isinstance(value, int) else _quoted(str(value)) for value in values)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@remembered
def _from_values(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], holders: tuple[tuple[str, int], ...],
    condition: str, count: int,
) -> tuple[str, Sequence[ColumnConversion]]:  # fmt: skip
    """Return SQLite's statement; CROSS JOIN makes it read the left table first."""
    read = model_columns(model, columns, product())
    row = f"({', '.join(['%s'] * len(names))})"
    clause = f"WITH asked({_listed(names)}) AS (VALUES {', '.join([row] * count)})"
    held = [f"{quoted_column(model, name)} IN ({', '.join(['%s'] * number)})" for name, number in holders]
    statement = f"{clause} SELECT {read.sql} FROM asked CROSS JOIN {_matching(model, names, [condition, *held])}"  # noqa: S608
    return statement, read.converters


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"wanted_{name}" for name in names)


def _matching(model: type[Model], names: tuple[str, ...], held: Sequence[str]) -> str:
    equal = [f"{quoted_column(model, name)} = wanted_{name}" for name in names]
    return f"{model._meta.db_table} WHERE {' AND '.join(filter(None, (*held, *equal)))}"

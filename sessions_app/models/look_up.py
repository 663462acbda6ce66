"""Rows that an index finds one by one, for conditions on several of its columns with many values for the last.

With such a condition it is the database that chooses how to read. PostgreSQL goes by its statistics: of a layer that
they do not know yet it expects no rows, and reads all of them to test each. Here the statement leaves it no choice, and
keeps from it which layers are meant, so that it expects as much of them as of any, and takes the index of all columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Model

from sessions_app.models.plain_sql import (
    ReadPlace,
    Shape,
    condition,
    converted,
    field_named,
    selected,
    table_name,
    where_clause,
)


def look_up_rows(
    model: type[Model], columns: Sequence[str], each: Mapping[str, Iterable[Any]], *, binary: bool = False, **where: Any
) -> list[tuple[Any, ...]]:
    """Return these columns of the rows that meet every condition, in no order; none for an empty collection.

    Args:
        each: the wanted values of a column, each once; of several columns those that go together, at equal places.
        binary: let values come as they are stored, where the driver else has them written out: bytes take half then.
        where: what all rows meet, as for `select_rows`.
    """
    wanted = [list(values) for values in each.values()]
    shape, values = condition(where)
    if values is None or not wanted[0]:
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement, converters = _from_arrays(model, tuple(columns), tuple(each), shape)
            if binary:
                from psycopg.pq import Format

                cursor.cursor.format = Format.BINARY
            cursor.execute(statement, [*map(_array_literal, wanted), *values])
        else:
            statement, converters = _from_values(model, tuple(columns), tuple(each), shape, len(wanted[0]))
            cursor.execute(statement, [*chain.from_iterable(zip(*wanted, strict=True)), *values])
        return converted(cursor.fetchall(), converters)


@lru_cache(maxsize=64)
def _from_arrays(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], shape: Shape
) -> tuple[str, Sequence[ReadPlace]]:
    """Return PostgreSQL's statement; without OFFSET it would undo the subquery, and choose after all."""
    fields = [field_named(model, name) for name in names]
    arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
    read, converters = selected(model, columns)
    unknown = tuple((name, _kept_back(test, field_named(model, name).db_type(connection))) for name, test in shape)
    rows = f"SELECT {read} FROM {_matching(model, names, unknown)} OFFSET 0"  # noqa: S608
    asked = f"unnest({arrays}) AS asked({_listed(names)})"
    return f"SELECT found.* FROM {asked} CROSS JOIN LATERAL ({rows}) found", converters  # noqa: S608


def _array_literal(values: Iterable[Any]) -> str:
    """Return values as PostgreSQL writes an array: the driver, which looks at each of a list, takes twice as long."""
    return f"{{{','.join(str(value) if isinstance(value, int) else _quoted(str(value)) for value in values)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _kept_back(test: str, kind: str | None) -> str:
    return test.replace("%s", f"(SELECT %s::{kind})")


@lru_cache(maxsize=256)
def _from_values(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], shape: Shape, count: int
) -> tuple[str, Sequence[ReadPlace]]:
    """Return SQLite's statement: with CROSS JOIN it goes through the left table first."""
    row = f"({', '.join(['%s'] * len(names))})"
    asked = f"WITH asked({_listed(names)}) AS (VALUES {', '.join([row] * count)})"
    read, converters = selected(model, columns)
    return f"{asked} SELECT {read} FROM asked CROSS JOIN {_matching(model, names, shape)}", converters  # noqa: S608


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"wanted_{name}" for name in names)


def _matching(model: type[Model], names: tuple[str, ...], shape: Shape) -> str:
    equal = " AND ".join(f"{field_named(model, name).column} = wanted_{name}" for name in names)
    return f"{table_name(model)} WHERE {' AND '.join(filter(None, (where_clause(model, shape), equal)))}"

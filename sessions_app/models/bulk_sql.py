"""Many rows at once: the database takes them in a few steps, and during a step other threads of the server go on.

Row by row each would wait for its turn among them, with the transaction open. PostgreSQL gets a whole column as one
array, which is far less work for its driver than a parameter a value.
"""

import json
from collections.abc import Sequence
from itertools import batched, chain
from typing import Any

from django.db import connection
from django.db.models import Model

from sessions_app.models.plain_sql import insert_keyed_values

_ROWS_A_STEP = 200
_TYPES = {"JSONField": "jsonb", "BooleanField": "boolean", "FloatField": "float8", "CharField": "text",
          "TextField": "text"}  # fmt: skip
"""What PostgreSQL calls the types of some fields; those of the others are whole numbers."""


def insert_at_once(into: str, types: Sequence[str], rows: Sequence[tuple[Any, ...]], after: str = "") -> None:
    """Insert rows of few columns.

    Args:
        into: the statement up to its values; `after` is what follows them.
        types: the columns' types, as PostgreSQL names them.
    """
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"{into} {_unnested(types)} {after}", _arrays(types, rows))
            return
        whole = len(rows) - len(rows) % _ROWS_A_STEP
        row = f"({', '.join(['%s'] * len(types))})"
        for part, row_count in ((rows[:whole], _ROWS_A_STEP), (rows[whole:], len(rows) - whole)):
            if part:
                steps = [list(chain.from_iterable(step)) for step in batched(part, row_count, strict=True)]
                cursor.executemany(f"{into} VALUES {', '.join([row] * row_count)} {after}", steps)


def insert_keyed_at_once(
    model: type[Model], columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> Sequence[int]:
    """Insert rows as `insert_keyed_values` does and give their keys, in order; not for columns that hold moments."""
    if connection.vendor != "postgresql" or not rows:
        return insert_keyed_values(model, columns, rows)
    quote = connection.ops.quote_name
    fields = {name: field for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    types = [_TYPES.get(fields[name].get_internal_type(), "bigint") for name in columns]
    names = ", ".join(quote(str(fields[name].column)) for name in columns)
    into = f"INSERT INTO {quote(model._meta.db_table)} ({names}) {_unnested(types)} RETURNING id"
    with connection.cursor() as cursor:
        cursor.execute(into, _arrays(types, rows))
        return [key for (key,) in cursor.fetchall()]


def _unnested(types: Sequence[str]) -> str:
    read = ", ".join(f"%s::{'text[]::' if name == 'jsonb' else ''}{name}[]" for name in types)
    return f"SELECT * FROM unnest({read})"  # noqa: S608  (names of types)


def _arrays(types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the columns, the values of JSON in writing."""
    return [
        [value if value is None else json.dumps(value) for value in column] if name == "jsonb" else list(column)
        for name, column in zip(types, zip(*rows, strict=True), strict=True)
    ]

"""Many small rows at once: the database takes them in a few steps, and during a step other threads of the server go on.

Row by row each would wait for its turn among them, with the transaction open.
"""

from collections.abc import Sequence
from itertools import batched, chain
from typing import Any

from django.db import connection

_ROWS_A_STEP = 200


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
            columns = ", ".join(f"%s::{name}[]" for name in types)
            values = [list(column) for column in zip(*rows, strict=True)]
            cursor.execute(f"{into} SELECT * FROM unnest({columns}) {after}", values)  # noqa: S608
            return
        whole = len(rows) - len(rows) % _ROWS_A_STEP
        row = f"({', '.join(['%s'] * len(types))})"
        for part, row_count in ((rows[:whole], _ROWS_A_STEP), (rows[whole:], len(rows) - whole)):
            if part:
                steps = [list(chain.from_iterable(step)) for step in batched(part, row_count, strict=True)]
                cursor.executemany(f"{into} VALUES {', '.join([row] * row_count)} {after}", steps)

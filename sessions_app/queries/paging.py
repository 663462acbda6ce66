"""Pages by keyset: a cursor names the last row of a page, so new rows neither repeat nor hide others."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet

from mrpvm.errors import InvalidInput

Key = tuple[str, Callable[[Any], Any]]
"""A column of the order, `-` first for descending, and how its value is read back from a cursor."""


def page[Row: Model](
    rows: QuerySet[Row], keys: Sequence[Key], limit: int, cursor: str | None
) -> tuple[list[Row], str | None]:
    """Return at most `limit` rows after the cursor, in the order of `keys`, and the cursor of the next page.

    Args:
        keys: their last column must tell all rows apart.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    names = [name for name, _ in keys]
    rows = rows.order_by(*names)
    if cursor:
        rows = rows.filter(_after(names, _decoded(cursor, keys)))
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], _encoded([getattr(last, name.lstrip("-")) for name in names])


def when(value: Any) -> datetime:
    """Return the time that a cursor holds."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None or not 1970 <= moment.year < 9999:
        raise ValueError
    return moment


def number(value: Any) -> int:
    """Return the number that a cursor holds, if a column can hold it."""
    if not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError
    return value


def text(value: Any) -> str:
    """Return the text that a cursor holds."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError
    return value


def _after(names: Sequence[str], values: Sequence[Any]) -> Q:
    """Return the condition for rows behind these values: greater in the first column in which they differ."""
    condition = Q()
    for place, name in enumerate(names):
        column, comparison = name.lstrip("-"), "lt" if name.startswith("-") else "gt"
        equal = Q(**{names[before].lstrip("-"): values[before] for before in range(place)})
        condition |= equal & Q(**{f"{column}__{comparison}": values[place]})
    return condition


def _encoded(values: Sequence[Any]) -> str:
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def _decoded(cursor: str, keys: Sequence[Key]) -> list[Any]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(values, list):
            raise TypeError
        return [read(value) for (_, read), value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidInput("The cursor is not one that this list gave.") from None

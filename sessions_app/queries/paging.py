"""Keyset pagination: a cursor names the row next to a page, so new rows neither repeat nor hide others."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet

from mrpvm.errors import InvalidInput

Key = tuple[str, Callable[[Any], Any]]
"""A column of the order, with `-` first for descending, and the function that reads its value from a cursor."""


_BACK = "-"
"""The prefix of a cursor whose page comes before its row; other cursors do not begin with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page[Row: Model]:
    """Some rows of a list, and the cursors of the previous and next pages, None at an end."""

    rows: Sequence[Row]
    next_cursor: str | None
    previous_cursor: str | None


def page[Row: Model](rows: QuerySet[Row], keys: Sequence[Key], limit: int, cursor: str | None) -> Page[Row]:
    """Return at most `limit` rows next to the cursor, or the first ones without a cursor, in the order of `keys`.

    A page reached by a cursor has a cursor of the previous page, unless it was read backwards and nothing is left.

    Args:
        keys: the columns of the order; the last one must be unique.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    names = [name for name, _ in keys]
    is_back = bool(cursor) and str(cursor).startswith(_BACK)
    ordered = [_reversed(name) for name in names] if is_back else names
    rows = rows.order_by(*ordered)
    if cursor:
        rows = rows.filter(_after(ordered, _decoded(cursor.removeprefix(_BACK), keys)))
    fetched = list(rows[: limit + 1])
    goes_on = len(fetched) > limit
    shown = fetched[:limit][::-1] if is_back else fetched[:limit]
    has_next, has_previous = (True, goes_on) if is_back else (goes_on, bool(cursor))
    return Page(
        rows=shown,
        next_cursor=_encoded(shown[-1], names) if shown and has_next else None,
        previous_cursor=_BACK + _encoded(shown[0], names) if shown and has_previous else None,
    )


def _reversed(name: str) -> str:
    return name.removeprefix("-") if name.startswith("-") else f"-{name}"


def when(value: Any) -> datetime:
    """Return the time that a cursor holds."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None or not 1970 <= moment.year < 9999:
        raise ValueError
    return moment


def cursor_number(value: Any) -> int:
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


def _encoded(row: Model, names: Sequence[str]) -> str:
    """Return the cursor that names a row."""
    values = [getattr(row, name.lstrip("-")) for name in names]
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

"""A place in a text: the text around it, the place itself, and how much of the text is left out on both sides."""

import re
from dataclasses import dataclass

AROUND_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPlace:
    """A marked place; `before` and `after` are cut, and the counts say how many characters are missing there."""

    before: str
    marked: str
    after: str
    left_out_before: int
    left_out_after: int


def find_place(text: str, said: str, start: int | None = None, end: int | None = None) -> MarkedPlace:
    """Return where `said` is in the text, within `start` to `end` if those are known.

    The search ignores case and white space. If the words are not found, the known range is marked; without one, nothing
    is marked.
    """
    low, high = start or 0, len(text) if end is None else end
    pattern = r"\s+".join(re.escape(word) for word in said.rstrip(".").split())
    match = re.compile(pattern, re.IGNORECASE).search(text, low, high) if pattern else None
    if match is not None:
        first, last = match.span()
        last += text[last : last + 1] == "."
    elif start is not None and end is not None:
        first, last = start, end
    else:
        first = last = 0
    begin, finish = max(0, first - AROUND_CHARS), min(len(text), last + AROUND_CHARS)
    return MarkedPlace(
        before=text[begin:first],
        marked=text[first:last],
        after=text[last:finish],
        left_out_before=begin,
        left_out_after=len(text) - finish,
    )

"""Excerpts of texts around search hits, which are marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

AROUND_CHARS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptPart:
    """A stretch of text, a hit or not."""

    text: str
    is_hit: bool


def excerpt(text: str, words: Sequence[str], chars: int = 2 * AROUND_CHARS) -> list[ExcerptPart]:
    """Return about `chars` characters of the text in one line, from a little before the first hit on.

    An ellipsis marks text left out at either end. Adjacent hits are joined, because in scripts without spaces each
    character is a word.
    """
    line = " ".join(text.split())
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(f"(?:{either})+", re.IGNORECASE)
    first = pattern.search(line) if words else None
    start = max(0, first.start() - chars // 3) if first else 0
    shown = f"{'…' if start else ''}{line[start : start + chars]}{'…' if len(line) > start + chars else ''}"
    return _parts(shown, pattern) if words else [ExcerptPart(text=shown, is_hit=False)]


def _parts(shown: str, pattern: re.Pattern[str]) -> list[ExcerptPart]:
    parts: list[ExcerptPart] = []
    place = 0
    for hit in pattern.finditer(shown):
        parts += [ExcerptPart(text=shown[place : hit.start()], is_hit=False), ExcerptPart(text=hit[0], is_hit=True)]
        place = hit.end()
    return [part for part in (*parts, ExcerptPart(text=shown[place:], is_hit=False)) if part.text]


def holds(text: str, words: Sequence[str]) -> bool:
    """Return whether one of the words is in the text."""
    folded = text.casefold()
    return any(word.casefold() in folded for word in words)

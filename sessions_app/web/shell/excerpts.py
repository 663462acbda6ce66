"""Excerpts of texts around search hits, which are marked."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

AROUND_CHARS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptPart:
    """A stretch of text, a hit or not."""

    text: str
    is_hit: bool


def excerpt(text: str, words: Sequence[str], chars: int = 2 * AROUND_CHARS) -> list[ExcerptPart]:
    """Return about `chars` characters of the text in one line, from a little before the hits that lie closest on.

    An ellipsis marks text left out at either end. Adjacent hits are joined, because in scripts without spaces each
    character is a word.
    """
    line = " ".join(text.split())
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(f"(?:{either})+", re.IGNORECASE)
    start = max(0, _closest_hits(line, either, chars - chars // 3) - chars // 3) if words else 0
    shown = f"{'…' if start else ''}{line[start : start + chars]}{'…' if len(line) > start + chars else ''}"
    return _parts(shown, pattern) if words else [ExcerptPart(text=shown, is_hit=False)]


def _closest_hits(line: str, either: str, chars: int) -> int:
    """Return where the first stretch of so many characters begins that holds the most different words; 0 for none."""
    hits = [(hit.start(), hit[0].casefold()) for hit in re.finditer(either, line, re.IGNORECASE)]
    starts = [start for start, _ in hits]
    best, most = 0, 0
    for number, start in enumerate(starts):
        count = len({word for _, word in hits[number : bisect_left(starts, start + chars)]})
        if count > most:
            best, most = start, count
    return best


def _parts(shown: str, pattern: re.Pattern[str]) -> list[ExcerptPart]:
    parts: list[ExcerptPart] = []
    place = 0
    for hit in pattern.finditer(shown):
        parts += [ExcerptPart(text=shown[place : hit.start()], is_hit=False), ExcerptPart(text=hit[0], is_hit=True)]
        place = hit.end()
    return [part for part in (*parts, ExcerptPart(text=shown[place:], is_hit=False)) if part.text]


def held_count(text: str, words: Sequence[str]) -> int:
    """Return how many of the words are in the text."""
    folded = text.casefold()
    return sum(word.casefold() in folded for word in words)

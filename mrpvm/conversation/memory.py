"""Which remembered texts a turn is told [L-133]."""

from collections.abc import Sequence

RECALLED_COUNT = 8
RECALLED_CHARS = 900
"""How many remembered texts a model is told in one turn, and how many characters of them at most."""
_WORD_CHARS = 3


def recalled(newest_first: Sequence[str], message: str) -> tuple[str, ...]:
    """Give the texts that share most words with the message, then the newest; none is cut."""
    said = _words(message)
    ranked = sorted(newest_first, key=lambda text: -len(said & _words(text)))
    kept: list[str] = []
    for text in ranked[:RECALLED_COUNT]:
        if sum(map(len, kept)) + len(text) <= RECALLED_CHARS:
            kept.append(text)
    return tuple(kept)


def _words(text: str) -> frozenset[str]:
    words = ("".join(char if char.isalnum() else " " for char in text)).casefold().split()
    return frozenset(word for word in words if len(word) >= _WORD_CHARS and not word.isdigit())

"""Nouns for what a value measures and the adjectives that ask for it: "how heavy" asks for a weight."""

import re
from collections.abc import Mapping

from mrpvm.knowledge.lexicon import word_class
from mrpvm.knowledge.text import unique_terms

MEASURES: Mapping[str, tuple[str, ...]] = {
    "height": ("high", "tall"),
    "width": ("wide", "broad", "breadth"),
    "length": ("long",),
    "depth": ("deep",),
    "thickness": ("thick",),
    "weight": ("heavy", "weigh"),
    "age": ("old",),
    "distance": ("far", "distant", "away", "from", "off"),
    "size": ("large", "big"),
    "speed": ("fast",),
    "temperature": ("hot", "warm", "cold"),
}
"""The noun of each measure with its other words, first the one that "how" asks for it with."""
_NOUNS = word_class("breadth weigh") | MEASURES.keys()
_ADJECTIVES = frozenset[str]().union(*MEASURES.values()) - _NOUNS - word_class("away from off")
_ASKED = re.compile(
    rf"(?:\bhow |^(?=\w+ (?:away )?(?:is|are|was|were|does|do|did|can|may|must|should|will)\b))"
    rf"(?P<how>{'|'.join(sorted(_ADJECTIVES))})\b"
    rf"|\b(?P<noun>{'|'.join(sorted(_NOUNS))})\b",
    re.IGNORECASE,
)


def measure_terms(question: str) -> tuple[str, ...]:
    """Return the stemmed words by which what measures the same is found: "weight" for "how heavy", and the reverse.

    Args:
        question: without its "how", where that says no more than that it asks.
    """
    asked = {(match["how"] or match["noun"]).lower() for match in _ASKED.finditer(question)}
    found = [word for noun, words in MEASURES.items() if asked & {noun, *words} for word in (noun, *words)]
    return unique_terms(" ".join(found))

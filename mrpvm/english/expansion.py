"""Words by which a statement is found that says what is asked in other words: measures, spellings."""

import re
from collections.abc import Mapping

from mrpvm.english.lexicon import SPELLINGS, word_class
from mrpvm.english.text import stem, unique_terms, words

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
_MEASURE_ASKED = re.compile(
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
    asked = {(match["how"] or match["noun"]).lower() for match in _MEASURE_ASKED.finditer(question)}
    found = [word for noun, others in MEASURES.items() if asked & {noun, *others} for word in (noun, *others)]
    return unique_terms(" ".join(found))


_OTHER_SPELLING: Mapping[str, str] = {one: other for pair in SPELLINGS for one, other in (pair, pair[::-1])}


def spelling_terms(question: str) -> tuple[str, ...]:
    """Return the stems of the other spellings of a question's words."""
    return tuple(stem(_OTHER_SPELLING[word]) for word in words(question) if word in _OTHER_SPELLING)

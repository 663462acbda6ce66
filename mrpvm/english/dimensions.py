"""Which extent of a thing a measured value tells: its height, its length, how far away it is."""

import re

from mrpvm.english.expansion import MEASURES
from mrpvm.english.lexicon import word_class
from mrpvm.english.units import UNITS, unit_of

_DIMENSIONS = (
    *(frozenset((noun, *others)) for noun, others in MEASURES.items()),
    word_class("late early behind ahead apart advance"),
)
_STATED_ONLY = {
    "wide": word_class("wide width broad breadth across"),
    "deep": word_class("deep depth"),
    "thick": word_class("thick thickness"),
    "high": word_class("high height tall above altitude measure measures rises reaches"),
    "tall": word_class("high height tall above measure measures rises reaches"),
}
"""Measures that a bare length does not tell."""
MEASURED_BY = {noun: others[0] for noun, others in MEASURES.items()}
"""Nouns for what a value measures, and the word that "how" asks for it with."""


_ASKED = re.compile(
    rf"^what (?P<be>is|are|was|were) the (?P<noun>{'|'.join(MEASURED_BY)}) of (?P<thing>.+)$", re.IGNORECASE
)


def asked_with_how(text: str) -> str:
    """Return "what is the width of it" as "how wide is it", other questions as they are."""
    asked = _ASKED.match(" ".join(text.split()))
    return f"How {MEASURED_BY[asked['noun'].lower()]} {asked['be']} {asked['thing']}" if asked else text


def tells(measure: str, tokens: tuple[str, ...], start: int, unit: int) -> bool:
    """Return whether a value answers "how `measure`": neither said to measure something else, nor left open what.

    Args:
        tokens: the words of the statement in lower case.
        start: the place of the value's number.
        unit: the place of its unit, the same where both are one word.
    """
    said = _said_by(tokens, start, unit)
    if said:
        return measure in said
    if unit_of(tokens[unit]) not in UNITS["length"] or measure not in _STATED_ONLY:
        return True
    return bool(_STATED_ONLY[measure] & set(tokens))


def _said_by(tokens: tuple[str, ...], start: int, unit: int) -> frozenset[str]:
    """Return the words for the extent named beside a value: "4 metres high", "4 metres in height", "a height of 4"."""
    following = tokens[unit + 1 : unit + 3]
    if following[:1] == ("in",):
        following = following[1:]
    before = [token for token in tokens[max(start - 5, 0) : start] if token not in _ROUGHLY]
    named = before[-2:-1] if before[-1:] == ["of"] else []
    beside = [*following[:1], *named]
    return next((group for group in _DIMENSIONS if group.intersection(beside)), frozenset())


_ROUGHLY = word_class("about around nearly almost over under up to at least most more less than some roughly")

"""Words by which a statement is found that says what is asked in other words: measures, spellings."""

from collections.abc import Mapping

from mrpvm.english.lexicon import SPELLINGS, groups, pattern
from mrpvm.english.text import stem, unique_terms, words

MEASURES: Mapping[str, tuple[str, ...]] = {noun: tuple(others) for noun, *others in groups("measures")}
"""The noun of each measure with its other words, first the one that "how" asks for it with."""
_MEASURE_ASKED = pattern("expansion.measure_asked")


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

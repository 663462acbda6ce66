"""Words with two spellings: who writes "colour" finds "color"."""

from collections.abc import Mapping

from mrpvm.knowledge.lexicon import SPELLINGS
from mrpvm.knowledge.text import stem, words

_OTHER: Mapping[str, str] = {one: other for pair in SPELLINGS for one, other in (pair, pair[::-1])}


def spelling_terms(question: str) -> tuple[str, ...]:
    """Return the stems of the other spellings of a question's words."""
    return tuple(stem(_OTHER[word]) for word in words(question) if word in _OTHER)

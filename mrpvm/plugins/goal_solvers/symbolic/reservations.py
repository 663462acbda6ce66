"""Words with which a statement says less than it seems to: hearsay, guesses, and least and most."""

import re

from mrpvm.knowledge.lexicon import NUMBER_WORDS, TOTAL, word_class
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading

_HEARSAY = re.compile(
    r"^(?:they|people|some|many|everybody|everyone) (?:say|says|claim|claims|think|thinks|believe|believes)\b"
    r"|\baccording to (?:an? |the )?(?:old )?(?:legends?|rumou?rs?|myths?|tradition|hearsay|gossip)\b"
    r"|\b(?:it is|it's) (?:said|rumou?red|believed|thought)\b",
    re.IGNORECASE,
)
_GUESSING = word_class(
    "maybe perhaps possibly probably presumably allegedly supposedly reportedly apparently seemingly"
)
_NOT_ALL = re.compile(r"\bnot (?:all|every|everybody|everyone|always|each)\b", re.IGNORECASE)
_BOUNDS = frozenset(("than", "least", "most"))


def is_reserved(question: Reading, said: Reading) -> bool:
    """Tell whether a statement leaves open what a question asks whether: "maybe we will go", "at least 50 euros"."""
    if _HEARSAY.search(said.text) and not _HEARSAY.search(question.text):
        return True
    if _NOT_ALL.search(said.text) and not TOTAL & set(question.tokens):
        return True  # that not all came does not say that none did
    if "except" in said.tokens and TOTAL & set(question.tokens) and "except" not in question.tokens:
        return True
    if _GUESSING & set(said.tokens) - set(question.tokens):
        return True
    asked = set(question.tokens)
    return any(
        (token.isdigit() or token in NUMBER_WORDS) and token in asked and _BOUNDS & set(_before(said, place)) - asked
        for place, token in enumerate(said.tokens)
    )


def _before(reading: Reading, place: int) -> tuple[str, ...]:
    return reading.tokens[max(place - 2, 0) : place]

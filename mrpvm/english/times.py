"""Whether words name a time."""

import re
from collections.abc import Sequence

from mrpvm.english.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    NUMBER_WORDS,
    PREPOSITIONS,
    TIME_WORDS,
    word_class,
)

YEAR = re.compile(r"1\d{3}|20\d{2}")
CLOCK = re.compile(r"\d{1,2}[:.]\d{2}|\d{1,2}(?:am|pm)")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_EDGES = word_class("end beginning start middle close latest")
_DATING = word_class("first last next following previous same early late working business calendar noon")
_AHEAD = re.compile(
    r"\bwill\b.*\b(?:from|next|starting|as of|after|in (?:19|20)\d\d|tomorrow|soon|later)\b"
    r"|\b(?:from|next|starting|as of|after|in (?:19|20)\d\d|tomorrow|soon|later)\b.*\bwill\b",
    re.IGNORECASE,
)
_LIMITS = {
    "by": word_class("by before within"),
    "until": word_class("until till to"),
    "till": word_class("until till to"),
    "from": word_class("from since after"),
    "since": word_class("since from"),
}


def names_time(head: str) -> bool:
    """Return whether the head of a phrase makes it a time: "Friday", "9:00", "the end"."""
    return head in TIME_WORDS or head in _EDGES or bool(
        YEAR.fullmatch(head) or CLOCK.fullmatch(head) or _DAY.fullmatch(head)
    )  # fmt: skip


def opens_time(tokens: Sequence[str], place: int) -> bool:
    """Return whether the phrase behind a preposition is a time: "by 9:00", "by the end of May", not "by day nurses"."""
    phrase: list[str] = []
    for token in tokens[place + 1 : place + 6]:
        if token in DETERMINERS and not phrase:
            continue
        if not token[0].isalnum() or token in _CLOSING:
            break
        phrase.append(token)
    return bool(phrase) and all(names_time(token) or token in _DATING or token in NUMBER_WORDS for token in phrase)


_CLOSING = (PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | DETERMINERS) - {"may"}


def is_ahead(tokens: Sequence[str], place: int) -> bool:
    """Return whether "in advance", "ahead" or "beforehand" stands at a place."""
    following = tuple(tokens[place : place + 2])
    return following[:1] in (("ahead",), ("beforehand",)) or following == ("in", "advance")


def limits(asked: str) -> frozenset[str]:
    """Return the prepositions of the times that answer who asks "by when", "until when", "from when"."""
    return _LIMITS.get(asked, frozenset((asked,)))


def starts_later(text: str) -> bool:
    """Return whether a statement says what will be so from some time on: "will cost 15 euros from next year"."""
    return _AHEAD.search(text) is not None

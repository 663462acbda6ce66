"""Whether words name a time."""

import re

from mrpvm.english.lexicon import TIME_WORDS, classes, pattern, word_class

YEAR = re.compile(r"1\d{3}|20\d{2}")
CLOCK = re.compile(r"\d{1,2}[:.]\d{2}|\d{1,2}(?:am|pm)")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_EDGES = word_class("end beginning start middle close latest")
_AHEAD = pattern("times.ahead")
_LIMITS = classes("time_limits")


def names_time(head: str) -> bool:
    """Return whether the head of a phrase makes it a time: "Friday", "9:00", "the end"."""
    return head in TIME_WORDS or head in _EDGES or bool(
        YEAR.fullmatch(head) or CLOCK.fullmatch(head) or _DAY.fullmatch(head)
    )  # fmt: skip


def limits(asked: str) -> frozenset[str]:
    """Return the prepositions of the times that answer who asks "by when", "until when", "from when"."""
    return _LIMITS.get(asked, frozenset((asked,)))


def starts_later(text: str) -> bool:
    """Return whether a statement says what will be so from some time on: "will cost 15 euros from next year"."""
    return _AHEAD.search(text) is not None

"""Opening hours: the words by which they are found, whichever of them a question and a page use."""

import re

from mrpvm.knowledge.lexicon import WEEKDAYS
from mrpvm.knowledge.text import unique_terms

_ASKED = re.compile(
    r"^(?:(?:at )?what time|when|until when|from when|how long|are|is)\b.{0,60}"
    r"\b(?:open|opens|close|closes|closed|shut)\b",
    re.IGNORECASE,
)
_DAY = re.compile(rf"\b(?:{'|'.join(sorted(WEEKDAYS))}|weekend|weekday)s?\b", re.IGNORECASE)
_WORDS = "open closed close hours"
_SPANS = "weekdays weekends daily"


def hours_terms(question: str) -> tuple[str, ...]:
    """Return the stemmed words by which opening hours are found for who asks when a house is open; else none.

    Who names a day may find it within a span that names others: Wednesday in "Monday to Friday".
    """
    if not _ASKED.search(question):
        return ()
    days = f"{' '.join(sorted(WEEKDAYS))} {_SPANS}" if _DAY.search(question) else ""
    return unique_terms(f"{_WORDS} {days}")

"""What a shortened text must keep: amounts, dates, numbers and names, exactly as they were said."""

import re

from mrpvm.english.words.lexicon import MONTHS, STOP_WORDS, listed

_MONTH = "|".join(sorted(month.capitalize() for month in MONTHS))
_PARTICLE = "|".join(sorted(listed("name_particles")))
_FACT = re.compile(
    rf"""
      (?:\d{{1,2}}\s+(?:{_MONTH})|(?:{_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?)(?:,?\s+\d{{4}})?   # a date in words
    | [$€£¥]\s?\d[\d,.]*\d?(?:\s?(?:million|billion|thousand|k|m|bn))?                          # an amount
    | \d[\d,.:/-]*\d\s?%?|\d\s?%?                                                              # a number
    | \b[A-Z][\w'’-]*(?:[ ](?:{_PARTICLE})[ ](?=[A-Z])|[ ](?=[A-Z])|[A-Z\w'’&-])*              # a name
    """,
    re.VERBOSE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s{0,2}|^[\"'(]\s{0,2})$")
_NO_NAME = frozenset(word.capitalize() for word in STOP_WORDS | listed("opening_words"))


def details_in(text: str) -> list[str]:
    """Return the facts in the order in which they come, each once.

    A capital letter at the beginning of a sentence makes a name only where more than one word has one, or where it is
    written so elsewhere in the text too.
    """
    facts: dict[str, None] = {}
    for match in _FACT.finditer(text):
        fact = _without_opening(match[0].rstrip(" .,:;-/'’"))
        if not fact or (fact[0].isalpha() and not _is_name(fact, text, match.start())):
            continue
        facts.setdefault(fact)
    return list(facts)


def _without_opening(fact: str) -> str:
    """Return a name without the words that only begin its sentence; a date keeps its month."""
    if any(char.isdigit() for char in fact):
        return fact
    words = fact.split()
    while words and words[0] in _NO_NAME:
        words.pop(0)
    return " ".join(words)


def _is_name(fact: str, text: str, start: int) -> bool:
    if " " in fact or any(char.isdigit() or char.isupper() for char in fact[1:]):
        return True
    begins = _SENTENCE_START.search(text[max(0, start - 3) : start]) is not None
    return not begins or re.search(rf"[a-z,] {re.escape(fact)}\b", text) is not None

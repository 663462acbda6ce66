"""What a shortened text must keep: amounts, dates, numbers and names, exactly as they were said."""

import re

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_FACT = re.compile(
    rf"""
      (?:\d{{1,2}}\s+(?:{_MONTH})|(?:{_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?)(?:,?\s+\d{{4}})?   # a date in words
    | [$€£¥]\s?\d[\d,.]*\d?(?:\s?(?:million|billion|thousand|k|m|bn))?                          # an amount
    | \d[\d,.:/-]*\d\s?%?|\d\s?%?                                                              # a number
    | \b[A-Z][\w'’-]*(?:[ ](?:of|the|de|van|von|and)[ ](?=[A-Z])|[ ](?=[A-Z])|[A-Z\w'’&-])*    # a name
    """,
    re.VERBOSE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s{0,2}|^[\"'(]\s{0,2})$")
_NO_NAME = frozenset(
    """I I'm I'll I've I'd You He She It We They The A An This That These Those My Your His Her Its Our Their What
    Who Whom Whose Which When Where Why How Is Are Was Were Do Does Did Can Could Will Would Should May Might Must
    Has Have Had And But Or So If Then Because Also Yes No Not Please Thank Thanks Hello Hi Noted In On At For
    From To Of With As By There Here Tell Explain Describe Define Let Good Well Ok Okay Sure""".split()  # noqa: SIM905  easier to read
)


def facts_in(text: str) -> list[str]:
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

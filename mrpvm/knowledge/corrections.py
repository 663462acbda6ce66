"""How people mark that a sentence sets right or changes what was said before."""

import re
from dataclasses import dataclass

_MARKED = re.compile(
    r"^(?:[^:]{0,60}\bcorrect(?:s|ed|ion)\b[^:]{0,40}:|correction\b[,:.]?"
    r"|(?:no|sorry|oh|wait|oops)(?:[,\s]+(?:wait|sorry|no|that(?:'s| is) wrong))*(?:[,.:]|(?=\s\d))"
    r"|(?:no|oh|sorry)\s(?:wait|sorry)[,.]?|that(?:'s| is| was) (?:wrong|not right|a mistake)[,.:]"
    r"|(?:(?:but|and|no|sorry|oh)[,\s]+)?(?:actually|in fact|i was wrong)[,:]"
    r"|(?:(?:but|no|sorry|oh)[,\s]+)?(?:actually|in fact)(?=\s(?:my|our|the|his|her|its|their|it|he|she|they|i|we)\b)"
    r"|(?:(?:but|no|sorry|oh)[,\s]+)?i (?:mean|meant)(?: to say)?\b[,:]?"
    r"|change of plans?[,.:]|scratch that[,:.])"
    r"\s+(?P<said>\S.*)$",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(r"^not (?P<denied>[^,.]{1,40}), (?:but )?(?P<said>[^,.]{1,40})[.!]?$", re.IGNORECASE)

_CHANGING = re.compile(
    r"\b(?:now|nowadays|currently|no longer|any ?more|instead|moved|relocated|postponed|rescheduled|changed|cancelled"
    r"|canceled|brought forward|pushed back|put off)\b|^since \w+,? ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Correction:
    """What a sentence says that sets another right, and what it takes back by name."""

    said: str
    denied: str = ""


def correction_in(text: str) -> Correction | None:
    """Return what a sentence says that calls itself a correction, without the words that do so; None for others."""
    if found := _MARKED.match(text):
        return correction_in(found["said"]) or Correction(found["said"])
    if found := _NOT_BUT.match(text):
        return Correction(found["said"], found["denied"])
    return None


def tells_change(text: str) -> bool:
    """Return whether a sentence sets something right, or says that something is otherwise than before."""
    return correction_in(text) is not None or _CHANGING.search(text) is not None

"""What a message may not ask for, and what a model's answer may not say.

A message is refused before anything reads it, an answer before anybody does.
"""

import re
from collections.abc import Sequence

type _Rules = Sequence[tuple[re.Pattern[str], str]]


def _rule(pattern: str, reason: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern, re.IGNORECASE), reason


_MESSAGES: _Rules = (
    _rule(r"\bignore\b[^.!?\n]{0,80}\binstructions?\b", "asks to ignore instructions"),
    _rule(r"\bbypass\b[^.!?\n]{0,80}\b(?:safety|policy|guardrails?)\b", "asks to bypass safety or policy"),
)
_ANSWERS: _Rules = tuple(
    _rule(pattern, "makes the user depend on it alone")
    for pattern in (
        r"\byou\s+only\s+need\s+me\b",
        r"\b(?:don['\u2019]?t|do\s+not)\s+talk\s+to\s+(?:anyone|anybody|others)\b",
        r"\bI\s+should\s+replace\s+your\s+(?:friends?|family)\b",
    )
)


def denial(message: str) -> str | None:
    """Return why a message is refused, None for one that is not."""
    return _reason(_MESSAGES, message)


def denial_of_answer(text: str) -> str | None:
    """Return why an answer, or as much as there is of it, is denied, None for one that is not."""
    return _reason(_ANSWERS, text)


def _reason(rules: _Rules, text: str) -> str | None:
    return next((reason for pattern, reason in rules if pattern.search(text)), None)

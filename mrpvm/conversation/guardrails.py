"""What a message may not ask for, refused before anything reads it [L-117]."""

import re

_DENIED = (
    (re.compile(r"\bignore\b[^.!?\n]{0,80}\binstructions?\b", re.IGNORECASE), "asks to ignore instructions"),
    (
        re.compile(r"\bbypass\b[^.!?\n]{0,80}\b(?:safety|policy|guardrails?)\b", re.IGNORECASE),
        "asks to bypass safety or policy",
    ),
)


def denial(message: str) -> str | None:
    """Give why a message is refused, None for one that is not."""
    return next((reason for pattern, reason in _DENIED if pattern.search(message)), None)

"""What a message may not ask for, and what a model's answer may not say.

A message is refused before anything reads it, an answer before anybody does.
"""

from mrpvm.english.words.lexicon import patterns

_MESSAGES, _ANSWERS = patterns("guardrails.messages"), patterns("guardrails.answers")
"""Why a text is refused, each reason with its pattern."""


def denial(message: str) -> str | None:
    """Return why a message is refused, None for one that is not."""
    return next((reason for reason, pattern in _MESSAGES if pattern.search(message)), None)


def denial_of_answer(text: str) -> str | None:
    """Return why an answer, or as much as there is of it, is denied, None for one that is not."""
    return next((reason for reason, pattern in _ANSWERS if pattern.search(text)), None)

"""Questions about a loaded document, answered without a model."""

import re

from bench.evaluation.session import EvaluatedSession


def answer(document: str, question: str, name: str = "document.txt") -> str | None:
    """Return the answer without its citations, or None if there is none."""
    with EvaluatedSession() as session:
        session.load(document, name)
        outcome = session.say(question)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    return re.sub(r" \[\d\]", "", group.answer_markdown) if group.status == "answered" else None

"""The page of a first visit: three steps, and turns that are worth opening."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from sessions_app.models import ExplainabilityTurn, Project
from sessions_app.queries.sessions.demo import (
    FERRY_ANSWERED,
    FERRY_FAILED,
    FERRY_FIRST,
    FERRY_WRONG,
    demo_turns,
)
from sessions_app.queries.turns.lists import newest_by_outcome
from sessions_app.web.sessions.conversation import turn_tone
from sessions_app.web.shell.words import outcome_words
from sessions_app.web.turns.graph.status import Tone

_WORTH_OPENING: Mapping[str, str] = {
    "answered": "what it rests on",
    "quoted": "no sentence states it: the closest passage",
    "no-answer": "what was searched for, and what was near",
    "failed": "which plugin refused, and why",
}

_IN_DEMO: Mapping[str, str] = {
    FERRY_FIRST: "the first turn: an answer, and the sentence it rests on",
    FERRY_ANSWERED: "another, from the same handbook",
    FERRY_WRONG: "answered wrongly: what the conversation told goes against the handbook",
    FERRY_FAILED: "no answer: which plugin refused, and why",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A turn worth opening, and what it shows."""

    url: str
    question: str
    outcome: str
    tone: Tone
    words: str


def start_context(project: Project) -> dict[str, Any]:
    """Return the turns of the demo that show something, or without it the newest turn of each outcome."""
    turns_by_message = {turn.user_message: turn for turn in reversed(demo_turns(project))}
    examples = [
        _example(turns_by_message[message], words) for message, words in _IN_DEMO.items() if message in turns_by_message
    ]
    if examples:
        return {"examples": examples, "is_demo": True}
    turns_by_outcome = newest_by_outcome(project, _WORTH_OPENING)
    return {"examples": [_example(turn, _WORTH_OPENING[outcome]) for outcome, turn in turns_by_outcome.items()]}


def _example(turn: ExplainabilityTurn, words: str) -> Example:
    return Example(
        url=reverse("turn", args=[turn.session.session_id, turn.request_id]),
        question=turn.user_message[:160],
        outcome=outcome_words(turn.outcome, turn.status),
        tone=turn_tone(turn),
        words=words,
    )

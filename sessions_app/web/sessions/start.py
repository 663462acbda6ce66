"""The page for whoever is here for the first time: three steps, and turns that are worth opening."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from sessions_app.queries.turns.lists import newest_by_outcome
from sessions_app.web.sessions.conversation import turn_tone
from sessions_app.web.shell.words import OUTCOMES
from sessions_app.web.turns.graph.status import Tone

if TYPE_CHECKING:
    from sessions_app.models import Project

_WORTH_OPENING: Mapping[str, str] = {
    "answered": "what it rests on",
    "quoted": "no sentence states it: the closest passage",
    "no-answer": "what was searched for, and what was near",
    "failed": "which plugin refused, and why",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A turn that shows something, and what that is."""

    url: str
    question: str
    outcome: str
    tone: Tone
    words: str


def start_context(project: "Project") -> dict[str, Any]:
    """Return the newest turn of each outcome that there is."""
    found = newest_by_outcome(project, _WORTH_OPENING)
    return {
        "examples": [
            Example(
                url=reverse("turn", args=[turn.session.session_id, turn.request_id]),
                question=turn.user_message[:160],
                outcome=OUTCOMES[outcome],
                tone=turn_tone(turn),
                words=_WORTH_OPENING[outcome],
            )
            for outcome, turn in found.items()
        ]
    }

"""The conversation as the session page shows it: exchanges, each with its turn, failed ones among them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.safestring import SafeString

from sessions_app.queries.sessions.pages import conversation
from sessions_app.queries.turns.outcomes import NOTHING_ASKED, outcome
from sessions_app.web.sessions.closest import Statement, closest
from sessions_app.web.shell.prose import prose
from sessions_app.web.shell.words import BASIS_WORDS, ending, why
from sessions_app.web.turns.graph.status import Tone, tone_of

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn, Message, Session, TurnRating
    from sessions_app.queries.sessions.pages import Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One message that is not the user's; `html` is filled for the assistant's prose."""

    message: "Message"
    html: SafeString | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was asked in a turn and what came of it."""

    turn: "ExplainabilityTurn"
    answers: tuple[Answer, ...]
    ending: str
    tone: Tone
    reason: str
    rating: "TurnRating | None"
    closest: tuple[Statement, ...]
    asked_model: bool
    basis: tuple[str, str] | None


def exchanges_context(session: "Session", before: int | None, count: int | None = None) -> dict[str, Any]:
    """Return a window of the conversation and the address of what came before it.

    Args:
        count: how many rows the reader has on the page already.
    """
    window = conversation(session, before, count)
    return {
        "session": session,
        "entries": list(_entries(session, window)),
        "imported_left_out": window.imported_left_out,
        "older_before": window.older_before,
        "is_window_moved": before is not None,
    }


def _entries(session: "Session", window: "Conversation") -> Iterator[Answer | Exchange]:
    for messages, turn in window.entries:
        yield from (_answer(message, "") for message in messages)
        if turn is not None:
            yield _exchange(session, turn, window.unanswered.get(turn.pk))


def turn_tone(turn: "ExplainabilityTurn") -> Tone:
    """Return the colour of a turn's end; an answer that found nothing is weak, a refused command an error."""
    if turn.kind == "command":
        return tone_of("succeeded" if (turn.command_result or {}).get("status") == "ok" else "failed")
    found = outcome(turn)
    if found == NOTHING_ASKED:
        return Tone.IDLE
    return tone_of("no-context" if found in ("no-context", "quoted") else turn.status)


def rating_of(turn: "ExplainabilityTurn") -> "TurnRating | None":
    """Return what was thought of the turn's answer."""
    return getattr(turn, "rating", None)


def _exchange(session: "Session", turn: "ExplainabilityTurn", unanswered: dict[str, Any] | None) -> Exchange:
    sources_url = reverse("turn", args=[session.session_id, turn.request_id]) + "/sources/"
    error = turn.error or {}
    return Exchange(
        turn=turn,
        answers=tuple(_answer(message, sources_url) for message in turn.messages.all() if message.role != "user"),
        ending=ending(turn.status, outcome(turn), turn.kind),
        tone=turn_tone(turn),
        reason=why(str(error.get("code", ""))),
        rating=rating_of(turn),
        closest=tuple(closest(session.session_id, unanswered)),
        asked_model=_asked_model(turn),
        basis=BASIS_WORDS.get(turn.answer_basis) if turn.answer_basis in ("stated", "composed") else None,
    )


def _asked_model(turn: "ExplainabilityTurn") -> bool:
    """Return whether something was sent to a model: by a plugin, or before, to prepare what the turn gets to see."""
    report = turn.context_report or {}
    return bool(report.get("modelCalls") or report.get("requests"))


def _answer(message: "Message", sources_url: str) -> Answer:
    html = prose(message.content, sources_url) if message.role == "assistant" else None
    return Answer(message=message, html=html)

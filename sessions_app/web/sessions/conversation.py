"""The conversation as the session page shows it: exchanges, each with its turn, failed ones among them."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from mrpvm.trace.response import ResponseDocument
from sessions_app.models import ExplainabilityTurn, KBMount, Message, Session, TurnRating
from sessions_app.queries.sessions.pages import Conversation, conversation, newest_mounts
from sessions_app.queries.turns.outcomes import NOTED, NOTHING_ASKED, outcome
from sessions_app.turns.live_draft import Draft, draft_of
from sessions_app.web.sessions.closest import ClosestStatement, closest
from sessions_app.web.shell.prose import prose
from sessions_app.web.shell.words import BASIS_WORDS, ending, why
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.turns.opinions import Opinions, opinions


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """One message that is not the user's; `html` is filled for the assistant's prose."""

    message: Message
    html: SafeString | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationLink:
    """What an answer cites, by the turn or the source that it is from."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExchange:
    """A turn's message and its outcome."""

    turn: ExplainabilityTurn
    answers: tuple[ShownAnswer, ...]
    ending: str
    tone: Tone
    reason: str
    opinions: Opinions
    closest: tuple[ClosestStatement, ...]
    asked_model: bool
    basis: tuple[str, str] | None
    url: str
    duration: str
    chips: tuple[CitationLink, ...]
    prefers: str
    draft: Draft | None

    @property
    def is_stopped(self) -> bool:
        """Return whether the turn was stopped by a user, which is no error."""
        return self.turn.status == "cancelled"

    @property
    def rate_url(self) -> str:
        """Return the address that takes a verdict on the answer."""
        return f"{self.url}/rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divider:
    """A change of the mounted base between two turns."""

    mount: KBMount


def exchanges_context(
    session: Session,
    person: str,
    before: int | None,
    count: int | None = None,
    mounted: Sequence[KBMount] | None = None,
) -> dict[str, Any]:
    """Return a window of the conversation and the address of what came before it.

    Args:
        person: the name of who reads it.
        count: how many rows the reader has on the page already.
        mounted: the session's newest mounts, newest first, where they are known already.
    """
    window = conversation(session, before, count)
    # A part that is not the newest has no dividers.
    changes = [] if before is not None else _changes(mounted or newest_mounts(session), window.since)
    return {
        "session": session,
        "entries": list(_with_dividers(_entries(session, person, window), changes)),
        "imported_left_out": window.imported_left_out,
        "older_before": window.older_before,
        "is_window_moved": before is not None,
        "forget_url": reverse("forget", query={"kind": "message", "session_id": session.session_id}),
    }


def _entries(session: Session, person: str, window: Conversation) -> Iterator[ShownAnswer | ShownExchange]:
    turns = [turn for _, turn in window.entries if turn is not None]
    turn_names = {f"session::{turn.request_id}": f"turn {turn.turn_index}" for turn in turns}
    preferring = _preferring(session, turns)
    for messages, turn in window.entries:
        yield from (_answer(message, "") for message in messages)
        if turn is not None:
            turn_opinions = opinions(turn.scores.all(), rating_of(turn), person)
            yield _exchange(
                session, turn, turn_opinions, window.unanswered.get(turn.pk), turn_names, preferring.get(turn.pk, "")
            )


def _preferring(session: Session, turns: Sequence[ExplainabilityTurn]) -> Mapping[int, str]:
    """Return the session's preferred solver, by the key of the turn since which it has answered."""
    preferred = session.preferred_goal_solver_plugin or ""
    answered = [turn for turn in turns if turn.status == "succeeded" and turn.goal_solver_plugin]
    for before, turn in reversed(list(pairwise(answered))):
        if turn.goal_solver_plugin != preferred:
            break
        if before.goal_solver_plugin != preferred:
            return {turn.pk: preferred}
    return {}


def _changes(mounted: Sequence[KBMount], since: datetime | None) -> list[KBMount]:
    """Return the mounts of the window without the one that the session began with, oldest first."""
    return [
        mount
        for mount in reversed(mounted)
        if mount.reason not in ("session-create", "session-fork") and (since is None or mount.mounted_at > since)
    ]


def _with_dividers(
    entries: Iterable[ShownAnswer | ShownExchange], mounts: Sequence[KBMount]
) -> Iterator[ShownAnswer | ShownExchange | Divider]:
    """Return the entries with each mount before the first turn that ran over it."""
    waiting = deque(mounts)
    for entry in entries:
        if isinstance(entry, ShownExchange):
            while waiting and waiting[0].mounted_at <= entry.turn.created_at:
                yield Divider(mount=waiting.popleft())
        yield entry
    yield from (Divider(mount=mount) for mount in waiting)


def turn_tone(turn: ExplainabilityTurn) -> Tone:
    """Return the colour of a turn's end; an answer that found nothing is weak, a refused command an error."""
    if turn.kind == "command":
        return tone_of("succeeded" if (turn.command_result or {}).get("status") == "ok" else "failed")
    ending = outcome(turn)
    if ending in (NOTED, NOTHING_ASKED):
        return Tone.IDLE
    return tone_of("no-context" if ending in ("no-context", "quoted") else turn.status)


def rating_of(turn: ExplainabilityTurn) -> TurnRating | None:
    """Return what was thought of the turn's answer."""
    return getattr(turn, "rating", None)


def _exchange(
    session: Session,
    turn: ExplainabilityTurn,
    turn_opinions: Opinions,
    unanswered: ResponseDocument | None,
    turn_names: Mapping[str, str],
    prefers: str,
) -> ShownExchange:
    url = reverse("turn", args=[session.session_id, turn.request_id])
    sources_url = f"{url}/sources/"
    error = turn.error or {}
    return ShownExchange(
        turn=turn,
        answers=tuple(_answer(message, sources_url) for message in turn.messages.all() if message.role != "user"),
        ending=ending(turn.status, outcome(turn), turn.kind),
        tone=turn_tone(turn),
        reason=why(str(error.get("code", ""))),
        opinions=turn_opinions,
        closest=tuple(closest(session.session_id, unanswered)),
        asked_model=_asked_model(turn),
        basis=BASIS_WORDS.get(turn.answer_basis) if turn.answer_basis in ("stated", "composed") else None,
        url=url,
        duration=duration_badge(turn.duration_ms),
        prefers=prefers,
        draft=draft_of(turn),
        chips=tuple(_chips(turn, sources_url, turn_names)),
    )


def _chips(turn: ExplainabilityTurn, sources_url: str, turn_names: Mapping[str, str]) -> Iterator[CitationLink]:
    """Return the turns and sources that the answer cites, each once, in the order of its marks.

    Args:
        turn_names: how the turns of the window are called, by the chunks of what they stated.
    """
    names = dict[str, int]()
    for number, source in enumerate(turn.cited_sources, start=1):
        usual = "an earlier turn" if source.startswith("session::") else source
        names.setdefault(turn_names.get(source, usual), number)
    return (CitationLink(name=name, url=f"{sources_url}{number}") for name, number in names.items())


def _asked_model(turn: ExplainabilityTurn) -> bool:
    """Return whether a model was called, by a plugin or to prepare the turn's context."""
    report = turn.context_report or {}
    return bool(report.get("modelCalls") or report.get("requests"))


def _answer(message: Message, sources_url: str) -> ShownAnswer:
    html = prose(message.content, sources_url) if message.role == "assistant" else None
    return ShownAnswer(message=message, html=html)

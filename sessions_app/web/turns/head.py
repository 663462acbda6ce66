"""The head of the turn page: question, answer, verdict in one line, and what the turn ran with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from mrpvm.preview import counted
from mrpvm.text_cache import TextCache
from mrpvm.trace.events import Event, PluginFinished, said
from mrpvm.trace.verdict import (
    MountedBase,
    Verdict,
    VerdictInput,
    VerdictReason,
    omitted_messages,
    pins_of,
    preferences_of,
    readings,
    verdict_of,
)
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.sessions.pages import Neighbours, neighbours
from sessions_app.queries.turns.registry import answer_of, discarded_texts, events, turn_by_key
from sessions_app.queries.turns.verdicts import mounted_bases, recorded
from sessions_app.turns.live_draft import draft_of
from sessions_app.web.sessions.closest import closest
from sessions_app.web.sessions.conversation import turn_tone
from sessions_app.web.shell.prose import prose
from sessions_app.web.turns.drawing import turn_addresses
from sessions_app.web.turns.graph.status import duration_badge

DISCARDED_SHOWN = 5
REPLAYED_UNASKED_MS = 2_000
"""Turns up to this duration are replayed for their head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFact:
    """One fact about how the turn ran; `query` is the query string of the page's part that shows more."""

    text: str
    title: str
    query: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedClause:
    """A reason for the verdict, and the address of its basis; empty if it has none."""

    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnHead:
    """The summary of a turn at the top of its page."""

    verdict: Verdict
    chips: tuple[TurnFact, ...]
    answer: SafeString | str
    neighbours: Neighbours


def head_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return what is shown above the graph; the parts from the record of an ended turn are cached."""
    shown = _head(turn) if turn.is_running else _ended_head(*turn.record_key, turn.session.event_sequence)
    discarded = discarded_texts(turn) if turn.error else []
    is_open = shown.verdict.kind in ("no-context", "quoted")
    addresses = turn_addresses(turn)
    return {
        "turn": turn,
        "session": turn.session,
        **addresses,
        "tone": turn_tone(turn),
        "verdict": shown.verdict,
        "clauses": [_linked(turn, clause) for clause in shown.verdict.clauses],
        "chips": shown.chips,
        "is_replayed": _is_replayed(turn),
        "draft": draft_of(turn),
        "seeks_base": is_open and not turn.is_trial,
        "duration": duration_badge(turn.duration_ms),
        "answer": shown.answer,
        "closest": closest(turn.session.session_id, turn.response_document) if is_open else (),
        "neighbours": shown.neighbours,
        "discarded": discarded[:DISCARDED_SHOWN],
        "discarded_left_out": max(0, len(discarded) - DISCARDED_SHOWN),
    }


def _is_replayed(turn: ExplainabilityTurn) -> bool:
    is_replayable = not turn.is_running and not turn.is_trial and turn.kind != ExplainabilityTurn.Kind.IMPORTED
    return is_replayable and (turn.duration_ms or 0) <= REPLAYED_UNASKED_MS


@TextCache
def _ended_head(turn_pk: int, *version: object) -> TurnHead:
    # The session's `event_sequence` is part of it: an event, such as a forgotten text, may change these parts.
    return _head(turn_by_key(turn_pk))


def _head(turn: ExplainabilityTurn) -> TurnHead:
    turn_events, base = events(turn), mounted_bases([turn])[turn.pk]
    record = recorded(turn, turn_events, base)
    answer = answer_of(turn)
    return TurnHead(
        verdict=verdict_of(record),
        chips=tuple(_chips(turn, record)),
        answer=prose(answer, f"{turn_addresses(turn)['turn_url']}/sources/") if answer else "",
        neighbours=neighbours(turn),
    )


def _linked(turn: ExplainabilityTurn, clause: VerdictReason) -> LinkedClause:
    if clause.unit_id:
        unit_url = reverse("unit", args=[turn.session.session_id])
        return LinkedClause(text=clause.text, url=f"{unit_url}?{urlencode({'id': clause.unit_id})}")
    if clause.execution_id:
        return LinkedClause(text=clause.text, url="?" + urlencode({"sel": clause.execution_id}))
    tab = "context" if clause.aspect == "base" else clause.aspect
    return LinkedClause(text=clause.text, url=f"?tab={tab}" if tab else "")


def _chips(turn: ExplainabilityTurn, record: VerdictInput) -> Iterator[TurnFact]:
    if record.base is not None:
        yield _base_chip(record.base)
    pins, preferences = pins_of(record.events), preferences_of(record.events)
    solver = turn.goal_solver_plugin or pins.get("solver")
    if solver:
        chosen = (
            "pinned" if solver == pins.get("solver") else "preferred" if solver == preferences.get("solver") else ""
        )
        title = {
            "pinned": "Goal solver, pinned by the request",
            "preferred": "Goal solver, a preference of the session",
        }
        settings_url = f"{reverse('session', args=[turn.session.session_id])}?panel=settings"
        yield TurnFact(
            text=f"{solver} {chosen}".rstrip(),
            title=title.get(chosen, "Goal solver"),
            url=settings_url if chosen == "preferred" else "",  # where a preference is cleared
            query="tab=choice",
        )
    if turn.model:
        yield TurnFact(text=turn.model, title="Model", query="tab=context")
    yield from _model_chips(record.events)
    if turn.deliberation_level:
        yield TurnFact(text=f"level {turn.deliberation_level}", title="Deliberation level", query="tab=choice")
    if readings(record.report, turn.user_message):
        yield TurnFact(text="rewritten", title="The message was read as something else", query="tab=context")
    omitted = omitted_messages(record.report)
    if omitted:
        yield TurnFact(text=f"{omitted} left out", title="Messages that the window left out", query="tab=context")
    if turn.asked_by and '"' not in turn.asked_by:
        url = f"{reverse('turns')}?{urlencode({'q': f'by:"{turn.asked_by}"'})}"
        yield TurnFact(text=f"asked by {turn.asked_by}", title="The user or API key that asked", url=url)


def _base_chip(base: MountedBase) -> TurnFact:
    empty = "" if base.unit_count else " (empty)"
    return TurnFact(
        text=f"{base.name}@{base.revision}{empty}",
        title="Mounted base and its revision",
        url=reverse("knowledge-base", args=[base.kb_id]),
    )


def _model_chips(recorded: Sequence[Event]) -> Iterator[TurnFact]:
    runs = [run for run in said(PluginFinished, recorded) if run.llm_calls]
    calls = sum(run.llm_calls for run in runs)
    used = [run.usage for run in runs if run.usage]
    if used:
        total = sum(used[1:], used[0])
        about = "about " if total.is_estimated else ""
        title = f"Tokens: {about}{total.input_tokens} in, {total.output_tokens} out"
        yield TurnFact(
            text=f"{about}{total.input_tokens + total.output_tokens} tokens", title=title, query="tab=context"
        )
    if calls:
        yield TurnFact(text=f"{counted(calls, 'model call')}", title="Cost in model calls", query="tab=context")

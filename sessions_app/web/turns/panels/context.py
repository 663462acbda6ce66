"""The context ledger of a turn: the last step of every unit that retrieval or solving read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mrpvm.preview import preview
from mrpvm.trace.events import PluginFinished, PluginStarted, said
from mrpvm.trace.verdict import contradictions
from sessions_app.models import ExplainabilityTurn, UnitEvent
from sessions_app.queries.experiments.dependence import dependences
from sessions_app.queries.knowledge.provenance import retracted_since
from sessions_app.queries.sessions.pages import KnownUnit, known_units
from sessions_app.queries.turns.registry import events_and_judgements, own_unit_events
from sessions_app.web.shell.words import STORES, why
from sessions_app.web.turns.graph.status import Tone
from sessions_app.web.turns.panels.budget import budget_context
from sessions_app.web.turns.panels.requests import model_calls, preparing_requests
from sessions_app.web.turns.panels.rewriting import rewriting_context
from sessions_app.web.turns.panels.score_bar import ScoreBar, score_bar

LEDGER_SHOWN = 200
REASON_UNIT_CHARS = 80
GONE = KnownUnit(text="")
_BELOW = ("kb", "draft")
"""Stores below what is the session's own."""
_FATES: Mapping[str, Tone] = {
    "cited": Tone.OK,
    "selected": Tone.ACTIVE,
    "pruned": Tone.IDLE,
    "offered": Tone.IDLE,
}
"""Steps of a unit, the furthest first."""


@dataclass(slots=True, kw_only=True)
class LedgerRow:
    """One unit in the ledger: its last step, and why it went no further.

    `calls` are the executions that judged it, each with its plugin.
    """

    unit_id: str
    store: str
    fate: str = "offered"
    rank: int | None = None
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    dependence: str = ""
    text: str = ""
    origin: ExplainabilityTurn | None = None
    is_own: bool = True
    is_retracted: bool = False
    against: str = ""
    made: ScoreBar | None = None
    steps: list[str] = field(default_factory=list)
    executions: list[str] = field(default_factory=list)
    calls: Sequence[tuple[str, str]] = ()

    @property
    def tone(self) -> Tone:
        """Return the colour of the unit's last step."""
        return _FATES[self.fate]

    def take(self, event: UnitEvent) -> None:
        """Add one step of the ledger."""
        if event.step not in self.steps:
            self.steps.append(event.step)
        if event.execution_id and event.execution_id not in self.executions:
            self.executions.append(event.execution_id)
        if event.rank is not None:
            self.rank = event.rank if self.rank is None else min(self.rank, event.rank)
        if event.score is not None and (self.score is None or event.score > self.score):
            self.score, self.parts = event.score, event.score_parts
        fates = list(_FATES)
        if fates.index(event.step) <= fates.index(self.fate):
            self.fate, self.reason = event.step, why(event.reason) or self.reason


def context_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the sections of the context, the ledger with its counts, and the executions that called a model."""
    events, judged = events_and_judgements(turn)
    rows = _ledger(event for event in (*own_unit_events(turn), *judged) if event.step in _FATES)
    shown = sorted(rows, key=_ledger_order)[:LEDGER_SHOWN]
    against = contradictions((turn.response_document or {}).get("groups", ()))
    shown_ids = {row.unit_id for row in shown}
    known, retracted = known_units(turn, shown_ids), retracted_since(turn.session, shown_ids)
    tried = dependences(turn)
    plugins = {started.execution_id: started.plugin_id for started in said(PluginStarted, events)}
    for row in shown:
        unit = known.get(row.unit_id, GONE)
        row.dependence = tried.get(row.unit_id, "not tried") if tried else ""
        row.text, row.origin, row.is_retracted = unit.text, unit.origin, row.unit_id in retracted
        row.against = against.get(row.unit_id, "")
        row.reason = _with_texts(row.reason, known)
        row.calls = [(ref, plugins.get(ref, ref)) for ref in row.executions]
    best = max((row.score or 0 for row in shown), default=0)
    for row in shown:
        row.made = score_bar(row.parts, best)
    # Every unit was offered first: that step gets a row only if no other step followed.
    counts = {"offered": len(rows)}
    counts |= {fate: sum(1 for row in rows if fate in row.steps) for fate in ("selected", "pruned", "cited")}
    return {
        "turn": turn,
        "session": turn.session,
        "ledger": shown,
        "ledger_left_out": len(rows) - len(shown),
        "ledger_counts": counts,
        "model_calls": model_calls(events),
        "sent_tokens": sum(ended.usage.input_tokens for ended in said(PluginFinished, events) if ended.usage),
        "preparing_count": len(preparing_requests(turn)),
        **budget_context(turn),
        **rewriting_context(turn),
    }


def _ledger(events: Iterable[UnitEvent]) -> list[LedgerRow]:
    rows: dict[str, LedgerRow] = {}
    for event in events:
        row = rows.setdefault(
            event.unit_id,
            LedgerRow(
                unit_id=event.unit_id, store=STORES.get(event.store, event.store), is_own=event.store not in _BELOW
            ),
        )
        row.take(event)
    return list(rows.values())


def _with_texts(reason: str, known: Mapping[str, KnownUnit]) -> str:
    """Return the reason with the texts of the units whose ids it names."""

    def text_of(match: re.Match[str]) -> str:
        unit = known.get(match[0])
        return f"“{preview(unit.text, REASON_UNIT_CHARS)}”" if unit and unit.text else match[0]

    return re.sub(r"[^\s;]+", text_of, reason)


def _ledger_order(row: LedgerRow) -> tuple[int, int, float, str]:
    return list(_FATES).index(row.fate), row.rank if row.rank is not None else 1_000_000, -(row.score or 0), row.unit_id

"""What the turn did with units: the context ledger, and what the turn changed in the session."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions_app.queries.pages import KnownUnit, known_units
from sessions_app.queries.turns import unit_events
from sessions_app.web.graph.status import Tone
from sessions_app.web.words import STORES, why

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn, UnitEvent

LEDGER_SHOWN = 200
_GONE = KnownUnit(text="")
_FATES: Mapping[str, Tone] = {
    "cited": Tone.OK,
    "selected": Tone.ACTIVE,
    "pruned": Tone.IDLE,
    "offered": Tone.IDLE,
}
"""What became of a unit, the furthest step first."""
_CHANGES: Mapping[str, tuple[str, Tone, str]] = {
    "added": ("Added", Tone.OK, ""),
    "pending": ("Pending", Tone.ACTIVE, "kept if the turn succeeds"),
    "deduplicated": ("Known already", Tone.IDLE, "the session knows it already"),
    "discarded": ("Discarded", Tone.ERROR, ""),
    "evicted": ("Evicted", Tone.WARN, "the session is full"),
}


@dataclass(slots=True, kw_only=True)
class LedgerRow:
    """One unit in the ledger: how far it came, and why not further."""

    unit_id: str
    store: str
    fate: str = "offered"
    rank: int | None = None
    score: float | None = None
    reason: str = ""
    text: str = ""
    origin: "ExplainabilityTurn | None" = None
    steps: list[str] = field(default_factory=list)
    executions: list[str] = field(default_factory=list)

    @property
    def tone(self) -> Tone:
        """Give the colour of the unit's fate."""
        return _FATES[self.fate]

    def take(self, event: "UnitEvent") -> None:
        """Add one step of the ledger."""
        if event.step not in self.steps:
            self.steps.append(event.step)
        if event.execution_id and event.execution_id not in self.executions:
            self.executions.append(event.execution_id)
        if event.rank is not None:
            self.rank = event.rank if self.rank is None else min(self.rank, event.rank)
        if event.score is not None:
            self.score = event.score if self.score is None else max(self.score, event.score)
        fates = list(_FATES)
        if fates.index(event.step) <= fates.index(self.fate):
            self.fate, self.reason = event.step, why(event.reason) or self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One unit that the turn brought or took."""

    unit_id: str
    kind: str
    title: str
    tone: Tone
    reason: str
    text: str


def context_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Give the ledger with its counts, and the state change [T-25]."""
    events = list(unit_events(turn))
    rows = _ledger(event for event in events if event.step in _FATES)
    shown = sorted(rows, key=_ledger_order)[:LEDGER_SHOWN]
    changes = _changes(turn, events)
    known = known_units(turn, {row.unit_id for row in shown} | {unit_id for unit_id, _, _ in changes})
    for row in shown:
        unit = known.get(row.unit_id, _GONE)
        row.text, row.origin = unit.text, unit.origin
    # Whatever became of a unit, it was offered first: that has a row of its own only where nothing followed.
    counts = {"offered": len(rows)}
    counts |= {fate: sum(1 for row in rows if fate in row.steps) for fate in ("selected", "pruned", "cited")}
    return {
        "turn": turn,
        "session": turn.session,
        "ledger": shown,
        "ledger_left_out": len(rows) - len(shown),
        "ledger_counts": counts,
        "changes": [
            _change(unit_id, kind, known.get(unit_id, _GONE).text, reason) for unit_id, kind, reason in changes
        ],
    }


def _ledger(events: Iterable["UnitEvent"]) -> list[LedgerRow]:
    rows: dict[str, LedgerRow] = {}
    for event in events:
        row = rows.setdefault(
            event.unit_id, LedgerRow(unit_id=event.unit_id, store=STORES.get(event.store, event.store))
        )
        row.take(event)
    return list(rows.values())


def _ledger_order(row: LedgerRow) -> tuple[int, int, float, str]:
    return list(_FATES).index(row.fate), row.rank if row.rank is not None else 1_000_000, -(row.score or 0), row.unit_id


def _changes(turn: "ExplainabilityTurn", events: Iterable["UnitEvent"]) -> list[tuple[str, str, str]]:
    """Give `(unit id, kind, reason)`: what the entry says, or while the turn runs what is staged."""
    reasons = {(event.unit_id, event.step): event.reason for event in events}
    if turn.is_running:
        return [(unit_id, "pending", "") for unit_id, step in reasons if step == "staged"]
    return [
        (unit_id, kind, reasons.get((unit_id, kind), ""))
        for kind in _CHANGES
        for unit_id in turn.unit_changes.get(kind, ())
    ]


def _change(unit_id: str, kind: str, text: str, reason: str) -> Change:
    title, tone, words = _CHANGES[kind]
    return Change(unit_id=unit_id, kind=kind, title=title, tone=tone, reason=why(reason) or words, text=text)

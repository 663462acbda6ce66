"""A turn's changes to its session: units added and removed, and the state before and after."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mrpvm.preview import counted
from sessions_app.models import ExplainabilityTurn, UnitEvent
from sessions_app.queries.sessions.pages import known_units
from sessions_app.queries.turns.registry import own_unit_events
from sessions_app.queries.turns.state import StateAround, StateAt, state_around
from sessions_app.web.shell.words import why
from sessions_app.web.turns.graph.status import Tone
from sessions_app.web.turns.panels.context import GONE

CHANGES_SHOWN = 200
_CHANGES: Mapping[str, tuple[str, Tone, str]] = {
    "added": ("Added", Tone.OK, ""),
    "pending": ("Pending", Tone.ACTIVE, "kept if the turn succeeds"),
    "deduplicated": ("Known already", Tone.IDLE, "the session knows it already"),
    "discarded": ("Discarded", Tone.ERROR, ""),
    "evicted": ("Evicted", Tone.WARN, "the session is full, or it was told again"),
}
_PREFERENCES = (
    ("planner", "Planner"), ("seedDetector", "Seed detector"), ("kb", "KB plugin"), ("goalSolver", "Goal solver"),
    ("level", "Deliberation level"), ("model", "Model"),
)  # fmt: skip
NOTHING = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """One unit that the turn added or removed."""

    unit_id: str
    kind: str
    title: str
    tone: Tone
    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRow:
    """One part of the state at three moments, in words; `after_previous` is empty if it is unknown."""

    name: str
    after_previous: str
    before: str
    after: str

    @property
    def changed_between(self) -> bool:
        """Return whether it changed between the previous turn and this one."""
        return bool(self.after_previous) and self.after_previous != self.before

    @property
    def changed_since_previous(self) -> bool:
        """Return whether it differs from its value after the previous turn."""
        return bool(self.after_previous) and self.after_previous != self.after

    @property
    def changed_by_turn(self) -> bool:
        return self.before != self.after


def state_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the units that the turn added and removed, and the other parts of the state before and after."""
    changes = _changes(turn, own_unit_events(turn))
    shown = changes[:CHANGES_SHOWN]
    known = known_units(turn, {unit_id for unit_id, _, _ in shown})
    around = state_around(turn)
    return {
        "turn": turn,
        "session": turn.session,
        "changes": [_change(unit_id, kind, known.get(unit_id, GONE).text, reason) for unit_id, kind, reason in shown],
        "changes_left_out": len(changes) - len(shown),
        "change_count": len(changes),
        "previous": around.previous,
        "state_rows": state_rows(around),
    }


def state_rows(around: StateAround) -> list[StateRow]:
    """Return each part of the state after the previous turn, before this turn and after it, in words."""
    moments = [_words(state) if state else {} for state in (around.after_previous, around.before, around.after)]
    return [
        StateRow(name=name, after_previous=moments[0].get(name, ""), before=moments[1][name], after=moments[2][name])
        for name in moments[1]
    ]


def _words(state: StateAt) -> dict[str, str]:
    noted = state.preferences  # the turn of a command records no preferences, because it chooses no plugin
    chosen = {title: _value(noted.get(name)) for name, title in _PREFERENCES} if noted else {}
    return {
        **chosen,
        "Knowledge base": _base(state.base),
        "Draft": _draft(state.draft),
        "Units of the session": str(state.unit_count),
        "Messages": str(state.message_count),
    }


def _value(value: Any) -> str:
    return NOTHING if value is None or value == "" else str(value)


def _base(facts: Mapping[str, Any]) -> str:
    revision = f", revision {facts['revision']}" if facts.get("revision") else ""
    return f"{facts['kb_name']}{revision}" if facts.get("kb_name") else NOTHING


def _draft(facts: Mapping[str, Any]) -> str:
    """Return the unsaved changes in words, with the numbers of sources and units that the session sees with them."""
    if not facts.get("dirty"):
        return "nothing unsaved"
    sources, units = counted(facts.get("source_count", 0), "source"), counted(facts.get("unit_count", 0), "unit")
    return f"unsaved changes: {sources}, {units} in sight"


def _changes(turn: ExplainabilityTurn, events: Iterable[UnitEvent]) -> list[tuple[str, str, str]]:
    """Return `(unit id, kind, reason)` of each change; while the turn runs, of each staged unit."""
    reasons = {(event.unit_id, event.step): event.reason for event in events}
    if turn.is_running:
        return [(unit_id, "pending", "") for unit_id, step in reasons if step == "staged"]
    return [
        (unit_id, kind, reasons.get((unit_id, kind), ""))
        for kind in _CHANGES
        for unit_id in turn.unit_changes.get(kind, ())
    ]


def _change(unit_id: str, kind: str, text: str, reason: str) -> ShownChange:
    title, tone, words = _CHANGES[kind]
    return ShownChange(unit_id=unit_id, kind=kind, title=title, tone=tone, reason=why(reason) or words, text=text)

"""Two turns of a session: how they ran, and what changed in the session between their ends."""

from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrpvm.errors import NotFound
from mrpvm.trace.verdict import readings
from sessions_app.models import ExplainabilityTurn, UnitEvent
from sessions_app.queries.sessions.pages import known_units, neighbours
from sessions_app.queries.turns.context_sections import sections
from sessions_app.queries.turns.outcomes import outcome
from sessions_app.queries.turns.registry import turns
from sessions_app.queries.turns.state import state_around, units_between
from sessions_app.web.sessions.conversation import turn_tone
from sessions_app.web.shell.prose import plain
from sessions_app.web.shell.words import ending, why
from sessions_app.web.turns.graph.status import Tone, duration_badge
from sessions_app.web.turns.panels.context import GONE
from sessions_app.web.turns.panels.state import NOTHING, state_rows

_TIME = "Duration"
_GUIDANCE = ("persona", "agent", "skill")
"""Sections of a model's context that say who answers."""
_MOVES: Mapping[str, tuple[str, Tone]] = {
    "committed": ("Added", Tone.OK),
    "removed": ("Removed", Tone.WARN),
    "discarded": ("Not kept", Tone.ERROR),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFact:
    """One fact of both turns."""

    name: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        """Return whether the turns differ in this fact; a time never counts as equal."""
        return self.left != self.right and self.name != _TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One unit that was added, removed or discarded; `when` names the turn, or says that it was between the turns."""

    unit_id: str
    text: str
    title: str
    tone: Tone
    when: str
    reason: str
    is_gone: bool


def compared_turn(turn: ExplainabilityTurn, number: int | None) -> ExplainabilityTurn:
    """Return the earlier turn to compare with: the turn with this number, or the previous turn without a number.

    A trial is compared with the turn that it repeats.

    Raises:
        NotFound: TURN_NOT_FOUND, no such turn came before this one.
    """
    if turn.is_trial:
        earlier = turns(turn.session).filter(turn_index__lte=turn.turn_index)
    else:
        earlier = turns(turn.session).filter(turn_index__lt=turn.turn_index)
    other = (earlier if number is None else earlier.filter(turn_index=number)).order_by("-turn_index").first()
    if other is None:
        raise NotFound("There is no such turn before this one.", code="TURN_NOT_FOUND")
    other.session = turn.session
    return other


def comparison_context(turn: ExplainabilityTurn, left: ExplainabilityTurn) -> dict[str, Any]:
    """Return both turns, the facts in which they may differ, the state after each, and the units changed in between."""
    around = state_around(turn)
    if around.previous != left:
        around = replace(around, previous=left, after_previous=state_around(left).after)
    rows = sorted(state_rows(around), key=lambda row: not row.changed_since_previous)
    moves, move_count = units_between(turn, left, settings.MRPVM_UNITS_COMPARED)
    known = known_units(turn, {event.unit_id for event in moves})
    return {
        "session": turn.session,
        "turn": turn,
        "previous": left,
        "sides": [_side(left), _side(turn)],
        "pairs": _pairs(left, turn),
        "state": rows,
        "change_count": sum(1 for row in rows if row.changed_since_previous),
        "moves": [_move(event, known.get(event.unit_id, GONE).text) for event in moves],
        "move_count": move_count,
        "moves_left_out": move_count - len(moves),
        # A pair is named by its later turn; the pair before exists if the left turn has a predecessor.
        "earlier": left.request_id if neighbours(left).previous else None,
        "later": neighbours(turn).next,
    }


def _side(turn: ExplainabilityTurn) -> dict[str, Any]:
    return {
        "turn": turn,
        "ending": ending(turn.status, outcome(turn), turn.kind),
        "tone": turn_tone(turn),
        "answer": plain(turn.assistant_preview),
    }


def _pairs(left: ExplainabilityTurn, right: ExplainabilityTurn) -> list[ComparedFact]:
    facts = [_facts(left), _facts(right)]
    return [ComparedFact(name=name, left=facts[0][name], right=facts[1][name]) for name in facts[0]]


def _facts(turn: ExplainabilityTurn) -> dict[str, str]:
    report = turn.context_report or {}
    told = {section["name"]: section["source"].removeprefix(f"{section['name']} ") for section in sections(turn)}
    return {
        "Planner": turn.planner_plugin or NOTHING,
        "Seed detector": turn.seed_detector_plugin or NOTHING,
        "KB plugin": turn.kb_plugin or NOTHING,
        "Goal solver": turn.goal_solver_plugin or NOTHING,
        "Deliberation level": str(turn.deliberation_level),
        "Model": turn.model or NOTHING,
        "Read as": " / ".join(readings(report, turn.user_message)) or NOTHING,
        **{name.capitalize(): told.get(name, NOTHING) for name in _GUIDANCE},
        "Context": f"about {report['tokens']} tokens" if report else NOTHING,
        _TIME: duration_badge(turn.duration_ms) or NOTHING,
    }


def _move(event: UnitEvent, text: str) -> Move:
    title, tone = _MOVES[event.step]
    return Move(
        unit_id=event.unit_id,
        text=text,
        title=title,
        tone=tone,
        when=f"by turn {event.turn.turn_index}" if event.turn else "between the turns",
        reason=why(event.reason),
        is_gone=event.step != "committed",
    )

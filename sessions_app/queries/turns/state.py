"""The state of a session around a turn: after the previous turn, at the turn's start, and at its end.

No state is stored. Preferences come from the record of each turn's start, changes by a turn, a mount or an edit of the
draft from the session's events, and the counts of units from the ledger.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Max, Q

from mrpvm.trace.events import TurnStarted, event_of, said
from mrpvm.wire import to_wire
from sessions_app.models import ExplainabilityTurn, SessionEvent, UnitEvent

STATE_KINDS = ("preferences.changed", "draft.changed", "kb.mounted")
"""The session events that tell how the state changed; these and the following are kept for as long as the session."""
TURN_START = "turn.started"
TURN_ENDS = ("turn.committed", "turn.failed", "turn.cancelled", "turn.interrupted")
_MOVES = (UnitEvent.Step.COMMITTED, UnitEvent.Step.REMOVED, UnitEvent.Step.DISCARDED)
"""The ledger steps that add a unit to a session, remove it, or discard it."""
_PREFERENCES = {
    "planner": "preferred_planner_plugin",
    "seedDetector": "preferred_seed_detector_plugin",
    "kb": "preferred_kb_plugin",
    "goalSolver": "preferred_goal_solver_plugin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAt:
    """The state at one moment; a value is None where nothing was recorded or chosen."""

    preferences: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=dict)
    draft: Mapping[str, Any] = field(default_factory=dict)
    unit_count: int = 0
    message_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAround:
    """Three moments of a session; `after_previous` is None for a session's first turn."""

    previous: ExplainabilityTurn | None
    after_previous: StateAt | None
    before: StateAt
    after: StateAt


def state_around(turn: ExplainabilityTurn) -> StateAround:
    """Return the state before and after a turn, and after the one before it; a fixed number of queries."""
    siblings = ExplainabilityTurn.objects.filter(session_id=turn.session_id)
    previous = siblings.filter(turn_index__lt=turn.turn_index).order_by("-turn_index").first()
    following = siblings.filter(turn_index__gt=turn.turn_index).order_by("turn_index").only("created_at").first()
    events = _Events.around(turn, previous, following)
    counts = _counts(turn, previous)
    begun = _started(turn)
    changes = turn.unit_changes
    added = len(changes.get("added", ())) - len(changes.get("evicted", ()))
    before = StateAt(
        preferences=begun,
        base=events.last("kb.mounted", turn, at_end=False),
        draft=events.last("draft.changed", turn, at_end=False),
        unit_count=counts["units"] - added,
        message_count=counts["messages_before"],
    )
    after = StateAt(
        preferences={**begun, **events.changed_preferences(turn)},
        base=events.last("kb.mounted", turn, at_end=True),
        draft=events.last("draft.changed", turn, at_end=True),
        unit_count=counts["units"],
        message_count=counts["messages"],
    )
    return StateAround(
        previous=previous,
        after_previous=_after_previous(previous, events, counts) if previous else None,
        before=before,
        after=after,
    )


def units_between(turn: ExplainabilityTurn, previous: ExplainabilityTurn, limit: int) -> tuple[list[UnitEvent], int]:
    """Return the units added and removed from the end of one turn to the end of another, in order.

    Return at most `limit` rows, with their turns, and the number of all.
    """
    moves = UnitEvent.objects.filter(
        session_id=turn.session_id, step__in=_MOVES, pk__gt=_last_step(previous), pk__lte=_last_step(turn)
    )
    return list(moves.select_related("turn").order_by("pk")[:limit]), moves.count()


def _after_previous(previous: ExplainabilityTurn, events: "_Events", counts: Mapping[str, int]) -> StateAt:
    return StateAt(
        preferences={**_started(previous), **events.changed_preferences(previous)},
        base=events.last("kb.mounted", previous, at_end=True),
        draft=events.last("draft.changed", previous, at_end=True),
        unit_count=counts["units_previous"],
        message_count=counts["messages_previous"],
    )


def _started(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the preferences that the turn began with, as it recorded them: a command, which needs none, records
    none.
    """
    records = turn.event_batches.order_by("first_sequence").values_list("events", flat=True).first() or []
    started = next(iter(said(TurnStarted, map(event_of, records))), None)
    if started is None or started.preferences is None:
        return {}
    return {**to_wire(started.preferences), "level": started.deliberation_level}


@dataclass(frozen=True, slots=True)
class _Events:
    """The session's events from the previous turn's start up to the next turn's, and what held before them."""

    rows: Sequence[SessionEvent]
    earlier: Mapping[str, Mapping[str, Any]]

    @classmethod
    def around(
        cls, turn: ExplainabilityTurn, previous: ExplainabilityTurn | None, following: ExplainabilityTurn | None
    ) -> "_Events":
        events = SessionEvent.objects.filter(session_id=turn.session_id)
        since = (previous or turn).created_at
        inside = events.filter(kind__in=(*STATE_KINDS, TURN_START, *TURN_ENDS), created_at__gte=since)
        if following is not None:
            inside = inside.filter(created_at__lt=following.created_at)
        earlier = {}
        for kind in ("draft.changed", "kb.mounted"):
            row = events.filter(kind=kind, created_at__lt=since).order_by("-sequence").first()
            earlier[kind] = row.payload if row else {}
        return cls(list(inside.order_by("sequence")), earlier)

    def last(self, kind: str, turn: ExplainabilityTurn, *, at_end: bool) -> Mapping[str, Any]:
        """Return what the last event of a kind told before the turn began, or before it had ended."""
        limits = TURN_ENDS if at_end else (TURN_START,)
        payload = self.earlier[kind]
        for row in self.rows:
            if row.kind in limits and row.payload.get("request_id") == turn.request_id:
                break
            if row.kind == kind:
                payload = row.payload
        return payload

    def changed_preferences(self, turn: ExplainabilityTurn) -> dict[str, Any]:
        """Return the preferences that the turn's commit changed, under the names of the turn's record."""
        running = ""
        changed: dict[str, Any] = {}
        for row in self.rows:
            if row.kind == TURN_START:
                running = row.payload.get("request_id", "")
            elif row.kind == "preferences.changed" and running == turn.request_id:
                changed |= row.payload
        named = {name: changed[column] for name, column in _PREFERENCES.items() if column in changed}
        for name, column in (("level", "preferred_deliberation_level"), ("model", "preferred_model")):
            if column in changed:
                named[name] = changed[column]
        return named


def _counts(turn: ExplainabilityTurn, previous: ExplainabilityTurn | None) -> dict[str, int]:
    """Count units and messages at the ends of both turns."""
    here, before = _last_step(turn), _last_step(previous) if previous else 0
    kept, gone = Q(step=UnitEvent.Step.COMMITTED), Q(step=UnitEvent.Step.REMOVED)
    units = UnitEvent.objects.filter(session_id=turn.session_id).aggregate(
        kept=Count("pk", filter=kept & Q(pk__lte=here)),
        gone=Count("pk", filter=gone & Q(pk__lte=here)),
        kept_before=Count("pk", filter=kept & Q(pk__lte=before)),
        gone_before=Count("pk", filter=gone & Q(pk__lte=before)),
    )
    moments = {"messages_before": _said_before(turn), "messages": _said_by_the_end(turn)}
    if previous is not None:
        moments["messages_previous"] = _said_by_the_end(previous)
    messages = turn.session.messages.aggregate(
        **{name: Max("sequence", filter=said, default=0) for name, said in moments.items()}
    )
    return {
        "units": units["kept"] - units["gone"],
        "units_previous": units["kept_before"] - units["gone_before"],
        **messages,
    }


def _said_before(turn: ExplainabilityTurn) -> Q:
    """Return the condition that a message was there when the turn began."""
    return Q(turn__turn_index__lt=turn.turn_index) | Q(turn=None, created_at__lt=turn.created_at)


def _said_by_the_end(turn: ExplainabilityTurn) -> Q:
    return _said_before(turn) | Q(turn__turn_index=turn.turn_index)


def _last_step(turn: ExplainabilityTurn) -> int:
    """Return the key of the last ledger row of a turn, or of the last one before it ended if it has none."""
    ledger = UnitEvent.objects.filter(session_id=turn.session_id)
    own = ledger.filter(turn=turn).aggregate(last=Max("pk"))["last"]
    if own is None:
        ended = turn.finished_at or turn.created_at
        own = ledger.filter(created_at__lte=ended).aggregate(last=Max("pk"))["last"]
    return own or 0

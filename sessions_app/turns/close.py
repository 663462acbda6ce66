"""Closing a turn from outside: its process went away, or it failed where the machine could not see it."""

import threading
from collections.abc import Collection, Mapping
from typing import Any, Literal, NoReturn

from django.db import transaction
from msgspec import Struct

from mrpvm.commands.orchestration import skill_failure
from mrpvm.commands.result import CommandEnvelope
from mrpvm.errors import ErrorRecord, MRPError, StorageUnavailable
from mrpvm.trace.events import (
    ROOT_FRAME_ID,
    Event,
    EventData,
    FrameClosed,
    PluginFinished,
    TurnFinished,
    record_of,
)
from mrpvm.trace.graph import fold_graph
from mrpvm.trace.head import trace_head
from mrpvm.values import Selection
from sessions_app import events
from sessions_app.actions.sessions.context_units import discard_pending
from sessions_app.actions.turns.payloads import batch
from sessions_app.actions.turns.running import lock_running_turn
from sessions_app.database import as_own_error, as_unavailable, give_up_dead_connections
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.turns.registry import events as stored_events
from sessions_app.turns.call import TurnCall
from sessions_app.turns.entry import fill_end

Status = ExplainabilityTurn.Status
Outcome = ExplainabilityTurn.Outcome
_ENDINGS = {"TURN_CANCELLED": Status.CANCELLED, "TURN_INTERRUPTED": Status.INTERRUPTED}
EVENT_OF_ENDING: dict[str, Literal["turn.failed", "turn.cancelled", "turn.interrupted"]] = {
    Status.FAILED: "turn.failed",
    Status.CANCELLED: "turn.cancelled",
    Status.INTERRUPTED: "turn.interrupted",
}


NOTHING_USED = Selection()


def ending(error: ErrorRecord) -> ExplainabilityTurn.Status:
    """Return the status that a turn with this error ends in."""
    return _ENDINGS.get(error["code"], Status.FAILED)


class TurnError(MRPError):
    """A turn ran and did not succeed; carries the finished entry beside the error.

    The details of a turn that a command asked for also hold the command's envelope. `phase` is where it went wrong,
    `outbound` the request for the answer that was really sent, redacted.
    """

    def __init__(
        self,
        turn: ExplainabilityTurn,
        error: ErrorRecord,
        command: CommandEnvelope | None = None,
        *,
        phase: str | None = None,
        outbound: Mapping[str, Any] | None = None,
    ) -> None:
        details = {**error["details"], "command": command} if command else error["details"]
        super().__init__(error["message"], code=error["code"], details=details)
        self.turn = turn
        self.phase, self.outbound = phase or _phase_of(error["code"]), outbound

    def as_fields(self) -> dict[str, Any]:
        """Return the fields that an answer would have beside its text."""
        return {"error_phase": self.phase, "outbound_request": self.outbound, "tool_calls": []}


_OF_PLUGINS = frozenset({
    "PLUGIN_STAGE_EXHAUSTED", "PLAN_STAGE_EXHAUSTED", "DECOMPOSER_EMPTY_RESULT", "VALIDATION_REJECTED",
    "NORMALIZER_VALIDATION_FAILED",
})  # fmt: skip


def _phase_of(code: str) -> str | None:
    """Return HAL's name for where a turn went wrong; None where nothing of the turn did."""
    if code.startswith("LLM_"):
        return "openai"
    return "tool" if code in _OF_PLUGINS else None


def end_on_defect(turn: ExplainabilityTurn, call: TurnCall, defect: Exception, phase: str | None = None) -> NoReturn:
    """Close a turn that failed outside the machine.

    Raises:
        TurnError: always; its cause is the defect.

    Effects: those of `end_turn`.
    """
    error = as_own_error(defect, f"turn {turn.request_id}")
    command = skill_failure(call.commanded_skill, error.code)
    end_turn(turn, error.as_record(), command)
    raise TurnError(turn, error.as_record(), command, phase=phase) from defect


class TurnEnd(Struct, frozen=True):
    """What a turn's entry will hold: its error and, where a command asked for it, the command's envelope."""

    error: ErrorRecord
    command: CommandEnvelope | None = None


class Unclosed:
    """Ends of turns while the database could not be written to, by request id; they are closed once it can be.

    `noted` is set when one comes in, for the thread that closes them. Turns are not named by key, because their rows
    may never have been committed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[str, TurnEnd] = {}
        self.noted = threading.Event()

    def note(self, request_id: str, end: TurnEnd) -> None:
        with self._lock:
            self._ends[request_id] = end
        self.noted.set()

    def ends(self) -> Mapping[str, TurnEnd]:
        """Return all of them as they are now."""
        with self._lock:
            return dict(self._ends)

    def forget(self, request_ids: Collection[str]) -> None:
        """Remove turns that are closed, or that are not in the database."""
        with self._lock:
            for request_id in request_ids:
                self._ends.pop(request_id, None)


unclosed = Unclosed()


def end_turn(turn: ExplainabilityTurn, error: ErrorRecord, command: CommandEnvelope | None = None) -> None:
    """Close a turn of this process that failed.

    Effects: those of `close_turn`, on a new connection where that was what failed; later and on another thread if the
    database cannot be written to now.
    """
    give_up_dead_connections()
    try:
        close_turn(turn.pk, error, command)
    except Exception as defect:
        if not isinstance(as_unavailable(defect), StorageUnavailable):
            raise
        unclosed.note(turn.request_id, TurnEnd(error, command))


@transaction.atomic
def close_turn(turn_pk: int, error: ErrorRecord, command: CommandEnvelope | None = None) -> bool:
    """End a running turn with what its stored trace holds; False if it is not running any more.

    Args:
        command: the envelope of the skill that was asked for, where the caller knows one.

    Effects: a whole trace, and those of `end_failed`.
    """
    turn = lock_running_turn(turn_pk)
    if turn is None:
        return False
    close_trace(turn, error)
    end_failed(turn, turn.session, error, command=command)
    return True


def end_failed(
    turn: ExplainabilityTurn,
    session: Session,
    error: ErrorRecord,
    used: Selection = NOTHING_USED,
    command: CommandEnvelope | None = None,
) -> None:
    """Store the end of a turn that did not succeed; turn and session are locked, the trace is stored already.

    Effects: pending units gone, the finished entry, activity; `turn.failed` or its kin, `units.discarded`.
    """
    discarded = discard_pending(turn, session, error["code"])
    turn.error = dict(error)
    turn.command_result = command
    turn.unit_changes = {"added": [], "deduplicated": [], "discarded": discarded, "evicted": []}
    fill_end(turn, ending(error), "failed", used)
    turn.save()
    ended = events.TurnEnded(request_id=turn.request_id, turn_index=turn.turn_index, code=error["code"])
    news: list[events.News] = [(EVENT_OF_ENDING[turn.status], ended)]
    if discarded:
        news.append(("units.discarded", events.UnitCount(request_id=turn.request_id, count=len(discarded))))
    if turn.status != Status.CANCELLED:  # a person stopped it for a reason of their own
        session.failed_turn_count += 1
    session.touch()
    events.append_to_locked(session, news)
    session.save(update_fields=["failed_turn_count", "event_sequence", *Session.ACTIVITY_FIELDS])


def close_trace(turn: ExplainabilityTurn, error: ErrorRecord) -> None:
    """End the stored trace of a turn that could not do so itself: open nodes fail, a root frame always exists."""
    stored = stored_events(turn)
    graph = fold_graph(stored)
    at_ms = max((event.at_ms for event in stored), default=0)
    closing: list[Event] = []

    def close(data: EventData) -> None:
        closing.append(Event(at_ms=at_ms, data=data))

    if graph.root_frame_id is None:
        closing += trace_head(
            request_id=turn.request_id,
            session_id=turn.session.session_id,
            message=turn.user_message,
            deliberation_level=turn.deliberation_level,
            purpose="chat-turn",
            label="chat-turn",
        )
        close(_closed(ROOT_FRAME_ID, error))
    for execution in graph.plugin_executions:
        if execution.status == "running":
            close(
                PluginFinished(
                    execution_id=execution.id,
                    frame_id=execution.frame_id,
                    status="error",
                    duration_ms=max(0, at_ms - execution.started_at_ms),
                    llm_calls=0,
                    error=error,
                )
            )
    for frame in reversed(graph.frames):
        if frame.is_active:
            close(_closed(frame.id, error))
    close(TurnFinished(status="failed", answer_status="failed", error=error))
    batch(turn, len(stored), [record_of(event) for event in closing], ()).save()


def _closed(frame_id: str, error: ErrorRecord) -> FrameClosed:
    reason = "frontier_exhausted" if ending(error) == Status.FAILED else "budget_exhausted"
    return FrameClosed(frame_id=frame_id, status="failed", closure_reason=reason)

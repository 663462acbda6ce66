"""What a client hears while a turn works: machine events as SSE `progress` payloads."""

from dataclasses import dataclass
from typing import Annotated

from django.utils import timezone

from mrpvm.errors import ErrorRecord
from mrpvm.trace.events import (
    AnswerDelta,
    BacktrackTaken,
    BranchFailed,
    BranchStarted,
    Event,
    FrameClosed,
    FrameOpened,
    PlanMade,
    PluginFinished,
    PluginStarted,
    TurnFinished,
    TurnStarted,
)
from mrpvm.wire import JSONObject, OnWire, to_wire, wire_time
from sessions_app.models import ExplainabilityTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The fields of a payload beside time, place and kind; they differ by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBegun(Facts):
    stage: str
    plugin_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(Facts):
    status: str
    llm_calls: int
    sufficient: bool | None
    model: str | None
    error: ErrorRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChosen(Facts):
    phase: str
    planner_plugin_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverTried(CallBegun):
    kb_plugin_id: str
    planner_plugin_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameBegun(Facts):
    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameEnded(Facts):
    status: str
    frontier_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried(Facts):
    status: str = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverRetried(Retried):
    plugin_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(Facts):
    plugin_id: str
    execution_id: str
    draft: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The payload of an event."""

    timestamp: str
    request_id: str
    session_id: str
    frame_id: str
    frame_depth: int
    type: str
    step: Annotated[str, OnWire("event")]
    message: str


NO_FACTS = Facts()


def progress_of(turn: ExplainabilityTurn, event: Event) -> JSONObject | None:
    """Return the progress payload of a machine event, None for events that clients need not hear of."""
    match event.data:
        case TurnStarted():
            return _payload(turn, event, "request", "start", "Turn started")
        case PluginStarted() as call:
            kind = "planner" if call.stage == "planner" else "stage"
            facts: Facts = CallBegun(stage=call.stage, plugin_id=call.plugin_id)
            return _payload(turn, event, kind, "start", f"{call.plugin_name} is working", facts)
        case PluginFinished() as ended:
            facts = CallEnded(
                status=ended.status,
                llm_calls=ended.llm_calls,
                sufficient=ended.sufficient,
                model=ended.model,
                error=ended.error,
            )
            return _payload(turn, event, "stage", "finish", f"Finished: {ended.status}", facts)
        case PlanMade() as made:
            facts = PlanChosen(phase=made.phase, planner_plugin_id=made.plan.planner_plugin_id)
            return _payload(turn, event, "planner", "info", "Decided what to try in which order", facts)
        case BranchStarted() as branch:
            facts = SolverTried(
                stage="goal-solver",
                plugin_id=branch.plugin_id,
                kb_plugin_id=branch.kb_plugin_id,
                planner_plugin_id=branch.planner_plugin_id,
            )
            message = f"{branch.plugin_id} tries what {branch.kb_plugin_id} found"
            return _payload(turn, event, "stage", "info", message, facts)
        case FrameOpened(parent_frame_id=str()) as opened:
            message = f"Working on part {opened.frame_id}"
            return _payload(turn, event, "frame", "fanout", message, FrameBegun(purpose=opened.purpose))
        case FrameClosed() as closed if (size := event.detail["meta"].frontier_size) is not None:
            facts = FrameEnded(status=closed.status, frontier_size=size)
            return _payload(turn, event, "frame", "info", f"Finished part {closed.frame_id}", facts)
        case BranchFailed() as failed if failed.reason != "superseded":  # it held, and another one was chosen
            message = f"What {failed.plugin_id} gave did not hold"
            return _payload(turn, event, "validation", "retry", message, SolverRetried(plugin_id=failed.plugin_id))
        case BacktrackTaken() as backtrack:
            return _payload(turn, event, "validation", "retry", f"Trying another {backtrack.step}", Retried())
        case AnswerDelta(is_draft=True) as piece:
            facts = Drafted(plugin_id=piece.plugin_id, execution_id=piece.execution_id, draft=piece.delta)
            message = "Writing an answer that has yet to be approved"
            return _payload(turn, event, "response", "info", message, facts)
        case TurnFinished(status="succeeded"):
            return _payload(turn, event, "response", "ready", "Answer ready")
    return None


def _payload(
    turn: ExplainabilityTurn, event: Event, kind: str, step: str, message: str, facts: Facts = NO_FACTS
) -> JSONObject:
    progress = Progress(
        timestamp=wire_time(timezone.now()),
        request_id=turn.request_id,
        session_id=turn.session.session_id,
        frame_id=event.frame_id,
        frame_depth=event.frame_id.count("."),
        type=kind,
        step=step,
        message=message,
    )
    return {**to_wire(progress), **to_wire(facts)}

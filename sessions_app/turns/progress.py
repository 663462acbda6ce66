"""What a client hears while a turn works: machine events as SSE `progress` payloads [API-15, API-17]."""

from typing import Any

from django.utils import timezone

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
from mrpvm.wire import wire_time
from sessions_app.models import ExplainabilityTurn


def progress_of(turn: ExplainabilityTurn, event: Event) -> dict[str, Any] | None:
    """Return the progress payload of a machine event, None for events that clients need not hear of."""
    match event.data:
        case TurnStarted():
            return _payload(turn, event, "request", "start", "Turn started")
        case PluginStarted() as call:
            kind = "planner" if call.stage == "planner" else "stage"
            keys: dict[str, Any] = {"stage": call.stage, "pluginId": call.plugin_id}
            return _payload(turn, event, kind, "start", f"{call.plugin_name} is working", keys)
        case PluginFinished() as ended:
            keys = {
                "status": ended.status,
                "llmCalls": ended.llm_calls,
                "sufficient": ended.sufficient,
                "model": ended.model,
                "error": ended.error,
            }
            return _payload(turn, event, "stage", "finish", f"Finished: {ended.status}", keys)
        case PlanMade() as made:
            keys = {"phase": made.phase, "plannerPluginId": made.plan.planner_plugin_id}
            return _payload(turn, event, "planner", "info", "Decided what to try in which order", keys)
        case BranchStarted() as branch:
            keys = {
                "stage": "goal-solver",
                "pluginId": branch.plugin_id,
                "kbPluginId": branch.kb_plugin_id,
                "plannerPluginId": branch.planner_plugin_id,
            }
            message = f"{branch.plugin_id} tries what {branch.kb_plugin_id} found"
            return _payload(turn, event, "stage", "info", message, keys)
        case FrameOpened(parent_frame_id=str()) as opened:
            message = f"Working on part {opened.frame_id}"
            return _payload(turn, event, "frame", "fanout", message, {"purpose": opened.purpose})
        case FrameClosed() as closed if (size := event.detail["meta"].frontier_size) is not None:
            keys = {"status": closed.status, "frontierSize": size}
            return _payload(turn, event, "frame", "info", f"Finished part {closed.frame_id}", keys)
        case BranchFailed() as failed:
            keys = {"pluginId": failed.plugin_id, "status": "retry"}
            return _payload(turn, event, "validation", "retry", f"What {failed.plugin_id} gave did not hold", keys)
        case BacktrackTaken() as backtrack:
            message = f"Trying another {backtrack.step}"
            return _payload(turn, event, "validation", "retry", message, {"status": "retry"})
        case AnswerDelta(is_draft=True) as piece:
            keys = {"pluginId": piece.plugin_id, "executionId": piece.execution_id, "draft": piece.delta}
            message = "Writing an answer that has yet to be approved"
            return _payload(turn, event, "response", "info", message, keys)
        case TurnFinished(status="succeeded"):
            return _payload(turn, event, "response", "ready", "Answer ready")
    return None


def _payload(
    turn: ExplainabilityTurn,
    event: Event,
    kind: str,
    step: str,
    message: str,
    more: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "timestamp": wire_time(timezone.now()),
        "requestId": turn.request_id,
        "sessionId": turn.session.session_id,
        "frameId": event.frame_id,
        "frameDepth": event.frame_id.count("."),
        "type": kind,
        "event": step,
        "message": message,
        **(more or {}),
    }

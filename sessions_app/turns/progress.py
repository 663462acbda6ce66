"""What a client hears while a turn works: machine events as SSE `progress` payloads [API-15, API-17]."""

from typing import Any

from django.utils import timezone

from mrpvm.trace.events import Event
from mrpvm.wire import wire_time
from sessions_app.models import ExplainabilityTurn


def progress_of(turn: ExplainabilityTurn, event: Event) -> dict[str, Any] | None:
    """Give the progress payload of a machine event, None for events that clients need not hear of."""
    data = event.data
    match event.name:
        case "turn.started":
            return _payload(turn, data, "request", "start", "Turn started")
        case "plugin.started":
            kind = "planner" if data["stage"] == "planner" else "stage"
            keys = {"stage": data["stage"], "pluginId": data["pluginId"]}
            return _payload(turn, data, kind, "start", f"{data['pluginName']} is working", keys)
        case "plugin.finished":
            keys = {key: data[key] for key in ("status", "llmCalls", "sufficient", "model", "error")}
            return _payload(turn, data, "stage", "finish", f"Finished: {data['status']}", keys)
        case "plan.made":
            keys = {"phase": data["phase"], "plannerPluginId": data["plan"]["plannerPluginId"]}
            return _payload(turn, data, "planner", "info", "Decided what to try in which order", keys)
        case "branch.started":
            keys = {key: data[key] for key in ("pluginId", "kbPluginId", "plannerPluginId")}
            message = f"{data['pluginId']} tries what {data['kbPluginId']} found"
            return _payload(turn, data, "stage", "info", message, {"stage": "goal-solver", **keys})
        case "frame.opened" if data["parentFrameId"] is not None:
            keys = {"purpose": data["purpose"]}
            return _payload(turn, data, "frame", "fanout", f"Working on part {data['frameId']}", keys)
        case "frame.closed" if "frontierSize" in (state := event.detail["meta"]):
            keys = {"status": data["status"], "frontierSize": state["frontierSize"]}
            return _payload(turn, data, "frame", "info", f"Finished part {data['frameId']}", keys)
        case "branch.failed":
            keys = {"pluginId": data["pluginId"], "status": "retry"}
            return _payload(turn, data, "validation", "retry", f"What {data['pluginId']} gave did not hold", keys)
        case "backtrack.taken":
            return _payload(turn, data, "validation", "retry", f"Trying another {data['step']}", {"status": "retry"})
        case "answer.delta" if data["isDraft"]:
            keys = {"pluginId": data["pluginId"], "executionId": data["executionId"], "draft": data["delta"]}
            return _payload(turn, data, "response", "info", "Writing an answer that has yet to be approved", keys)
        case "turn.finished" if data["status"] == "succeeded":
            return _payload(turn, data, "response", "ready", "Answer ready")
    return None


def _payload(
    turn: ExplainabilityTurn,
    data: Any,
    kind: str,
    event: str,
    message: str,
    more: dict[str, Any] | None = None,
) -> dict[str, Any]:
    frame_id = data.get("frameId", "frame-0")
    return {
        "timestamp": wire_time(timezone.now()),
        "requestId": turn.request_id,
        "sessionId": turn.session.session_id,
        "frameId": frame_id,
        "frameDepth": frame_id.count("."),
        "type": kind,
        "event": event,
        "message": message,
        **(more or {}),
    }

"""How the trace of a turn begins that the machine did not begin: a command's, or one that failed before it ran."""

from typing import Any

from mrpvm.kernel.machine import INPUT_MESSAGE_CHARS
from mrpvm.trace.graph import Record
from sessions_app.models import ExplainabilityTurn

ROOT = "frame-0"


def trace_head(turn: ExplainabilityTurn, purpose: str, label: str) -> list[Record]:
    """Give `turn.started` and the `frame.opened` of the root frame."""
    started = {
        "requestId": turn.request_id,
        "sessionId": turn.session.session_id,
        "inputMessage": turn.user_message[:INPUT_MESSAGE_CHARS],
        "deliberationLevel": turn.deliberation_level,
        "effectiveLevel": 0,
        "plannerCandidates": [],
        "seedDetectorCandidates": [],
    }
    root: dict[str, Any] = {
        "frameId": ROOT, "parentFrameId": None, "purpose": purpose, "label": label, "depth": 0, "openedBy": None,
        "intentRefs": [],
    }  # fmt: skip
    return [["turn.started", 0, started], ["frame.opened", 0, root]]

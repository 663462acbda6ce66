"""How the trace of a turn begins that the machine did not begin: a command's, or one that failed before it ran."""

from typing import Any

from mrpvm.trace.graph import Record

ROOT = "frame-0"
INPUT_MESSAGE_CHARS = 500
"""How much of the message the trace's head shows [G-1]; the whole is the root frame's input."""


def trace_head(
    *, request_id: str, session_id: str, message: str, deliberation_level: int, purpose: str, label: str
) -> list[Record]:
    """Return `turn.started` and the `frame.opened` of the root frame."""
    started = {
        "requestId": request_id,
        "sessionId": session_id,
        "inputMessage": message[:INPUT_MESSAGE_CHARS],
        "deliberationLevel": deliberation_level,
        "effectiveLevel": 0,
        "plannerCandidates": [],
        "seedDetectorCandidates": [],
    }
    root: dict[str, Any] = {
        "frameId": ROOT,
        "parentFrameId": None,
        "purpose": purpose,
        "label": label,
        "depth": 0,
        "openedBy": None,
        "intentRefs": [],
    }
    return [["turn.started", 0, started], ["frame.opened", 0, root]]

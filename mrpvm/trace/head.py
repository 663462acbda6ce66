"""The first events of a turn that the machine did not begin: a command, or a turn that failed before it ran."""

from mrpvm.trace.events import ROOT_FRAME_ID, Event, FrameOpened, TurnStarted

INPUT_MESSAGE_CHARS = 500
"""How much of the message the trace's head shows; the whole is the root frame's input."""


def trace_head(
    *, request_id: str, session_id: str, message: str, deliberation_level: int, purpose: str, label: str
) -> list[Event]:
    """Return the events of a turn that starts and opens its root frame."""
    started = TurnStarted(
        request_id=request_id,
        session_id=session_id,
        input_message=message[:INPUT_MESSAGE_CHARS],
        deliberation_level=deliberation_level,
        effective_level=0,
    )
    opened = FrameOpened(
        frame_id=ROOT_FRAME_ID, parent_frame_id=None, purpose=purpose, label=label, depth=0, opened_by=None
    )
    return [Event(at_ms=0, data=started), Event(at_ms=0, data=opened)]

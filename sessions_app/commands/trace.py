"""The trace of a command, in the machine's vocabulary: one frame, what the text meant, which skill ran and why."""

from collections.abc import Sequence
from typing import Any

from mrpvm.commands import CommandOutcome, ResolvedCommand, SessionFacts
from mrpvm.commands.recorded import Given, PortCall
from mrpvm.trace.events import ROOT_FRAME_ID, CommandResolved, Event, FrameClosed, SkillInvoked, TurnFinished
from mrpvm.trace.head import trace_head
from sessions_app.models import ExplainabilityTurn

ANSWERED = "command_answered"
"""Why the frame of a command is closed."""
_LABEL_CHARS = 60


def trace_of(
    turn: ExplainabilityTurn, resolved: ResolvedCommand, outcome: CommandOutcome, facts: SessionFacts
) -> list[Event]:
    """Return the events of an answered command; `facts` are those that it was resolved with."""
    at_ms = turn.duration_ms or 0
    meant = CommandResolved(
        frame_id=ROOT_FRAME_ID,
        name=resolved.name,
        route=resolved.route,
        reason=resolved.reason,
        snapshot_version=facts.snapshot_version,
        snapshot_hash=facts.skills.content_hash,
    )
    closed = FrameClosed(
        frame_id=ROOT_FRAME_ID,
        status="succeeded" if outcome.result.status == "ok" else "failed",
        closure_reason=ANSWERED,
    )
    return [
        *trace_head(
            request_id=turn.request_id,
            session_id=facts.session_id,
            message=turn.user_message,
            deliberation_level=turn.deliberation_level,
            purpose="command",
            label=f"command /{resolved.name[:_LABEL_CHARS]}",
        ),
        Event(at_ms=0, data=meant),
        *_skill(resolved, outcome),
        Event(at_ms=at_ms, data=closed),
        Event(at_ms=at_ms, data=TurnFinished(status="succeeded", answer_status=None)),
    ]


def payload_parts(
    text: str, facts: SessionFacts, calls: Sequence[PortCall], resolved: ResolvedCommand, outcome: CommandOutcome
) -> dict[str, Any]:
    """Return the payload of a command's frame: what it was given and read, what it gave and changed."""
    return {
        "input": {"message": text, "session": Given.of(facts), "calls": calls},
        "output": outcome.result.as_record(),
        "meta": {"route": resolved.route, "reason": resolved.reason, "changed": sorted(outcome.changes)},
    }


def _skill(resolved: ResolvedCommand, outcome: CommandOutcome) -> list[Event]:
    skill = resolved.skill
    if skill is None:
        return []
    invoked = SkillInvoked(
        frame_id=ROOT_FRAME_ID,
        name=skill.skill_name,
        source=skill.source,
        mode=skill.invocation_mode,
        reason=resolved.reason,
        provider=skill.command_tool_provider,
        tool=skill.command_tool,
        status=outcome.result.code,
    )
    return [Event(at_ms=0, data=invoked)]

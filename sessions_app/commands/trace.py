"""The trace of a command, in the machine's vocabulary: one frame, what the text meant, which skill ran and why."""

from typing import Any

from mrpvm.conversation.commands import Outcome, Resolved, SessionFacts
from mrpvm.trace.graph import Record
from mrpvm.trace.head import ROOT, trace_head
from sessions_app.models import ExplainabilityTurn

ANSWERED = "command_answered"
"""Why the frame of a command is closed."""
_LABEL_CHARS = 60


def trace_of(turn: ExplainabilityTurn, resolved: Resolved, outcome: Outcome, facts: SessionFacts) -> list[Record]:
    """Give the events of an answered command; `facts` are those that it was resolved with."""
    at_ms = turn.duration_ms or 0
    status = "succeeded" if outcome.result.status == "ok" else "failed"
    meant = {
        "frameId": ROOT, "name": resolved.name, "route": resolved.route, "reason": resolved.reason,
        "snapshotVersion": facts.snapshot_version, "snapshotHash": facts.skills.content_hash,
    }  # fmt: skip
    return [
        *trace_head(
            request_id=turn.request_id,
            session_id=turn.session.session_id,
            message=turn.user_message,
            deliberation_level=turn.deliberation_level,
            purpose="command",
            label=f"command /{resolved.name[:_LABEL_CHARS]}",
        ),
        ["command.resolved", 0, meant],
        *([["skill.invoked", 0, _skill(resolved, outcome)]] if resolved.skill is not None else []),
        ["frame.closed", at_ms, {"frameId": ROOT, "status": status, "closureReason": ANSWERED}],
        ["turn.finished", at_ms, {"status": "succeeded", "answerStatus": None, "error": None}],
    ]


def _skill(resolved: Resolved, outcome: Outcome) -> dict[str, Any]:
    skill = resolved.skill
    if skill is None:
        return {}
    return {
        "frameId": ROOT,
        "name": skill.skill_name,
        "source": skill.source,
        "mode": skill.invocation_mode,
        "reason": resolved.reason,
        "provider": skill.command_tool_provider,
        "tool": skill.command_tool,
        "status": outcome.result.code,
    }

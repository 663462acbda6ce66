"""The trace of a command, in the machine's vocabulary: one frame, what the text meant, which skill ran and why."""

from typing import Any

from mrpvm.conversation.commands import Outcome, Resolved, SessionFacts
from mrpvm.kernel.machine import INPUT_MESSAGE_CHARS
from mrpvm.trace.graph import Record
from sessions_app.models import ExplainabilityTurn

ROOT = "frame-0"
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
        ["turn.started", 0, _head(turn)],
        ["frame.opened", 0, _frame(resolved)],
        ["command.resolved", 0, meant],
        *([["skill.invoked", 0, _skill(resolved, outcome)]] if resolved.skill is not None else []),
        ["frame.closed", at_ms, {"frameId": ROOT, "status": status, "closureReason": ANSWERED}],
        ["turn.finished", at_ms, {"status": "succeeded", "answerStatus": None, "error": None}],
    ]


def _head(turn: ExplainabilityTurn) -> dict[str, Any]:
    return {
        "requestId": turn.request_id,
        "sessionId": turn.session.session_id,
        "inputMessage": turn.user_message[:INPUT_MESSAGE_CHARS],
        "deliberationLevel": turn.deliberation_level,
        "effectiveLevel": 0,
        "plannerCandidates": [],
        "seedDetectorCandidates": [],
    }


def _frame(resolved: Resolved) -> dict[str, Any]:
    return {
        "frameId": ROOT,
        "parentFrameId": None,
        "purpose": "command",
        "label": f"command /{resolved.name[:_LABEL_CHARS]}",
        "depth": 0,
        "openedBy": None,
        "intentRefs": [],
    }


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

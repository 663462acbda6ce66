"""How the registry's entries leave: one turn with its trace, and the payloads behind the trace's nodes."""

from collections.abc import Callable, Collection
from typing import Any

from mrpvm.trace.record import ExecutionTrace
from mrpvm.trace.verdict import Verdict
from mrpvm.wire import to_wire
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import Detail, all_details


def entry(turn: ExplainabilityTurn, trace: ExecutionTrace, verdict: Verdict) -> dict[str, Any]:
    """Return a turn's entry."""
    return {
        "requestId": turn.request_id,
        "turnIndex": turn.turn_index,
        "kind": turn.kind,
        "status": turn.status,
        "createdAt": turn.created_at,
        "finishedAt": turn.finished_at,
        "durationMs": turn.duration_ms,
        "userMessage": turn.user_message,
        "assistantPreview": turn.assistant_preview,
        "answerStatus": turn.answer_status,
        "answerBasis": turn.answer_basis or None,
        "plannerPlugin": turn.planner_plugin,
        "seedDetectorPlugin": turn.seed_detector_plugin,
        "kbPlugin": turn.kb_plugin,
        "goalSolverPlugin": turn.goal_solver_plugin,
        "deliberationLevel": turn.deliberation_level,
        "model": turn.model,
        "responseDocument": turn.response_document,
        "commandResult": turn.command_result,
        "unitChanges": turn.unit_changes,
        "executionTrace": to_wire(trace),
        "error": turn.error,
        "verdict": {"kind": verdict.kind, "text": verdict.text, "clauses": to_wire(verdict.clauses)},
    }


def details_of(
    turns: Collection[ExplainabilityTurn], shown: Callable[[Detail], dict[str, Any]] | None = None
) -> dict[int, dict[str, Any]]:
    """Return the payloads of each turn under its key, by the refs that the nodes of its graph name.

    Args:
        shown: how a payload is given; as far as it goes inline unless said otherwise.
    """
    details: dict[int, dict[str, Any]] = {turn.pk: {} for turn in turns}
    for turn_pk, detail in all_details(turns):
        details[turn_pk][detail.ref] = (shown or inline_detail)(detail)
    return details


def inline_detail(detail: Detail) -> dict[str, Any]:
    """Return a payload as far as it goes inline: whole, or the first part of its JSON text.

    `text` is that part, null when nothing is missing; `cutBytes` is what storage had to cut, `pruned` says that
    retention removed the payload.
    """
    return _shown(detail, detail.inline_text if detail.is_truncated else None)


def whole_detail(detail: Detail) -> dict[str, Any]:
    """Return a payload as it was stored; `text` only where storage had to cut it, and it is no JSON any more."""
    return _shown(detail, detail.text if detail.payload is None and detail.text else None)


def _shown(detail: Detail, text: str | None) -> dict[str, Any]:
    parts = (detail.payload if text is None else None) or {}
    return {
        "ref": detail.ref,
        **{key: parts.get(key) for key in ("input", "output", "error", "meta")},
        "text": text,
        "truncated": text is not None,
        "size": detail.size,
        "cutBytes": detail.cut_bytes,
        "pruned": detail.is_pruned,
    }

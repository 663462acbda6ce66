"""How the registry's entries leave: one turn with its trace, and the payloads behind the trace's nodes."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from mrpvm.commands.result import CommandEnvelope
from mrpvm.errors import ErrorRecord
from mrpvm.trace.record import ExecutionTrace
from mrpvm.trace.response import ResponseDocument
from mrpvm.trace.verdict import LEADS, Verdict
from mrpvm.values import BASES
from mrpvm.wire import to_wire
from sessions_app.field_notes import OneOf
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import Detail, all_details


class VerdictClause(TypedDict):
    """One reason in a verdict, with the execution, unit or part of the record that it rests on."""

    text: str
    executionId: str
    unitId: str
    aspect: Annotated[str, OneOf(("", "context", "choice", "state", "base"))]


class VerdictObject(TypedDict):
    """How the turn ended and what decided it, in one line."""

    kind: Annotated[str, OneOf(tuple(LEADS))]
    text: str
    clauses: list[VerdictClause]


class TurnEntry(TypedDict):
    """One turn of the registry."""

    requestId: str
    turnIndex: int
    kind: str
    status: Annotated[str, OneOf(("running", "succeeded", "failed", "interrupted", "cancelled"))]
    createdAt: datetime
    finishedAt: datetime | None
    durationMs: int | None
    userMessage: str
    assistantPreview: str
    answerStatus: Annotated[str | None, OneOf(("answered", "no-context", "failed"))]
    answerBasis: Annotated[str | None, OneOf(BASES)]
    plannerPlugin: str | None
    seedDetectorPlugin: str | None
    kbPlugin: str | None
    goalSolverPlugin: str | None
    deliberationLevel: int
    model: str | None
    responseDocument: ResponseDocument | None
    commandResult: CommandEnvelope | None
    unitChanges: Mapping[str, Any]
    executionTrace: ExecutionTrace
    error: ErrorRecord | None
    verdict: VerdictObject


class DetailObject(TypedDict):
    """A node's payload."""

    ref: str
    input: Any
    output: Any
    error: Any
    meta: Any
    text: Annotated[str | None, "The first part of the payload's JSON, when it is too long to come inline."]
    truncated: bool
    size: Annotated[int, "Bytes of the whole payload."]
    cutBytes: Annotated[int, "Bytes that were too many to be stored."]
    pruned: Annotated[bool, "Whether retention has removed the payload."]


def entry(turn: ExplainabilityTurn, trace: ExecutionTrace, verdict: Verdict) -> TurnEntry:
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
    turns: Collection[ExplainabilityTurn], shown: Callable[[Detail], DetailObject] | None = None
) -> dict[int, dict[str, DetailObject]]:
    """Return the payloads of each turn under its key, by the refs that the nodes of its graph name.

    Args:
        shown: how a payload is given; as far as it goes inline unless said otherwise.
    """
    details: dict[int, dict[str, DetailObject]] = {turn.pk: {} for turn in turns}
    for turn_pk, detail in all_details(turns):
        details[turn_pk][detail.ref] = (shown or inline_detail)(detail)
    return details


def inline_detail(detail: Detail) -> DetailObject:
    """Return a payload as far as it goes inline: whole, or the first part of its JSON text.

    `text` is that part, null when nothing is missing; `cutBytes` is what storage had to cut, `pruned` says that
    retention removed the payload.
    """
    return _shown(detail, detail.inline_text if detail.is_truncated else None)


def whole_detail(detail: Detail) -> DetailObject:
    """Return a payload as it was stored; `text` only where storage had to cut it, and it is no JSON any more."""
    return _shown(detail, detail.text if detail.payload is None and detail.text else None)


def _shown(detail: Detail, text: str | None) -> DetailObject:
    parts = (detail.payload if text is None else None) or {}
    return {
        "ref": detail.ref,
        "input": parts.get("input"),
        "output": parts.get("output"),
        "error": parts.get("error"),
        "meta": parts.get("meta"),
        "text": text,
        "truncated": text is not None,
        "size": detail.size,
        "cutBytes": detail.cut_bytes,
        "pruned": detail.is_pruned,
    }

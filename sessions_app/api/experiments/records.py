"""Results of running a recorded turn again as JSON data."""

from typing import Any

from mrpvm.wire import to_wire
from sessions_app.experiments.diagnosis import Diagnosis
from sessions_app.experiments.replay import Divergence, ReplayResult
from sessions_app.experiments.search import Finding
from sessions_app.experiments.trial import TrialOutcome


def replay_record(result: ReplayResult) -> dict[str, Any]:
    """Return a replay's result."""
    return {
        "request_id": result.request_id,
        "result": result.result,
        "divergence": _divergence_record(result.divergence),
        "duration_ms": result.duration_ms,
    }


def _divergence_record(divergence: Divergence | None) -> dict[str, Any] | None:
    if divergence is None:
        return None
    difference = divergence.difference
    return {
        "reason": divergence.reason,
        "detail": divergence.detail,
        "part": difference.part,
        "name": difference.name,
        "frame_id": difference.frame_id,
        "execution_id": difference.execution_id,
        "recorded": difference.recorded,
        "replayed": difference.replayed,
    }


def trial_record(outcome: TrialOutcome) -> dict[str, Any]:
    """Return a trial's outcome."""
    return {
        "changes": outcome.changes.as_record(),
        "status": outcome.status,
        "answer": outcome.answer,
        "answer_status": outcome.answer_status,
        "basis": outcome.basis,
        "cited_unit_ids": list(outcome.cited_unit_ids),
        "plugins": to_wire(outcome.used),
        "has_effect": outcome.has_effect,
        "error": outcome.error,
        "missing_request": outcome.missing_request,
        "duration_ms": outcome.duration_ms,
    }


def diagnosis_record(found: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis."""
    return {
        "result": found.result,
        "findings": [_finding_record(finding) for finding in found.findings],
        "tried": found.tried_count,
        "not_tried": list(found.not_tried),
        "divergence": _divergence_record(found.divergence),
        "duration_ms": found.duration_ms,
    }


def _finding_record(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "text": finding.text,
        "advice": finding.advice,
        "effect": {"before": finding.before, "after": finding.outcome.answer, "meets": finding.meets},
        "trial": trial_record(finding.outcome),
        "links": to_wire(finding.links),
    }

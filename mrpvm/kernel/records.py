"""What a frame writes down about its branches, results and candidates [G-3, G-12]."""

from collections.abc import Sequence
from dataclasses import replace

from mrpvm.kernel.comparison import Closure, Comparison
from mrpvm.kernel.deliberation import Candidate, Deliberation
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.solve import Branch
from mrpvm.values import Intent, Seed


def record_seeds(run: TurnRun, frame: Frame, intents: Sequence[Intent], seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Record the directions of inquiry of a frame's intents; gives them under ids of the frame."""
    refs = {intent.id: intent for intent in intents}
    admitted = tuple(replace(seed, id=frame.control_id("seed")) for seed in seeds)
    for seed in admitted:
        intent = refs[seed.intent_id]
        run.emit(
            "seed.admitted",
            {
                "seedId": seed.id,
                "frameId": frame.id,
                "intentRef": intent.group_number,
                "act": intent.act,
                "mode": seed.mode,
                "action": seed.action,
                "focus": seed.focus,
                "implicit": seed.implicit,
            },
        )
    return admitted


def record_result(run: TurnRun, frame: Frame, branch: Branch, kind: str, status: str) -> str:
    """Record what a branch came to; gives the result's id."""
    result_id, answer = frame.control_id("result"), branch.answer
    run.emit(
        "result.recorded",
        {
            "resultId": result_id,
            "frameId": frame.id,
            "branchId": branch.id,
            "kind": kind,
            "validationStatus": status,
            "grounded": answer is None or all(group.grounded for group in answer.groups),
            "supportIds": sorted({item for group in answer.groups for item in group.cited_unit_ids} if answer else ()),
        },
    )
    return result_id


def record_failure(run: TurnRun, frame: Frame, branch: Branch, reason: str, message: str | None) -> None:
    """Record that a branch failed, and why [K-27]."""
    run.emit(
        "branch.failed",
        {
            "branchId": branch.id,
            "frameId": frame.id,
            "failureId": frame.control_id("failure"),
            "reason": reason,
            "error": message,
            "pluginId": branch.solver_id,
            "evidenceProfileHash": branch.view.hash,
        },
    )


def record_promotion(run: TurnRun, frame: Frame, candidate: Candidate, result_id: str, status: str) -> None:
    """Record that a branch succeeded and its result may be selected [K-35, K-38]."""
    branch = candidate.branch
    run.emit(
        "branch.finished",
        {
            "branchId": branch.id,
            "frameId": frame.id,
            "status": "succeeded",
            "resultId": result_id,
            "validationId": candidate.validation_id,
            "outputPreview": candidate.label,
        },
    )
    run.emit(
        "candidate.promoted",
        {
            "candidateId": candidate.id,
            "frameId": frame.id,
            "branchId": branch.id,
            "branchIds": [branch.id],
            "resultId": result_id,
            "label": candidate.label,
            "familySignature": candidate.family,
            "validationStatus": status,
            "strength": candidate.strength,
            "criteria": candidate.criteria,
        },
    )


def record_comparison(run: TurnRun, frame: Frame, comparison: Comparison) -> str:
    """Record one comparison; gives its id [K-42]."""
    comparison_id = frame.control_id("cmp")
    run.emit(
        "comparison.made",
        {
            "comparisonId": comparison_id,
            "frameId": frame.id,
            "label": f"{comparison.selected.id} against {comparison.other.id}",
            "status": "open" if comparison.is_open else "resolved",
            "candidateIds": [comparison.selected.id, comparison.other.id],
            "criterion": comparison.criterion,
            "summary": comparison.summary,
        },
    )
    return comparison_id


def record_selection(run: TurnRun, frame: Frame, selected: Candidate, state: Deliberation) -> None:
    """Record which candidate gives the frame's answer, and which units it cites.

    Others that reach the floor stay suspended; what does not reach it is superseded [K-25, K-26, K-45].
    """
    others = [item for item in state.candidates if item is not selected]
    suspended = [item.branch.id for item in others if item in state.valid]
    run.emit("candidate.selected", {"candidateId": selected.id, "frameId": frame.id, "suspendedBranchIds": suspended})
    for item in others:
        if item not in state.valid:
            record_failure(run, frame, item.branch, "superseded", None)
    cited = dict.fromkeys(unit_id for group in selected.answer.groups for unit_id in group.cited_unit_ids)
    if cited:
        evidence = selected.branch.view.evidence
        stores = {entry.unit.id: entry.store for item in evidence for entry in item.entries}
        rows = [{"unitId": unit_id, "step": "cited", "store": stores[unit_id]} for unit_id in cited]
        execution_id = selected.branch.execution.id
        run.emit("units.judged", {"frameId": frame.id, "executionId": execution_id, "rows": rows})


def comparison_state(state: Deliberation, closure: Closure, comparisons: list[Comparison]) -> dict[str, object]:
    """Give the frame's comparison state as it stands when the frame closes [K-1, K-44]."""
    return {
        "openComparisons": [item.other.id for item in comparisons if item.is_open],
        "resolvedDifferences": [item.summary for item in comparisons if not item.is_open],
        "openQuestions": list(closure.open_questions),
        "challenges": state.challenges,
        "frontierSize": len(state.candidates),
        "branchFamilies": list(state.covered_families),
    }

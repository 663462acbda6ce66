"""Records the branches, results and candidates of a frame."""

from collections.abc import Sequence
from copy import replace

from mrpvm.kernel.comparison import Closure, Comparison
from mrpvm.kernel.deliberation import AnswerCandidate, Deliberation
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.solve import Branch
from mrpvm.trace.details import FrameState
from mrpvm.trace.events import (
    BranchFailed,
    BranchFinished,
    CandidatePromoted,
    CandidateSelected,
    ComparisonMade,
    ResultRecorded,
    SeedAdmitted,
    UnitsJudged,
)
from mrpvm.values import Answer, Intent, LedgerEntry, Seed


def record_seeds(run: TurnRun, frame: Frame, intents: Sequence[Intent], seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Record the seeds of a frame's intents; return them with ids of the frame."""
    refs = {intent.id: intent for intent in intents}
    admitted = tuple(replace(seed, id=frame.control_id("seed")) for seed in seeds)
    for seed in admitted:
        intent = refs[seed.intent_id]
        run.emit(
            SeedAdmitted(
                seed_id=seed.id,
                frame_id=frame.id,
                intent_ref=intent.group_number,
                act=intent.act,
                mode=seed.mode,
                action=seed.action,
                focus=seed.focus,
                implicit=seed.implicit,
            )
        )
    return admitted


def record_result(run: TurnRun, frame: Frame, branch: Branch, kind: str, status: str) -> str:
    """Record the result of a branch; return its id."""
    result_id, answer = frame.control_id("result"), branch.answer
    groups = answer.groups if answer is not None else ()
    run.emit(
        ResultRecorded(
            result_id=result_id,
            frame_id=frame.id,
            branch_id=branch.id,
            kind=kind,
            validation_status=status,
            grounded=all(group.grounded for group in groups),
            support_ids=tuple(
                sorted({item for group in answer.groups for item in group.cited_unit_ids} if answer else ())
            ),
        )
    )
    return result_id


def record_failure(run: TurnRun, frame: Frame, branch: Branch, reason: str, message: str | None) -> None:
    """Record that a branch failed, with the reason."""
    run.emit(
        BranchFailed(
            branch_id=branch.id,
            frame_id=frame.id,
            failure_id=frame.control_id("failure"),
            reason=reason,
            error=message,
            plugin_id=branch.solver_id,
            evidence_profile_hash=branch.view.hash,
        )
    )


def record_promotion(run: TurnRun, frame: Frame, candidate: AnswerCandidate, result_id: str, status: str) -> None:
    """Record that a branch succeeded and its result may be selected."""
    branch = candidate.branch
    run.emit(
        BranchFinished(
            branch_id=branch.id,
            frame_id=frame.id,
            status="succeeded",
            result_id=result_id,
            validation_id=candidate.validation_id,
            output_preview=candidate.label,
        )
    )
    run.emit(
        CandidatePromoted(
            candidate_id=candidate.id,
            frame_id=frame.id,
            branch_id=branch.id,
            branch_ids=(branch.id,),
            result_id=result_id,
            label=candidate.label,
            family_signature=candidate.family,
            validation_status=status,
            strength=candidate.strength,
            criteria=candidate.criteria,
        )
    )


def record_comparison(run: TurnRun, frame: Frame, comparison: Comparison) -> None:
    run.emit(
        ComparisonMade(
            comparison_id=frame.control_id("cmp"),
            frame_id=frame.id,
            label=f"{comparison.selected.id} against {comparison.other.id}",
            status="open" if comparison.is_open else "resolved",
            candidate_ids=(comparison.selected.id, comparison.other.id),
            criterion=comparison.criterion,
            summary=comparison.summary,
        )
    )


def record_selection(run: TurnRun, frame: Frame, selected: AnswerCandidate, state: Deliberation) -> None:
    """Record the candidate that gives the frame's answer.

    Other candidates that reach the minimum strength stay suspended; the rest are superseded.
    """
    others = [item for item in state.candidates if item is not selected]
    suspended = tuple(item.branch.id for item in others if item in state.valid)
    run.emit(CandidateSelected(candidate_id=selected.id, frame_id=frame.id, suspended_branch_ids=suspended))
    for item in others:
        if item not in state.valid:
            record_failure(run, frame, item.branch, "superseded", None)


def record_citations(run: TurnRun, frame: Frame, branch: Branch, answer: Answer) -> None:
    """Record the units that the frame's answer cites, also where it only quotes the closest passage."""
    cited = dict.fromkeys(unit_id for group in answer.groups for unit_id in group.cited_unit_ids)
    if cited:
        stores = {entry.unit.id: entry.store for item in branch.view.evidence for entry in item.entries}
        # No validator has looked at what a refusal cites.
        known = [unit_id for unit_id in cited if unit_id in stores]
        rows = tuple(LedgerEntry(unit_id=unit_id, step="cited", store=stores[unit_id]) for unit_id in known)
        run.emit(UnitsJudged(frame_id=frame.id, execution_id=branch.execution.id, rows=rows))


def comparison_state(state: Deliberation, closure: Closure, comparisons: list[Comparison]) -> FrameState:
    """Return the frame's comparison state when it closes."""
    return FrameState(
        open_comparisons=tuple(item.other.id for item in comparisons if item.is_open),
        resolved_differences=tuple(item.summary for item in comparisons if not item.is_open),
        open_questions=tuple(closure.open_questions),
        challenges=tuple(state.challenges),
        frontier_size=len(state.candidates),
        branch_families=tuple(state.covered_families),
    )

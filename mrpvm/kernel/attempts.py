"""Answers a frame's intents: planners, evidence views and solvers, tried in the order of [K-21] until one holds."""

from collections import deque
from dataclasses import dataclass, field, replace

from mrpvm.errors import StageExhausted, TurnFailed, ValidationRejected
from mrpvm.kernel.backtracking import FailureMemory
from mrpvm.kernel.calls import Cause, Execution, Program
from mrpvm.kernel.deliberation import criteria_of, strength_of
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.detect import exhausted
from mrpvm.kernel.stages.plan import Planned, plan_again, plan_first, planner_candidates
from mrpvm.kernel.stages.retrieve import EvidenceView, Retrievals, next_view
from mrpvm.kernel.stages.solve import Attempt, Branch, solve
from mrpvm.kernel.stages.validate import Verdict, validate
from mrpvm.values import Answer, Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameResult:
    """What a frame came to; `closure_reason` is one of [K-49]."""

    answer: Answer
    used: Selection
    closure_reason: str
    last: Execution


@dataclass(slots=True, kw_only=True)
class _Search:
    """The frame's search under one planner."""

    planned: Planned
    retrievals: Retrievals
    memory: FailureMemory
    weak: FrameResult | None = None
    rejection: Verdict | None = None
    failed: list[Execution] = field(default_factory=list)
    last: Execution | None = None


def answer_intents(run: TurnRun, frame: Frame, cause: Cause | None) -> Program[FrameResult]:
    """Give the frame's answer: the first that validators accept, else the first honest no-context one [K-12].

    Raises:
        TurnFailed: no planner led to any result; the last planner's error [K-10].
    """
    weak: FrameResult | None = None
    error: TurnFailed | None = None
    memory = FailureMemory()
    tried = planner_candidates(run)
    for planner_id in tried:
        if frame.last_execution_id is not None and planner_id != tried[0]:
            cause = Cause(kind="retry", execution_id=frame.last_execution_id)
        try:
            result = yield from _under_planner(run, frame, planner_id, cause, memory)
        except TurnFailed as failure:
            if run.has_streamed:
                raise
            error = failure
            run.emit(
                "backtrack.taken",
                {"frameId": frame.id, "step": "planner", "from": planner_id, "reason": failure.code},
            )
            continue
        if result.answer.status == "answered":
            return result
        weak = weak or result
    if weak is not None:
        return weak
    raise error or StageExhausted(
        "No planner is registered for this turn.",
        code="PLAN_STAGE_EXHAUSTED",
        details={"stage": "planner", "pluginsTried": list(tried), "diagnostics": []},
    )


def _under_planner(
    run: TurnRun, frame: Frame, planner_id: str, cause: Cause | None, memory: FailureMemory
) -> Program[FrameResult]:
    planned = yield from plan_first(run, frame, planner_id, cause)
    if planned is None:
        raise StageExhausted(f"Planner {planner_id} delivered no plan.", details={"stage": "planner"})
    search = _Search(
        planned=planned,
        retrievals=Retrievals(remaining=deque(planned.plan.kb_plugin_order), slot=frame.next_slot()),
        memory=memory,
    )
    follows = planned.execution.then("flow")
    while search.retrievals.remaining:
        view = yield from next_view(run, frame, search.retrievals, follows)
        if view is None:
            break
        result = yield from _over_view(run, frame, search, view)
        if result is not None:
            return result
        follows = (search.last or view.execution).then("retry")
        if search.retrievals.remaining:
            run.emit(
                "backtrack.taken",
                {"frameId": frame.id, "step": "evidence", "from": view.execution.id, "reason": "no solver held"},
            )
    return _fallback(search)


def _over_view(run: TurnRun, frame: Frame, search: _Search, view: EvidenceView) -> Program[FrameResult | None]:
    """Try the plan's solvers on one view; None when none of them gave an accepted answer."""
    search.planned = yield from plan_again(
        run, frame, search.planned, view.execution, tuple(search.retrievals.summaries), view.guidance
    )
    follows, slot = search.planned.execution.then("flow"), frame.next_slot()
    for number, solver_id in enumerate(search.planned.plan.goal_solver_order, start=1):
        if search.memory.forbids(solver_id, view.hash):
            continue
        attempt = Attempt(
            solver_id=solver_id,
            planner_id=search.planned.plan.planner_plugin_id,
            view=view,
            slot=slot,
            number=number,
            cause=follows,
        )
        branch = yield from solve(run, frame, attempt, tuple(seed.id for seed in frame.seeds))
        result = yield from _settle(run, frame, search, branch)
        if result is not None:
            return result
        search.memory.add(solver_id, view.hash)
        follows = (search.last or branch.execution).then("retry")
    return None


def _settle(run: TurnRun, frame: Frame, search: _Search, branch: Branch) -> Program[FrameResult | None]:
    """Judge a branch: an accepted answer is promoted, a no-context one kept as weak, anything else is a failure."""
    execution, answer = branch.execution, branch.answer
    search.last = execution
    if execution.status == "success" and answer is not None:
        verdict = yield from validate(run, frame, branch, answer)
        search.last = verdict.last or execution
        if verdict.rejected_by is None:
            return _promote(run, frame, search, branch, answer, verdict)
        search.rejection = verdict
        _record_result(run, frame, branch, "answer", "rejected")
        _fail(run, frame, branch, "validation_rejected", verdict.reason)
        return None
    if execution.status == "no-context" and answer is not None and not run.has_streamed:
        _record_result(run, frame, branch, "no-context", "no-context")
        search.weak = search.weak or _result(search, branch, answer, "frontier_exhausted")
        _fail(run, frame, branch, "no-context", None)
        return None
    search.failed.append(execution)
    _fail(run, frame, branch, execution.status, execution.error.message if execution.error else None)
    if run.has_streamed:  # somebody has read the beginning of this answer: no other one may follow it [O-1]
        raise exhausted("goal-solver", [execution])
    return None


def _promote(
    run: TurnRun, frame: Frame, search: _Search, branch: Branch, answer: Answer, verdict: Verdict
) -> FrameResult:
    result_id = _record_result(run, frame, branch, "answer", "accepted" if verdict.accepted_by_all else "unjudged")
    strength = strength_of(answer, branch.view.evidence, verdict.accepted_by_all)
    run.emit(
        "branch.finished",
        {"branchId": branch.id, "frameId": frame.id, "status": "succeeded", "resultId": result_id},
    )
    run.emit(
        "candidate.promoted",
        {
            "candidateId": frame.control_id("cand"),
            "frameId": frame.id,
            "branchId": branch.id,
            "resultId": result_id,
            "label": answer.groups[0].answer_markdown[:80] if answer.groups else "",
            "strength": strength,
            "selected": True,
            "criteria": criteria_of(answer, branch.view.evidence, strength, branch.execution.value.metadata.llm_calls),
        },
    )
    cited = [unit_id for group in answer.groups for unit_id in group.cited_unit_ids]
    if cited:
        stores = {entry.unit.id: entry.store for item in branch.view.evidence for entry in item.entries}
        rows = [{"unitId": unit_id, "step": "cited", "store": stores[unit_id]} for unit_id in dict.fromkeys(cited)]
        run.emit("units.judged", {"frameId": frame.id, "executionId": branch.execution.id, "rows": rows})
    return _result(search, branch, answer, "policy_satisfied")


def _result(search: _Search, branch: Branch, answer: Answer, reason: str) -> FrameResult:
    used = Selection(
        planner=search.planned.plan.planner_plugin_id,
        kb=branch.view.execution.plugin_id,
        goal_solver=branch.solver_id,
    )
    return FrameResult(answer=answer, used=used, closure_reason=reason, last=search.last or branch.execution)


def _record_result(run: TurnRun, frame: Frame, branch: Branch, kind: str, status: str) -> str:
    result_id = frame.control_id("result")
    answer = branch.answer
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


def _fail(run: TurnRun, frame: Frame, branch: Branch, reason: str, message: str | None) -> None:
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


def _fallback(search: _Search) -> FrameResult:
    """Give the weak result that is left, or raise why there is none."""
    if search.weak is not None:
        return replace(search.weak, last=search.last or search.weak.last)
    if search.rejection is not None:
        raise ValidationRejected(
            f"The answer was rejected by {search.rejection.rejected_by}: {search.rejection.reason}",
            details={"stage": "validation", "validator": search.rejection.rejected_by},
        )
    if search.failed:
        raise exhausted("goal-solver", search.failed)
    raise exhausted("kb", search.retrievals.failed)

"""Answers a frame's intents: planners, evidence views and solvers, tried in the planner's order.

The deliberation policy decides how long the search continues once there is an answer.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from mrpvm.conversation.answers import no_context, with_model_failures
from mrpvm.errors import MODEL_FAILURE_CODES, StageExhausted, TurnFailed, ValidationRejected
from mrpvm.kernel.backtracking import FailureMemory, exhausted
from mrpvm.kernel.calls import Execution, Program
from mrpvm.kernel.challenge import challenge_selection
from mrpvm.kernel.children import FrameResult
from mrpvm.kernel.comparison import closure_of, compare, select
from mrpvm.kernel.deliberation import (
    POLICIES,
    AnswerCandidate,
    Deliberation,
    branch_signature,
    criteria_of,
    strength_of,
)
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.records import (
    comparison_state,
    record_citations,
    record_comparison,
    record_failure,
    record_promotion,
    record_result,
    record_selection,
)
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.help import ask_helpers
from mrpvm.kernel.stages.plan import STAGE as PLANNING
from mrpvm.kernel.stages.plan import Planned, plan_again, plan_first, planner_candidates
from mrpvm.kernel.stages.retrieve import EvidenceView, Retrievals, next_view
from mrpvm.kernel.stages.solve import Branch, SolverAttempt, solve
from mrpvm.kernel.stages.validate import ValidationVerdict, validate
from mrpvm.kernel.subtasks import answer_by_subtasks
from mrpvm.trace.events import BacktrackTaken, Cause
from mrpvm.trace.exhaustion import Exhaustion
from mrpvm.values import Answer, Selection
from mrpvm.wire import to_wire


@dataclass(slots=True, kw_only=True)
class FrameSearch:
    """The frame's search so far.

    `weak` is the first refusal of a solver. `wants_split` is true if a solver asked for decomposition, `was_split` if
    the only attempt at it was made; `joined` is its result.
    """

    state: Deliberation
    memory: FailureMemory = field(default_factory=FailureMemory)
    views: dict[str, EvidenceView] = field(default_factory=dict)
    planned: Planned | None = None
    retrievals: Retrievals | None = None
    weak: tuple[Branch, Answer, str] | None = None
    rejection: ValidationVerdict | None = None
    failed: list[Execution] = field(default_factory=list)
    last: Execution | None = None
    wants_split: bool = False
    was_split: bool = False
    joined: FrameResult | None = None

    @property
    def has_answer(self) -> bool:
        """Return whether the frame has a candidate or a joined answer."""
        return bool(self.state.candidates) or self.joined is not None


def answer_intents(run: TurnRun, frame: Frame, cause: Cause | None) -> Program[FrameResult]:
    """Return the frame's answer: the selected candidate, the joined answer of its sub-tasks, or the first refusal.

    Raises:
        TurnFailed: no planner led to a result; it has the error of the last planner that made a plan, if one did.
    """
    search = FrameSearch(state=Deliberation(policy=POLICIES[run.effective_level]))
    error: TurnFailed | None = None
    tried = planner_candidates(run)
    for planner_id in tried:
        if frame.last_execution_id is not None and planner_id != tried[0]:
            cause = Cause(kind="retry", execution_id=frame.last_execution_id)
        try:
            yield from _under_planner(run, frame, search, planner_id, cause)
        except TurnFailed as failure:
            if run.has_streamed:
                raise
            if error is None or failure.details.get("stage") != PLANNING:
                error = failure
            run.emit(BacktrackTaken(frame_id=frame.id, step="planner", tried=planner_id, reason=failure.code))
        if search.has_answer:
            break
    if search.joined is not None:
        return search.joined
    if search.state.candidates or search.weak is not None:
        return (yield from _conclude(run, frame, search))
    raise error or StageExhausted(
        "No planner is registered for this turn.",
        code="PLAN_STAGE_EXHAUSTED",
        details=to_wire(Exhaustion(stage=PLANNING, plugins_tried=tuple(tried))),
    )


def _under_planner(
    run: TurnRun, frame: Frame, search: FrameSearch, planner_id: str, cause: Cause | None
) -> Program[None]:
    """Search by one planner's plans until the policy is satisfied or nothing is left to try.

    Raises:
        TurnFailed: this planner led to no result at all.
    """
    planned = yield from plan_first(run, frame, planner_id, cause)
    untried = [kb for kb in planned.plan.kb_plugin_order if not _is_settled(run, search, search.views.get(kb))]
    retrievals = Retrievals(remaining=deque(untried), slot=frame.next_slot(), views=search.views)
    search.planned, search.retrievals = planned, retrievals
    if search.views and not untried:
        return
    follows = planned.execution.then("flow")
    while retrievals.remaining and search.joined is None and search.state.wants(family=None, llm_calls=0):
        view = yield from next_view(run, frame, retrievals, follows)
        if view is None:
            break
        yield from _over_view(run, frame, search, view)
        follows = (search.last or view.execution).then("retry")
        if retrievals.remaining and not search.has_answer:
            tried = view.execution.id
            run.emit(BacktrackTaken(frame_id=frame.id, step="evidence", tried=tried, reason="no solver held"))
    if not search.has_answer:
        yield from _split_if_wanted(run, frame, search)
    if not search.has_answer and search.weak is None:
        _raise_why(search, retrievals)


def _split_if_wanted(run: TurnRun, frame: Frame, search: FrameSearch) -> Program[None]:
    """Try the sub-tasks when a solver asked for it, or when the planner authorises it after weak results."""
    planned, retrievals, last = search.planned, search.retrievals, search.last
    if search.was_split or planned is None or retrievals is None or last is None:
        return
    cause = last.then("retry")
    if not search.wants_split and search.weak is not None and run.request.pins.goal_solver is None:
        guidance = search.weak[0].view.guidance
        planned = yield from plan_again(run, frame, planned, last, tuple(retrievals.summaries), guidance, "post-solve")
        cause = planned.execution.then("flow")
    if search.wants_split or planned.plan.decompose:
        yield from _split(run, frame, search, planned, cause)


def _split(run: TurnRun, frame: Frame, search: FrameSearch, planned: Planned, cause: Cause) -> Program[None]:
    search.was_split = True
    search.joined = yield from answer_by_subtasks(run, frame, cause, planned.plan.frame_purpose, answer_intents)


def _over_view(run: TurnRun, frame: Frame, search: FrameSearch, view: EvidenceView) -> Program[None]:
    """Try the plan's solvers on one view, as long as the policy wants another alternative."""
    if _is_settled(run, search, view):
        return
    retrievals, planned = search.retrievals, search.planned
    if retrievals is None or planned is None:
        raise ValueError("a view is solved under a plan")
    planned = search.planned = yield from plan_again(
        run, frame, planned, view.execution, tuple(retrievals.summaries), view.guidance
    )
    search.state.views.append(view)
    if planned.plan.decompose and not search.was_split:
        yield from _split(run, frame, search, planned, planned.execution.then("flow"))
        if search.joined is not None:
            return
    follows = planned.execution.then("flow")
    helpers = yield from ask_helpers(run, frame, view, follows)
    slot = frame.next_slot()
    for number, solver_id in enumerate(planned.plan.goal_solver_order, start=1):
        descriptor = run.registry.goal_solver(solver_id).descriptor
        family = branch_signature(frame, view, descriptor)
        if search.memory.forbids(solver_id, view.hash):
            continue
        if not search.state.wants(family=family, llm_calls=descriptor.max_llm_calls):
            continue
        attempt = SolverAttempt(
            solver_id=solver_id,
            planner_id=planned.plan.planner_plugin_id,
            view=view,
            family=family,
            slot=slot,
            number=number,
            cause=follows,
            helpers=helpers,
        )
        branch = yield from solve(run, frame, attempt, tuple(seed.id for seed in frame.seeds))
        if branch.execution.status != "skipped-budget":
            search.state.note_attempt(family)
        search.memory.add(solver_id, view.hash)
        yield from _settle(run, frame, search, branch, family)
        frame.covered_families, frame.suspended_branch_ids = search.state.covered_families, search.state.branch_ids
        follows = (search.last or branch.execution).then("retry")


def _is_settled(run: TurnRun, search: FrameSearch, view: EvidenceView | None) -> bool:
    """Return whether every solver that may run has failed on this evidence."""
    if view is None:
        return False
    pin = run.request.pins.goal_solver
    solvers = [pin] if pin else [item.id for item in run.registry.descriptors("gs-plugin")]
    return bool(solvers) and all(search.memory.forbids(solver_id, view.hash) for solver_id in solvers)


def _settle(run: TurnRun, frame: Frame, search: FrameSearch, branch: Branch, family: str) -> Program[None]:
    """Promote the accepted answer of a branch, keep a refusal as weak, and record anything else as a failure."""
    execution, answer = branch.execution, branch.answer
    search.last = execution
    if execution.status == "success" and answer is not None:
        verdict = yield from validate(run, frame, answer, branch.view.evidence, execution.then("flow"))
        search.last = verdict.last or execution
        if verdict.rejected_by is None:
            _promote(run, frame, search, branch, answer, verdict, family)
            return
        search.rejection = verdict
        search.state.rejections.append(verdict.reason)
        record_result(run, frame, branch, "answer", "rejected")
        record_failure(run, frame, branch, "validation_rejected", verdict.reason)
        return
    if execution.status in ("no-context", "needs-decomposition") and not run.has_streamed:
        search.wants_split |= execution.status == "needs-decomposition"
        record_result(run, frame, branch, "no-context", "no-context")
        if answer is None or execution.status == "needs-decomposition":
            answer = no_context(branch.view.evidence)
        search.weak = search.weak or (branch, answer, _planner_id(search))
        record_failure(run, frame, branch, execution.status, None)
        return
    search.failed.append(execution)
    search.state.out_of_budget |= execution.status == "skipped-budget"
    is_late = execution.error is not None and execution.error.code == "PLUGIN_TIMEOUT"
    if is_late:
        search.memory.rule_out(branch.solver_id)
    reason = "timeout" if is_late else execution.status
    record_failure(run, frame, branch, reason, execution.error.message if execution.error else None)
    if run.has_streamed:  # somebody has read the beginning of this answer: no other one may follow it
        raise exhausted("goal-solver", [execution])


def _promote(
    run: TurnRun,
    frame: Frame,
    search: FrameSearch,
    branch: Branch,
    answer: Answer,
    verdict: ValidationVerdict,
    family: str,
) -> None:
    status = "accepted" if verdict.accepted_by_all else "unjudged"
    result_id = record_result(run, frame, branch, "answer", status)
    strength = strength_of(answer, branch.view.evidence, verdict.accepted_by_all)
    llm_calls = branch.execution.value.metadata.llm_calls
    candidate = AnswerCandidate(
        id=frame.control_id("cand"),
        branch=branch,
        answer=answer,
        planner_id=_planner_id(search),
        family=family,
        validation_id=verdict.last.id if verdict.last else None,
        strength=strength,
        criteria=criteria_of(answer, branch.view.evidence, strength, llm_calls),
    )
    search.state.candidates.append(candidate)
    record_promotion(run, frame, candidate, result_id, status)


def _conclude(run: TurnRun, frame: Frame, search: FrameSearch) -> Program[FrameResult]:
    """Return the frame's result: compare, challenge if the level asks for it, select, and give the closure reason."""
    state, last = search.state, search.last
    comparisons = []
    selected = select(state.valid or state.candidates) if state.candidates else None
    if selected is not None and state.policy.level >= 3:
        last = yield from challenge_selection(run, frame, state, selected, search.retrievals, last)
        selected = select(state.valid or state.candidates) if state.candidates else None
    if selected is not None:
        comparisons = compare(selected, state.candidates, state.policy.max_comparisons)
        for comparison in comparisons:
            record_comparison(run, frame, comparison)
        record_selection(run, frame, selected, state)
        branch, answer, planner_id = selected.branch, selected.answer, selected.planner_id
    elif search.weak is not None:
        branch, answer, planner_id = search.weak
        answer = with_model_failures(answer, _model_failures(search.failed))
    else:
        raise ValidationRejected("Every answer was rejected.", details={"stage": "validation"})
    record_citations(run, frame, branch, answer)
    closure = closure_of(state, selected, comparisons)
    return FrameResult(
        answer=answer,
        used=Selection(planner=planner_id, kb=branch.view.execution.plugin_id, goal_solver=branch.solver_id),
        closure_reason=closure.reason,
        last=last or branch.execution,
        state=comparison_state(state, closure, comparisons),
    )


def _model_failures(failed: Sequence[Execution]) -> list[str]:
    """Return what the models said that were asked for an answer and gave none."""
    errors = (execution.error for execution in failed)
    return [error.message for error in errors if error is not None and error.code in MODEL_FAILURE_CODES]


def _planner_id(search: FrameSearch) -> str:
    return search.planned.plan.planner_plugin_id if search.planned else ""


def _raise_why(search: FrameSearch, retrievals: Retrievals) -> None:
    """Raise the error of a planner that led to no result."""
    if search.rejection is not None:
        raise ValidationRejected(
            f"The answer was rejected by {search.rejection.rejected_by}: {search.rejection.reason}",
            details={"stage": "validation", "validator": search.rejection.rejected_by},
        )
    if search.failed:
        raise exhausted("goal-solver", search.failed)
    raise exhausted("kb", retrievals.failed)

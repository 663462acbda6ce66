"""Solve: a branch is one solver on one evidence view."""

from functools import partial

from msgspec import Struct

from mrpvm.contracts import HelperOutput, PluginError, Solution, SolveInput
from mrpvm.kernel.calls import Call, Execution, Program, Writes, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.retrieve import EvidenceView
from mrpvm.llm.storable import is_storable
from mrpvm.trace.events import BranchStarted, Cause
from mrpvm.values import Answer, Selection

STAGE = "goal-solver"


class Branch(Struct, frozen=True, kw_only=True):
    """One recorded attempt."""

    id: str
    solver_id: str
    view: EvidenceView
    execution: Execution

    @property
    def answer(self) -> Answer | None:
        """Return the solver's answer, if it returned one."""
        return self.execution.value.answer if self.execution.value is not None else None


class SolverAttempt(Struct, frozen=True, kw_only=True):
    """An attempt of a solver: its view, place and cause."""

    solver_id: str
    planner_id: str
    view: EvidenceView
    family: str
    slot: int
    number: int
    cause: Cause
    helpers: tuple[HelperOutput, ...] = ()


def solve(run: TurnRun, frame: Frame, attempt: SolverAttempt, seed_ids: tuple[str, ...]) -> Program[Branch]:
    """Return the branch of one attempt, recorded from its start to the solver's return."""
    solver = run.registry.goal_solver(attempt.solver_id)
    request = SolveInput(
        message=run.request.message,
        evidence=attempt.view.evidence,
        history=run.request.history,
        resolves_references=run.request.resolves_references,
        system_prompt=run.request.system_prompt,
        requested_model=run.request.requested_model,
        session_model=run.request.session_model,
        grounding=run.request.grounding,
        quotes=run.request.quotes,
        helpers=attempt.helpers,
    )
    branch_id = frame.control_id("branch")

    run.emit(
        BranchStarted(
            branch_id=branch_id,
            frame_id=frame.id,
            execution_id=frame.execution_id(attempt.slot, attempt.number),
            intent_refs=tuple(intent.group_number for intent in frame.intents),
            seed_ids=seed_ids,
            plugin_id=attempt.solver_id,
            kb_plugin_id=attempt.view.execution.plugin_id,
            planner_plugin_id=attempt.planner_id,
            evidence_profile_hash=attempt.view.hash,
            family_signature=attempt.family,
        )
    )
    execution: Execution = yield from call_plugin(
        run,
        frame,
        Call(
            stage=STAGE, plugin=solver, slot=attempt.slot, attempt=attempt.number, given=request,
            invoke=partial(solver.solve, request), cause=attempt.cause, judge=partial(_complaint, frame),
            writes=_writes(run, frame, attempt),
        ),
    )  # fmt: skip
    return Branch(id=branch_id, solver_id=attempt.solver_id, view=attempt.view, execution=execution)


def _writes(run: TurnRun, frame: Frame, attempt: SolverAttempt) -> Writes | None:
    """Return the labels of this attempt's deltas, None without a streaming client or with several texts.

    The deltas are drafts unless the text will certainly be the turn's answer: in the root frame, without a validator
    and without a competing candidate.
    """
    if not run.request.is_streamed or len(frame.intents) != 1:
        return None
    is_final = frame.parent is None and not run.usable("val-plugin") and run.effective_level == 0
    detector = next(item.plugin_id for item in run.stages if item.stage == "seed-detector" and item.status == "success")
    used = Selection(
        planner=attempt.planner_id,
        seed_detector=detector,
        kb=attempt.view.execution.plugin_id,
        goal_solver=attempt.solver_id,
    )
    return Writes(plugin_id=attempt.solver_id, is_draft=not is_final, used=used)


def _complaint(frame: Frame, solution: Solution) -> PluginError | None:
    """Return what is wrong with a solution.

    Its groups are not the intents, success comes without an answer, a group without text, or a text cannot be stored.
    """
    if solution.status == "needs-decomposition":
        return None
    refs = [group.intent_ref for group in solution.answer.groups] if solution.answer else []
    expected = [intent.group_number for intent in frame.intents]
    if refs != expected:
        return _violation(f"The answer has groups {refs} where {expected} were asked for.")
    if solution.answer is not None and solution.status == "success" and solution.answer.status != "answered":
        return _violation("The solver reports success but answered no group.")
    groups = solution.answer.groups if solution.answer else ()
    if empty := [group.intent_ref for group in groups if not group.answer_markdown.strip()]:
        return _violation(f"The answer has no text in the groups {empty}.")
    written = [[group.answer_markdown, group.reason, *group.warnings, group.plugin_output] for group in groups]
    if not is_storable(written):
        return _violation("The answer holds a NUL or half of a surrogate pair: no text that could be stored.")
    return None


def _violation(message: str) -> PluginError:
    return PluginError(code="PLUGIN_CONTRACT_VIOLATION", message=message)

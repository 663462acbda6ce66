"""The machine, which runs turns."""

import logging
from collections.abc import Sequence
from copy import replace
from typing import Literal

from msgspec import structs

from mrpvm.contracts import Clock
from mrpvm.conversation.answers import answer_text, with_idle_intents
from mrpvm.english.words.text import words
from mrpvm.errors import EngineTimeout, MRPError, TurnCancelled
from mrpvm.kernel.attempts import answer_intents
from mrpvm.kernel.budget import Budget
from mrpvm.kernel.calls import Execution, Program, Replies, unknown_reply
from mrpvm.kernel.children import FrameResult, resolve_intents
from mrpvm.kernel.deliberation import POLICIES
from mrpvm.kernel.fan_out import fan_out, has_independent_intents
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.prediction import Prediction, RefusingModel, predict
from mrpvm.kernel.records import record_seeds
from mrpvm.kernel.run import Tick, TurnRun
from mrpvm.kernel.scheduler import Scheduler
from mrpvm.kernel.stages.detect import detect, detector_candidates
from mrpvm.kernel.stages.plan import planner_candidates
from mrpvm.kernel.workers import Workers
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.port import ModelSource
from mrpvm.registry import Registry
from mrpvm.trace.events import Emit, Event, PolicySet, SkillConsidered, SkillInvoked, TurnFinished, TurnStarted
from mrpvm.trace.head import INPUT_MESSAGE_CHARS
from mrpvm.values import Intent, Selection, TurnOutcome, TurnRequest

logger = logging.getLogger(__name__)


class Machine:
    """Runs turns with the plugins of a registry; keeps no state of conversations."""

    def __init__(self, registry: Registry, workers: Workers, clock: Clock, model: ModelSource) -> None:
        self.registry = registry
        self._workers = workers
        self.clock = clock
        self._model = model

    def run_turn(
        self,
        request: TurnRequest,
        knowledge: TurnKnowledge,
        emit: Emit,
        tick: Tick = lambda: None,
        model: ModelSource | None = None,
        replies: Replies = unknown_reply,
    ) -> TurnOutcome:
        """Answer one message.

        1. open the root frame and set its policy
        2. detect the questions and statements of the message, and stage the stated units
        3. several independent questions: one parallel child frame for each
           one question: plan, retrieve, plan again, solve, validate, with backtracking
        4. close the frame and return the outcome, also after a failure

        Args:
            emit: called with the machine's events, on the calling thread.
            tick: called while the turn waits; may raise `TurnCancelled`.
            model: this turn's snapshot of the model roles; the machine's own if None.
            replies: recorded replies; the calls that they belong to are not made again.
        """
        budget = Budget(self.clock, request.limits, request.spent_ms, request.spent_llm_calls)
        run = TurnRun(request, self.registry, budget, knowledge, model or self._model, emit)
        _start(run)
        try:
            detected, frame, result = Scheduler(run, self._workers, tick, replies).run(_answer(run))
        except MRPError as error:
            return _failed(run, error)
        except Exception as error:
            logger.exception("turn %s failed on a defect", request.request_id)
            return _failed(run, MRPError(f"The server has a defect ({type(error).__name__}); the turn was undone."))
        return _succeeded(run, detected, frame, result)

    def predict(
        self,
        request: TurnRequest,
        knowledge: TurnKnowledge,
        tick: Tick = lambda: None,
        model: ModelSource | None = None,
    ) -> Prediction:
        """Return what a turn with this request would try; no model is called."""
        events: list[Event] = []
        budget = Budget(self.clock, request.limits)
        run = TurnRun(request, self.registry, budget, knowledge, RefusingModel(model or self._model), events.append)
        _start(run)
        try:
            Scheduler(run, self._workers, tick).run(predict(run))
        except MRPError as error:
            return Prediction(events=tuple(events), error=error.message)
        return Prediction(events=tuple(events))


def _start(run: TurnRun) -> None:
    """Record the turn as it was asked for."""
    request = run.request
    run.emit(
        TurnStarted(
            request_id=request.request_id,
            session_id=request.session.session_id,
            started_at=run.budget.started_at,
            input_message=request.message[:INPUT_MESSAGE_CHARS],
            deliberation_level=request.deliberation_level,
            effective_level=run.effective_level,
            grounding=request.grounding,
            pins=request.pins,
            preferences=request.preferences,
            planner_candidates=planner_candidates(run),
            seed_detector_candidates=detector_candidates(run),
        )
    )


def _answer(run: TurnRun) -> Program[tuple[Execution, Frame, FrameResult]]:
    """Return the detection of the message, the closed root frame and its result."""
    frame = Frame(calls=run.budget.calls)
    run.open_frame(frame, None, {"message": run.request.message, "systemPrompt": run.request.system_prompt})
    _record_skill(run, frame)
    policy = structs.asdict(POLICIES[run.effective_level])
    run.emit(PolicySet(policy_id=frame.control_id("policy"), frame_id=frame.id, **policy))
    detected, admitted = yield from detect(run, frame, run.request.message)
    frame.intents, frame.goals = admitted.runnable, admitted.goals
    frame.seeds = record_seeds(run, frame, admitted.intents, admitted.seeds)
    if admitted.units:
        run.stage_units(frame, detected.id, admitted.units)
    if has_independent_intents(frame) and run.may_open_child(frame):
        result = yield from fan_out(run, frame, detected)
    else:
        resolve_intents(frame)
        result = yield from answer_intents(run, frame, detected.then("flow"))
    if len(frame.intents) < len(admitted.intents):
        result = replace(result, answer=with_idle_intents(result.answer, admitted.intents))
    run.close_frame(frame, "succeeded", result.closure_reason, result.answer, result.state)
    return detected, frame, result


def _record_skill(run: TurnRun, frame: Frame) -> None:
    """Record which skills a model was offered for the turn, and which one guides it."""
    offer, skill = run.request.skill_choice, run.request.skill
    if offer is not None:
        run.emit(
            SkillConsidered(
                frame_id=frame.id,
                offered=offer.offered,
                left_out_count=offer.left_out_count,
                skill=offer.skill,
                reason=offer.reason,
                problem=offer.problem,
            )
        )
    if skill is not None:
        run.emit(
            SkillInvoked(frame_id=frame.id, name=skill.name, source=skill.source, mode=skill.mode, reason=skill.reason)
        )


def _succeeded(run: TurnRun, detected: Execution, frame: Frame, result: FrameResult) -> TurnOutcome:
    answer = result.answer
    run.emit(TurnFinished(status="succeeded", answer_status=answer.status, answer_basis=answer.basis))
    return TurnOutcome(
        status="succeeded",
        answer_status=answer.status,
        answer=answer,
        answer_text=answer_text(answer),
        staged_units=run.staged_units,
        used=replace(result.used, seed_detector=detected.plugin_id),
        stages=run.stages_in_order,
        read_as=_read_as(run.request.message, frame.intents),
    )


def _read_as(message: str, intents: Sequence[Intent]) -> tuple[str, ...]:
    """Return the intents to which the detector added terms from the conversation."""
    if len(intents) == 1 and not set(words(message)).issuperset(words(intents[0].target)):
        return (intents[0].target,)
    added = (item for item in intents if item.context and item.context.casefold() not in message.casefold())
    return tuple(f"{item.target} ({item.context})" for item in added)


def _failed(run: TurnRun, error: MRPError) -> TurnOutcome:
    status: Literal["cancelled", "failed"] = "cancelled" if isinstance(error, TurnCancelled) else "failed"
    record = error.as_record()
    reason = "budget_exhausted" if isinstance(error, EngineTimeout | TurnCancelled) else "frontier_exhausted"
    run.abandon(record, reason)
    run.emit(TurnFinished(status=status, answer_status="failed", error=record))
    return TurnOutcome(
        status=status,
        answer_status="failed",
        answer=None,
        answer_text="",
        staged_units=run.staged_units,
        used=_tried(run),
        stages=run.stages_in_order,
        error=record,
    )


def _tried(run: TurnRun) -> Selection:
    """Return the plugins that were pinned or last tried."""
    last = {record.stage: record.plugin_id for record in run.stages_in_order}
    pins = run.request.pins
    return Selection(
        planner=pins.planner or last.get("planner"),
        seed_detector=pins.seed_detector or last.get("seed-detector"),
        kb=pins.kb or last.get("kb"),
        goal_solver=pins.goal_solver or last.get("goal-solver"),
    )

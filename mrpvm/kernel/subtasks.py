"""Answers a task by sub-tasks: each runs in a child frame, and their answers are joined."""

from collections.abc import Sequence
from copy import replace

from msgspec import Struct

from mrpvm.conversation.answers import join_parts
from mrpvm.english.words.text import unique_terms
from mrpvm.errors import MRPError, StageExhausted
from mrpvm.kernel.admission import Admitted, implicit_seed
from mrpvm.kernel.calls import Program
from mrpvm.kernel.children import AnswerIntents, FrameResult, most_used, run_children
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.records import record_seeds
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.detect import detect
from mrpvm.kernel.stages.validate import validate
from mrpvm.trace.events import Cause
from mrpvm.values import Answer, Evidence, EvidenceEntry, Intent, Seed

PURPOSES = ("subtask-decomposition", "strategy-guidance")
"""The purposes for which a planner may open child frames; the first is the default."""


class _Subtasks(Struct, frozen=True, kw_only=True):
    """The sub-tasks of a frame's intents under the intents' group numbers, and the execution that led to them."""

    intents: Sequence[Intent]
    seeds: Sequence[Seed]
    opener_id: str


def answer_by_subtasks(
    run: TurnRun, frame: Frame, cause: Cause, purpose: str | None, answer_intents: AnswerIntents
) -> Program[FrameResult | None]:
    """Return the frame's answer, joined from the answers of its sub-tasks in order.

    Return None if the depth limit is reached, splitting makes no progress, or the sub-tasks give no answer that
    validators accept.
    """
    if not run.may_open_child(frame):
        return None
    subtasks = yield from _subtasks(run, frame, cause)
    if subtasks is None:
        return None
    seeds = record_seeds(run, frame, subtasks.intents, subtasks.seeds)
    children = [
        frame.child(
            purpose if purpose in PURPOSES else PURPOSES[0],
            (intent,),
            tuple(seed for seed in seeds if seed.intent_id == intent.id),
        )
        for intent in subtasks.intents
    ]
    results: list[FrameResult | MRPError] = []
    for side_by_side in [[child] for child in children] if any(seed.split_from for seed in seeds) else [children]:
        results += yield from run_children(run, side_by_side, subtasks.opener_id, answer_intents)
    good = [item for item in results if isinstance(item, FrameResult)]
    if not any(item.answer.status == "answered" for item in good):
        return None
    return (yield from _joined(run, frame, subtasks.intents, results, good))


def _joined(
    run: TurnRun,
    frame: Frame,
    parts: Sequence[Intent],
    results: Sequence[FrameResult | MRPError],
    good: Sequence[FrameResult],
) -> Program[FrameResult | None]:
    """Return the joined result, unless a validator rejects it as an answer to the whole task."""
    outcomes = list(zip(parts, results, strict=True))
    answer = Answer(
        groups=tuple(
            join_parts(
                intent.group_number,
                intent.act,
                intent.target,
                [
                    (part.target, item.message if isinstance(item, MRPError) else item.answer.groups[0])
                    for part, item in outcomes
                    if part.group_number == intent.group_number
                ],
            )
            for intent in frame.intents
        )
    )
    before = frame.last_execution_id
    cause = Cause(kind="flow", execution_id=before) if before is not None else None
    verdict = yield from validate(run, frame, answer, _evidence(frame, answer), cause)
    if verdict.rejected_by is not None:
        return None
    return FrameResult(
        answer=answer,
        used=most_used(good),
        closure_reason="parallel_intent_aggregation",
        last=verdict.last or good[-1].last,
    )


def _evidence(frame: Frame, answer: Answer) -> tuple[Evidence, ...]:
    """Return the evidence of the joined answer as evidence of the frame's own intents."""

    def of(entries: Sequence[EvidenceEntry], *stores: str) -> tuple[EvidenceEntry, ...]:
        return tuple(entry for entry in entries if entry.store in stores)

    return tuple(
        Evidence(
            intent=intent,
            decomposed=decomposed,
            profile=profile,
            current_turn_units=of(group.evidence, "current-turn"),
            session_units=of(group.evidence, "session"),
            kb_units=of(group.evidence, "draft", "kb"),
        )
        for intent, decomposed, profile, group in zip(
            frame.intents, frame.decomposed, frame.profiles, answer.groups, strict=True
        )
    )


def _subtasks(run: TurnRun, frame: Frame, cause: Cause) -> Program[_Subtasks | None]:
    """Return the admitted subproblems of the frame's intents, or the intents that a detector finds in their texts."""
    intents: list[Intent] = []
    seeds: list[Seed] = []
    opener_id = cause.execution_id
    for intent in frame.intents:
        admitted = _admitted_subproblems(frame, intent)
        if admitted is None:
            try:
                detected, admitted = yield from detect(run, frame, intent.target, cause)
            except StageExhausted:
                return None
            opener_id, cause = detected.id, detected.then("flow")
            known = {unit.hash for unit in frame.units}
            if fresh := tuple(unit for unit in admitted.units if unit.hash not in known):
                run.stage_units(frame, detected.id, fresh)
        intents += [_under(intent, part) for part in admitted.runnable]
        seeds += [replace(seed, intent_id=f"{intent.id}.{seed.intent_id}") for seed in admitted.seeds]
    if [unique_terms(part.target) for part in intents] == [unique_terms(intent.target) for intent in frame.intents]:
        return None
    return _Subtasks(intents=intents, seeds=seeds, opener_id=opener_id)


def _under(intent: Intent, part: Intent) -> Intent:
    """Return a part as a separate task whose answer counts for the intent."""
    return replace(part, id=f"{intent.id}.{part.id}", group_number=intent.group_number)


def _admitted_subproblems(frame: Frame, intent: Intent) -> Admitted | None:
    """Return the intent's subproblems as tasks with the same expected output; None if it has none."""
    goals = frame.goals.get(intent.id, ())
    parts = tuple(
        replace(intent, id=str(number), target=goal, criterion=None, evidence=None)
        for number, goal in enumerate(goals, start=1)
    )
    return Admitted(intents=parts, seeds=tuple(implicit_seed(part) for part in parts)) if parts else None

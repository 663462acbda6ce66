"""Independent intents run in child frames side by side, and their groups come back in intent order [K-15, K-16]."""

from dataclasses import replace

from mrpvm.errors import MODEL_ERROR_CODES, MRPError, StageExhausted
from mrpvm.kernel.attempts import FrameResult, answer_intents
from mrpvm.kernel.calls import Execution, Fork, Program
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.values import Answer, AnswerGroup, Intent, Selection
from mrpvm.wire import to_wire


def independent_intents(frame: Frame) -> bool:
    """Tell whether the frame's intents may run apart: two or more, no seed split from another [K-15].

    Read from admitted control objects alone, never from the message's text.
    """
    return len(frame.intents) >= 2 and not any(seed.split_from for seed in frame.seeds)


def resolve_intents(frame: Frame) -> None:
    """Fill in the decomposed intents and the context profiles that retrieval works from [I-6]."""
    frame.decomposed = tuple(decompose(intent) for intent in frame.intents)
    frame.profiles = tuple(profile_for(item) for item in frame.decomposed)


def fan_out(run: TurnRun, frame: Frame, detected: Execution) -> Program[FrameResult]:
    """Give the joined answer of one child frame an intent; a failed child becomes a `plugin-error` group [K-16].

    Raises:
        StageExhausted: no child gave an answered or no-context group.
    """
    children = [
        frame.child("parallel-intent", (intent,), tuple(seed for seed in frame.seeds if seed.intent_id == intent.id))
        for intent in frame.intents
    ]
    results: list[FrameResult | MRPError] = yield Fork(tuple(_child(run, child, detected) for child in children))
    good = [item for item in results if isinstance(item, FrameResult)]
    if not good:
        codes = [item.code for item in results if isinstance(item, MRPError)]
        raise StageExhausted(
            "None of the questions could be worked on.",
            code=next((code for code in codes if code in MODEL_ERROR_CODES), None),
            details={"stage": "goal-solver", "diagnostics": [str(item) for item in results]},
        )
    groups = tuple(
        _error_group(intent, item) if isinstance(item, MRPError) else item.answer.groups[0]
        for intent, item in zip(frame.intents, results, strict=True)
    )
    return FrameResult(
        answer=Answer(groups=groups),
        used=_most_used(good),
        closure_reason="parallel_intent_aggregation",
        last=good[-1].last,
    )


def _child(run: TurnRun, child: Frame, detected: Execution) -> Program[FrameResult]:
    run.open_frame(child, detected.id, {"intents": to_wire(child.intents)})
    resolve_intents(child)
    try:
        result = yield from answer_intents(run, child, None)
    except MRPError as error:
        run.close_frame(child, "failed", "frontier_exhausted", {"error": error.as_record()})
        raise
    run.close_frame(child, "succeeded", result.closure_reason, result.answer, result.state)
    return result


def _error_group(intent: Intent, error: MRPError) -> AnswerGroup:
    return AnswerGroup(
        intent_ref=intent.group_number,
        act=intent.act,
        intent=intent.target,
        status="plugin-error",
        answer_markdown=f"This question could not be worked on: {error.message}",
        warnings=(error.message,),
    )


def _most_used(results: list[FrameResult]) -> Selection:
    """Give the plugins that most children used; ties go to the alphabetically first id [S-25]."""

    def most(ids: list[str | None]) -> str | None:
        known = [item for item in ids if item is not None]
        return min(known, key=lambda item: (-known.count(item), item), default=None)

    first = results[0].used
    return replace(
        first,
        planner=most([item.used.planner for item in results]),
        kb=most([item.used.kb for item in results]),
        goal_solver=most([item.used.goal_solver for item in results]),
    )

"""Runs independent intents in parallel child frames and returns their groups in the order of the intents."""

from collections.abc import Sequence

from mrpvm.errors import MODEL_ERROR_CODES, MRPError, StageExhausted
from mrpvm.kernel.attempts import answer_intents
from mrpvm.kernel.calls import Execution, Program
from mrpvm.kernel.children import FrameResult, most_used, run_children
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.trace.exhaustion import Exhaustion, FailedAttempt
from mrpvm.values import Answer, AnswerGroup, Intent
from mrpvm.wire import from_wire, to_wire


def has_independent_intents(frame: Frame) -> bool:
    """Return whether the frame's intents may run separately: two or more, and no seed was split from another.

    Only admitted control objects decide, never the text of the message.
    """
    return len(frame.intents) >= 2 and not any(seed.split_from for seed in frame.seeds)


def fan_out(run: TurnRun, frame: Frame, detected: Execution) -> Program[FrameResult]:
    """Return the joined answer of one child frame for each intent; a failed child gives a `plugin-error` group.

    Raises:
        StageExhausted: no child returned an answered or no-context group.
    """
    children = [
        frame.child("parallel-intent", (intent,), tuple(seed for seed in frame.seeds if seed.intent_id == intent.id))
        for intent in frame.intents
    ]
    results = yield from run_children(run, children, detected.id, answer_intents)
    good = [item for item in results if isinstance(item, FrameResult)]
    if not good:
        raise _all_failed([item for item in results if isinstance(item, MRPError)])
    groups = tuple(
        _error_group(intent, item) if isinstance(item, MRPError) else item.answer.groups[0]
        for intent, item in zip(frame.intents, results, strict=True)
    )
    return FrameResult(
        answer=Answer(groups=groups),
        used=most_used(good),
        closure_reason="parallel_intent_aggregation",
        last=good[-1].last,
    )


def _all_failed(errors: Sequence[MRPError]) -> StageExhausted:
    """Return the error of a frame whose children all failed, with the plugins that they tried."""
    tried = (plugin_id for error in errors for plugin_id in from_wire(Exhaustion, error.details).plugins_tried)
    return StageExhausted(
        "None of the questions could be worked on.",
        code=next((error.code for error in errors if error.code in MODEL_ERROR_CODES), None),
        details=to_wire(
            Exhaustion(
                stage="goal-solver",
                plugins_tried=tuple(dict.fromkeys(tried)),
                diagnostics=tuple(FailedAttempt(code=error.code, message=error.message) for error in errors),
            )
        ),
    )


def _error_group(intent: Intent, error: MRPError) -> AnswerGroup:
    return AnswerGroup(
        intent_ref=intent.group_number,
        act=intent.act,
        intent=intent.target,
        status="plugin-error",
        answer_markdown=f"This question could not be worked on: {error.message}",
        warnings=(error.message,),
    )

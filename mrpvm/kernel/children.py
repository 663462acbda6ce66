"""Opens child frames, runs them in parallel and closes them, whatever their results."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from mrpvm.english.questions.requests import request_of
from mrpvm.errors import MRPError
from mrpvm.kernel.calls import Execution, Fork, Program
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.trace.details import NO_STATE, FrameState
from mrpvm.trace.events import Cause
from mrpvm.values import Answer, DecomposedIntent, Selection


class FrameResult(Struct, frozen=True, kw_only=True):
    """The result of a frame: its closure reason, and its comparison state in `state`."""

    answer: Answer
    used: Selection
    closure_reason: str
    last: Execution
    state: FrameState = NO_STATE


type AnswerIntents = Callable[[TurnRun, Frame, Cause | None], Program[FrameResult]]
"""Returns the result of a frame for its intents."""


_RESULTS_TO_COMPOSE = 40
"""The number of results for a request that several sentences answer together."""


def resolve_intents(frame: Frame) -> None:
    """Set the decomposed intents and the context profiles that retrieval uses."""
    frame.decomposed = tuple(decompose(intent) for intent in frame.intents)
    frame.profiles = tuple(profile_for(item, max_results=_results_to_compose(item)) for item in frame.decomposed)


def _results_to_compose(decomposed: DecomposedIntent) -> int | None:
    requested = request_of(decomposed.intent)
    return _RESULTS_TO_COMPOSE if requested is not None and requested.takes_several else None


def run_children(
    run: TurnRun, children: Sequence[Frame], opener_id: str, answer_intents: AnswerIntents
) -> Program[list[FrameResult | MRPError]]:
    """Return each child's result or error, in the order of the children.

    They divide the remaining model calls of their parent, so that it does not matter which one is faster.
    """
    if len(children) > 1:
        for child, share in zip(children, children[0].calls.shares(len(children)), strict=True):
            child.calls = share
    results: list[FrameResult | MRPError] = yield Fork(
        tuple(_child(run, child, opener_id, answer_intents) for child in children)
    )
    return results


def _child(run: TurnRun, child: Frame, opener_id: str, answer_intents: AnswerIntents) -> Program[FrameResult]:
    run.open_frame(child, opener_id, {"intents": child.intents})
    resolve_intents(child)
    try:
        result = yield from answer_intents(run, child, None)
    except MRPError as error:
        run.fail_frame(child, "frontier_exhausted", error.as_record())
        raise
    run.close_frame(child, "succeeded", result.closure_reason, result.answer, result.state)
    return result


def most_used(results: Sequence[FrameResult]) -> Selection:
    """Return the plugins that most frames used; of several the alphabetically first id."""

    def most(ids: list[str | None]) -> str | None:
        known = [item for item in ids if item is not None]
        return min(known, key=lambda item: (-known.count(item), item), default=None)

    return Selection(
        planner=most([item.used.planner for item in results]),
        kb=most([item.used.kb for item in results]),
        goal_solver=most([item.used.goal_solver for item in results]),
    )

"""Predicts a turn up to the call of a solver, without models and without a record.

A plugin that needs a model is ranked but not run; a message with several questions is planned as a whole.
"""

from collections import deque
from contextlib import suppress

from msgspec import Struct

from mrpvm.errors import StageExhausted
from mrpvm.kernel.calls import Program
from mrpvm.kernel.children import resolve_intents
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.detect import detect
from mrpvm.kernel.stages.plan import plan_again, plan_first, planner_candidates
from mrpvm.kernel.stages.retrieve import Retrievals, next_view
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import CallScope, LanguageModel, ModelSource
from mrpvm.trace.events import Event


class Prediction(Struct, frozen=True, kw_only=True):
    """A prediction: the events of the steps that ran, as in a turn, and the error that stopped them."""

    events: tuple[Event, ...]
    error: str = ""


class RefusingModel:
    """A model for ranking plugins: it reports whether a model is configured, and refuses every call."""

    def __init__(self, model: ModelSource) -> None:
        self.available = model.available

    def bind(self, scope: CallScope) -> LanguageModel:
        """Return a refusing model."""
        return AbsentModel()


def predict(run: TurnRun) -> Program[None]:
    """Detect, plan, retrieve, plan again."""
    frame = Frame(calls=run.budget.calls)
    run.open_frame(frame, None, {"message": run.request.message})
    detected, admitted = yield from detect(run, frame, run.request.message)
    frame.intents, frame.goals = admitted.runnable, admitted.goals
    frame.seeds, frame.units = admitted.seeds, admitted.units
    resolve_intents(frame)
    for planner_id in planner_candidates(run):
        with suppress(StageExhausted):
            planned = yield from plan_first(run, frame, planner_id, detected.then("flow"))
            break
    else:
        return
    retrievals = Retrievals(remaining=deque(planned.plan.kb_plugin_order), slot=frame.next_slot())
    view = yield from next_view(run, frame, retrievals, planned.execution.then("flow"))
    if view is not None:
        yield from plan_again(run, frame, planned, view.execution, tuple(retrievals.summaries), view.guidance)

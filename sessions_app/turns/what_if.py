"""What would be chosen if: detector, planner and retriever run as a turn runs them, and nothing is written [PL-17].

The same kernel steps over the same request, up to the moment a solver would be called. Events go into a list, no turn
takes the session's slot, and no model is called: a plugin that needs one is ranked and not run. It takes a place among
the turns that run at once, for it asks as much of the machine as their beginning does.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from mrpvm.conversation.asking import UnaskedModel
from mrpvm.conversation.preparation import prepare_turn
from mrpvm.errors import MRPError
from mrpvm.kernel.budget import Budget
from mrpvm.kernel.calls import Program
from mrpvm.kernel.children import resolve_intents
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.scheduler import Scheduler
from mrpvm.kernel.stages.detect import detect, detector_candidates
from mrpvm.kernel.stages.plan import Planned, plan_again, plan_first, planner_candidates
from mrpvm.kernel.stages.retrieve import Retrievals, next_view
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import CallScope, LanguageModel
from mrpvm.registry import installed
from mrpvm.trace.events import Event
from mrpvm.trace.graph import Record
from mrpvm.values import Selection
from mrpvm.wire import to_wire
from sessions_app import shutdown
from sessions_app.language_model import is_configured
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.plugin_threads import workers
from sessions_app.queries.flags import flags_of
from sessions_app.search.knowledge import SessionKnowledge
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import SystemClock
from sessions_app.turns.prepare import check_call
from sessions_app.turns.running_turns import running_turns
from sessions_app.turns.state import read_state, turn_input


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What would be tried: the events of the steps that ran, in a turn's vocabulary, and what stopped them."""

    records: tuple[Record, ...]
    error: str = ""


class _RefusingModel:
    """Says whether a model is there, so that plugins are ranked as in a turn, and refuses every call."""

    available: bool

    def __init__(self) -> None:
        self.available = is_configured()

    def bind(self, scope: CallScope) -> LanguageModel:
        """Give a model that refuses."""
        return AbsentModel()


@dataclass(slots=True)
class _Notebook:
    records: list[Record] = field(default_factory=list)

    def note(self, event: Event) -> None:
        self.records.append(event.as_record())


def what_if(
    session: Session, call: TurnCall, *, preferences: Selection | None = None, with_statistics: bool = True
) -> Prediction:
    """Give what a turn of the session would try now.

    Args:
        preferences: in place of the session's own.
        with_statistics: whether planners are told what was learned; without, every plugin counts as untried.

    Raises:
        MRPError: the call itself is refused, as a turn would refuse it; SERVER_BUSY too.
    """
    check_call(call)
    with running_turns.place() as take_place:
        take_place()
        return _predicted(session, call, preferences, with_statistics=with_statistics)


def _predicted(session: Session, call: TurnCall, preferences: Selection | None, *, with_statistics: bool) -> Prediction:
    # Nobody holds the slot: read by one statement, the session fits its journal while others save and mount.
    session = Session.objects.select_related("journal", "mounted_kb").get(pk=session.pk)
    level = call.choices.deliberation_level
    turn = ExplainabilityTurn(
        session=session,
        turn_index=session.turn_sequence + 1,
        user_message=call.message,
        deliberation_level=session.preferred_deliberation_level if level is None else level,
    )
    flags, knowledge = flags_of(session, call.flags), SessionKnowledge.of(session)
    state = read_state(turn, call, flags, index_is_outdated=knowledge.view.is_outdated)
    request = prepare_turn(state, turn_input(turn, call, flags), UnaskedModel()).request
    request = replace(
        request,
        preferences=preferences or request.preferences,
        utilities=request.utilities if with_statistics else {},
    )
    notebook = _Notebook()
    budget = Budget(SystemClock(), request.limits)
    run = TurnRun(request, installed, budget, knowledge, _RefusingModel(), notebook.note)
    run.emit(
        "turn.started",
        {
            "pins": to_wire(request.pins),
            "preferences": to_wire(request.preferences),
            "plannerCandidates": list(planner_candidates(run)),
            "seedDetectorCandidates": list(detector_candidates(run)),
        },
    )
    try:
        Scheduler(run, workers, shutdown.interrupt_if_over).run(_steps(run))
    except MRPError as error:
        return Prediction(records=tuple(notebook.records), error=error.message)
    return Prediction(records=tuple(notebook.records))


def _steps(run: TurnRun) -> Program[None]:
    """Detect, plan, retrieve, plan again; a message of several questions is planned for as a whole."""
    frame = Frame(calls=run.budget.calls)
    run.open_frame(frame, None, {"message": run.request.message})
    detected, admitted = yield from detect(run, frame, run.request.message)
    frame.intents, frame.goals = admitted.runnable, admitted.goals
    frame.seeds, frame.units = admitted.seeds, admitted.units
    resolve_intents(frame)
    planned: Planned | None = None
    for planner_id in planner_candidates(run):
        planned = yield from plan_first(run, frame, planner_id, detected.then("flow"))
        if planned is not None:
            break
    if planned is None:
        return
    found = Retrievals(remaining=deque(planned.plan.kb_plugin_order), slot=frame.next_slot())
    view = yield from next_view(run, frame, found, planned.execution.then("flow"))
    if view is not None:
        yield from plan_again(run, frame, planned, view.execution, tuple(found.summaries), view.guidance)

"""The machine over what a recorded turn saw: no slot is taken, and nothing is written, learned or announced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from mrpvm.contracts import Clock
from mrpvm.conversation.context import ContextReport
from mrpvm.conversation.guarded_model import GuardedModels
from mrpvm.conversation.preparation import ConversationState, prepare_turn
from mrpvm.kernel.calls import Replies, unknown_reply
from mrpvm.kernel.machine import Machine
from mrpvm.llm.port import ModelSource
from mrpvm.registry import Registry
from mrpvm.trace.events import AnswerDelta, Event
from mrpvm.values import TurnOutcome, TurnRequest
from sessions_app.experiments.replays.recorded import RecordedTurn
from sessions_app.experiments.trials.models import RecordedPreparation
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.plugin_threads import workers
from sessions_app.turns.machine import machine


class StartedClock:
    """The machine's clock as it stood when a turn started."""

    def __init__(self, started_at: datetime) -> None:
        self._started_at = started_at

    def now(self) -> datetime:
        """Return when the turn started."""
        return self._started_at

    def monotonic_ms(self) -> float:
        """Return milliseconds that never go back."""
        return machine().clock.monotonic_ms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """The result of running a turn again: the machine's request, and its events without pieces of answers."""

    request: TurnRequest
    report: ContextReport
    outcome: TurnOutcome
    events: Sequence[Event]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a recorded turn is run again with."""

    state: ConversationState
    knowledge: EffectiveView
    models: ModelSource
    clock: Clock
    plugins: Registry
    replies: Replies = unknown_reply
    tick: Callable[[], None] = lambda: None
    listen: Callable[[Event], None] = lambda event: None


def rerun(recorded: RecordedTurn, setup: Setup) -> Rerun:
    """Run the machine again over what a recorded turn saw, as far as `setup` does not say otherwise."""
    models = GuardedModels(setup.models) if settings.MRPVM_GUARDRAILS else setup.models
    limits = setup.state.asked.limits
    preparation = RecordedPreparation(
        setup.models,
        spent_ms=recorded.view.spent_ms,
        call_count=1 if recorded.view.skill_choice else 0,
        max_calls=limits.max_llm_calls,
    )
    prepared = prepare_turn(setup.state, preparation)
    events: list[Event] = []

    def emit(event: Event) -> None:
        if not isinstance(event.data, AnswerDelta):
            events.append(event)
        setup.listen(event)

    outcome = Machine(setup.plugins, workers, setup.clock, models).run_turn(
        prepared.request, SessionKnowledge(setup.knowledge), emit, setup.tick, models, setup.replies
    )
    return Rerun(request=prepared.request, report=prepared.report, outcome=outcome, events=events)

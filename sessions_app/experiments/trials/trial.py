"""One trial: a recorded turn run again with changes, and its outcome."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mrpvm.conversation.answers import cited_units
from mrpvm.conversation.context import ContextReport
from mrpvm.errors import ErrorRecord
from mrpvm.trace.events import Event
from mrpvm.values import Answer, Selection
from sessions_app.experiments.replays.recorded import RecordedTurn
from sessions_app.experiments.replays.run import Setup, StartedClock, rerun
from sessions_app.experiments.trials.changes import (
    Changes,
    changed_knowledge,
    changed_state,
    plugins_without,
)
from sessions_app.experiments.trials.live import LiveModel
from sessions_app.experiments.trials.models import models_of, recorded_exchanges
from sessions_app.experiments.trials.supposing import supposing
from sessions_app.turns.commit import report_after
from sessions_app.turns.entry import tokens_of

NEEDS_MODEL = "needs-model"
type Tick = Callable[[], None]


def unstopped() -> None:
    """Let a trial continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """What a trial answered; `status` is `needs-model` where it needed a model and may not ask one.

    `missing_request` is then the request that was not made. `has_effect` says whether the machine was given anything
    else than in the recorded turn.
    """

    changes: Changes
    status: str
    answer: str
    answer_status: str | None
    basis: str
    cited_unit_ids: tuple[str, ...]
    used: Selection
    duration_ms: int
    message: str
    deliberation_level: int
    report: ContextReport
    events: Sequence[Event]
    document: Answer | None = None
    token_count: int | None = None
    cost: Decimal | None = None
    error: ErrorRecord | None = None
    missing_request: Mapping[str, Any] | None = None
    has_effect: bool = True


def run_trial(
    recorded: RecordedTurn, changes: Changes, tick: Tick = unstopped, live: LiveModel | None = None
) -> TrialOutcome:
    """Run a recorded turn again with changes; nothing is written.

    Args:
        live: a model that may be asked what the turn did not ask.

    Raises:
        InvalidInput: a supposed text states nothing.
        NotFound, Conflict: as for `changed_knowledge` and `recorded_turn`.
        TurnCancelled: `tick` raised it.
    """
    exchanges = recorded_exchanges(recorded)
    state = changed_state(recorded, changes)
    with supposing(recorded, changes, changed_knowledge(recorded, changes)) as knowledge:
        setup = Setup(
            state=state,
            knowledge=knowledge,
            models=models_of(recorded, exchanges, changes.sampling, live),
            clock=StartedClock(recorded.turn.created_at),
            plugins=plugins_without(changes.without_plugins),
            tick=tick,
        )
        started = time.perf_counter()
        again = rerun(recorded, setup)
        duration_ms = round((time.perf_counter() - started) * 1000)
    outcome = again.outcome
    missing = exchanges.missing[0] if exchanges.missing else None
    return TrialOutcome(
        changes=changes,
        status=NEEDS_MODEL if missing is not None else outcome.status,
        answer=outcome.answer_text,
        answer_status=outcome.answer_status,
        basis=outcome.answer.basis if outcome.answer else "",
        cited_unit_ids=tuple(cited_units(outcome.answer)) if outcome.answer else (),
        used=outcome.used,
        duration_ms=duration_ms,
        message=state.asked.message,
        deliberation_level=state.asked.deliberation_level,
        report=report_after(again.report, outcome),
        events=again.events,
        document=outcome.answer,
        token_count=tokens_of(again.events),
        cost=None if live is None else live.cost,
        error=outcome.error,
        missing_request=missing,
        has_effect=(
            state != recorded.state
            or knowledge != recorded.knowledge
            or bool(changes.without_plugins)
            or live is not None
            or (changes.sampling is not None and recorded.conditions["models"] is not None)
        ),
    )

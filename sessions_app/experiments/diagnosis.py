"""What a turn's answer depends on, or what makes an expectation come true: replay first, then the search."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sessions_app import shutdown
from sessions_app.experiments.changes import Changes, check_changes
from sessions_app.experiments.recorded import recorded_turn
from sessions_app.experiments.replay import Divergence, ReplayResult, replay
from sessions_app.experiments.search import USUAL_BOUNDS, Bounds, Expectation, Finding, Search
from sessions_app.experiments.trial import TrialOutcome, run_trial
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import answer_of
from sessions_app.turns.running_turns import running_turns

type Heard = Callable[[Finding], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a search found, the likeliest cause first.

    `diverged`: the turn does not replay, so that trials would prove nothing; `met`: its answer is what was expected.
    """

    result: Literal["found", "nothing-found", "met", "diverged"]
    findings: tuple[Finding, ...] = ()
    tried_count: int = 0
    not_tried: tuple[str, ...] = ()
    divergence: Divergence | None = None
    duration_ms: int = 0


def diagnose(
    turn: ExplainabilityTurn,
    expected: Expectation,
    bounds: Bounds = USUAL_BOUNDS,
    heard: Heard = lambda finding: None,
) -> Diagnosis:
    """Search for what the answer of an ended turn depends on, or for what makes the expectation come true.

    Nothing is written. The search takes a place among the turns that run at once.

    Args:
        heard: takes each finding when it is proved.

    Raises:
        Conflict: TURN_IN_PROGRESS, NOT_REPLAYABLE.
        Unavailable: SERVER_BUSY, or the server ends.
    """
    started = time.monotonic()

    def passed_ms() -> int:
        return round((time.monotonic() - started) * 1000)

    with running_turns.place() as take_place:
        take_place()
        replayed = replay(turn)
        if replayed.divergence is not None:
            return Diagnosis(result="diverged", divergence=replayed.divergence, duration_ms=passed_ms())
        if expected.is_stated and expected.is_met(answer_of(turn)):
            return Diagnosis(result="met", duration_ms=passed_ms())
        search = Search(recorded_turn(turn), expected, bounds, shutdown.interrupt_if_over)
        for finding in search.run():
            heard(finding)
    return Diagnosis(
        result="found" if search.findings else "nothing-found",
        findings=tuple(search.ranked),
        tried_count=len(search.tried),
        not_tried=tuple(search.not_tried),
        duration_ms=passed_ms(),
    )


def try_turn(turn: ExplainabilityTurn, changes: Changes) -> TrialOutcome:
    """Run an ended turn again with changes; nothing is written.

    Raises:
        InvalidInput: as for `check_changes`.
        Conflict, NotFound, Unavailable: as for `diagnose` and `run_trial`.
    """
    check_changes(changes)
    recorded = recorded_turn(turn)
    with running_turns.place() as take_place:
        take_place()
        return run_trial(recorded, changes, shutdown.interrupt_if_over)


def replay_turn(turn: ExplainabilityTurn) -> ReplayResult:
    """Replay an ended turn; see `replay`. It takes a place among the turns that run at once."""
    with running_turns.place() as take_place:
        take_place()
        return replay(turn)

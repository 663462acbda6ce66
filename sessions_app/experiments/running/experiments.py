"""Beginning experiments: what is asked is checked and stored, then a thread of its own runs it."""

from collections.abc import Sequence
from concurrent.futures import wait

from mrpvm.wire import to_wire
from sessions_app.actions.experiments.experiments import Author, add_trials, begin_experiment
from sessions_app.experiments.diagnosis.search import Bounds, Expectation
from sessions_app.experiments.replays.recorded import RecordedTurn, recorded_turn
from sessions_app.experiments.replays.unsent import unsent_turn
from sessions_app.experiments.running.pool import pool
from sessions_app.experiments.running.work import run_experiment
from sessions_app.experiments.trials.changes import Changes, check_changes
from sessions_app.experiments.trials.live import Estimate, check_allowed, estimate
from sessions_app.models import Experiment, ExplainabilityTurn, KnowledgeBase, Session


def start_trials(
    session: Session,
    turn: ExplainabilityTurn | None,
    changes: Sequence[Changes],
    author: Author,
    *,
    message: str = "",
    allow_model: bool = False,
    wait_ms: int = 0,
) -> Experiment:
    """Begin an experiment of chosen trials; without a turn `message` is asked of the session as it stands.

    Args:
        allow_model: a model may be asked what the turn did not ask.
        wait_ms: how long to wait for its end.

    Raises:
        InvalidInput: as for `check_changes`, or a turn would refuse the message.
        Conflict: TURN_IN_PROGRESS, NOT_REPLAYABLE; as for `check_allowed`.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
    """
    for each in changes:
        check_changes(each)
    request = _asked(session, turn, message)
    if allow_model:
        check_allowed(estimate([request] * len(changes)), session.project)
    pool.refuse_if_full()
    records = [each.as_record() for each in changes]
    experiment = begin_experiment(
        session, turn, Experiment.Kind.TRIALS, author, message=message, changes=records, asks_models=allow_model
    )
    return _started(experiment, wait_ms)


def estimate_trials(session: Session, turn: ExplainabilityTurn | None, message: str, count: int) -> Estimate:
    """Return what so many trials are likely to take from a model, if they may ask one.

    Raises:
        InvalidInput, Conflict: as for `start_trials`.
    """
    return estimate([_asked(session, turn, message)] * count)


def estimate_rest(experiment: Experiment) -> Estimate | None:
    """Return what the trials of a search that needed a model are likely to take from one, None where none did.

    Raises:
        Conflict: as for `start_trials`.
    """
    count = (experiment.result or {}).get("needing_model_count", 0)
    return estimate_trials(experiment.session, experiment.turn, "", count) if count else None


def start_more_trials(experiment: Experiment, changes: Sequence[Changes], *, wait_ms: int = 0) -> Experiment:
    """Add trials to an experiment that has ended; they may ask a model if its first ones might.

    Raises:
        InvalidInput, Unavailable: as for `start_trials`.
        Conflict: as for `add_trials`.
    """
    for each in changes:
        check_changes(each)
    if experiment.asks_models:
        estimate = estimate_trials(experiment.session, experiment.turn, experiment.message, len(changes))
        check_allowed(estimate, experiment.project)
    pool.refuse_if_full()
    return _started(add_trials(experiment, [each.as_record() for each in changes]), wait_ms)


def start_diagnosis(
    turn: ExplainabilityTurn,
    expected: Expectation,
    bounds: Bounds,
    author: Author,
    *,
    allow_model: bool = False,
    wait_ms: int = 0,
) -> Experiment:
    """Begin the search for what a turn's answer depends on, or for what makes the expectation come true.

    Args:
        allow_model: a model may be asked where a trial needs it, for `MRPVM_TRIAL_BUDGET` tokens in all.

    Raises:
        Conflict, Unavailable: as for `start_trials`.
    """
    recorded = recorded_turn(turn)
    if allow_model:
        check_allowed(estimate([recorded]), turn.session.project)
    pool.refuse_if_full()
    question = {**to_wire(expected), **to_wire(bounds)}
    experiment = begin_experiment(
        turn.session, turn, Experiment.Kind.DIAGNOSIS, author, question=question, asks_models=allow_model
    )
    return _started(experiment, wait_ms)


def start_bisect(
    turn: ExplainabilityTurn,
    expected: Expectation,
    author: Author,
    base: KnowledgeBase | None = None,
    *,
    wait_ms: int = 0,
) -> Experiment:
    """Begin the search for the turn, or the revision of `base`, since which the turn is answered as it is.

    Raises:
        Conflict, Unavailable: as for `start_trials`.
    """
    recorded_turn(turn)
    pool.refuse_if_full()
    question = {**to_wire(expected), "kbId": base.kb_id if base else None}
    experiment = begin_experiment(turn.session, turn, Experiment.Kind.BISECT, author, question=question)
    return _started(experiment, wait_ms)


def _asked(session: Session, turn: ExplainabilityTurn | None, message: str) -> RecordedTurn:
    return unsent_turn(session, message) if turn is None else recorded_turn(turn)


def _started(experiment: Experiment, wait_ms: int) -> Experiment:
    wait([pool.start(run_experiment, experiment)], timeout=wait_ms / 1000)
    experiment.refresh_from_db()
    return experiment

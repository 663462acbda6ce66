"""Start, extend, stop, close and delete experiments. `sessions_app.experiments` runs them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.errors import Conflict, ErrorRecord
from sessions_app.actions.settings.audit import record
from sessions_app.events import announce_experiment
from sessions_app.models import AuditKind, Experiment, ExplainabilityTurn, Session, Trial

Status = Experiment.Status
LEASE = timedelta(seconds=30)
"""How long after its last heartbeat a running experiment counts as abandoned."""
MOST_TRIALS = 200
"""Trials of one experiment."""
_ROWS_A_TRANSACTION = 50
INTERRUPTED: ErrorRecord = {
    "code": "TURN_INTERRUPTED",
    "message": "The server process ended while this ran. What had been tried is kept.",
    "details": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who runs an experiment: a user, or an API key by its name."""

    name: str
    user: User | None = None


@transaction.atomic
def begin_experiment(
    session: Session,
    turn: ExplainabilityTurn | None,
    kind: str,
    author: Author,
    *,
    message: str = "",
    question: Mapping[str, Any] | None = None,
    changes: Sequence[Mapping[str, Any]] = (),
    asks_models: bool = False,
) -> Experiment:
    """Return a running experiment with its waiting trials."""
    experiment = Experiment.objects.create(
        project=session.project,
        session=session,
        turn=turn,
        kind=kind,
        message=message,
        question=dict(question or {}),
        asks_models=asks_models,
        created_by=author.user,
        created_by_name=author.name[:150],
        lease_until=timezone.now() + LEASE,
    )
    _add_trials(experiment, changes, first=1)
    return experiment


@transaction.atomic
def add_trials(experiment: Experiment, changes: Sequence[Mapping[str, Any]]) -> Experiment:
    """Add waiting trials to an experiment that has ended, and return it running again.

    Raises:
        Conflict: EXPERIMENT_RUNNING; or it would hold too many trials.
    """
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.is_running:
        raise Conflict("The experiment is still running.", code="EXPERIMENT_RUNNING")
    count = locked.trials.count()
    if count + len(changes) > MOST_TRIALS:
        raise Conflict(f"An experiment holds at most {MOST_TRIALS} trials.")
    _add_trials(locked, changes, first=count + 1)
    locked.status, locked.finished_at, locked.error, locked.cancel_requested_at = Status.RUNNING, None, None, None
    locked.lease_until = timezone.now() + LEASE
    locked.save()
    return locked


def _add_trials(experiment: Experiment, changes: Sequence[Mapping[str, Any]], first: int) -> None:
    Trial.objects.bulk_create(
        Trial(experiment=experiment, position=position, turn=experiment.turn, changes=dict(record))
        for position, record in enumerate(changes, start=first)
    )


def store_trials(trials: Sequence[Trial]) -> None:
    """Store trials without a trace, because they prove nothing."""
    Trial.objects.bulk_create(trials, batch_size=100)


def cancel_experiment(experiment: Experiment) -> None:
    """Ask a running experiment to end, in whichever process it runs.

    Raises:
        Conflict: EXPERIMENT_NOT_RUNNING.
    """
    running = Experiment.objects.filter(pk=experiment.pk, status=Status.RUNNING)
    if not running.update(cancel_requested_at=timezone.now()):
        raise Conflict("The experiment has ended already.", code="EXPERIMENT_NOT_RUNNING")


def is_wanted(experiment: Experiment, tried_count: int) -> bool:
    """Store the progress of a running experiment; return whether nobody has stopped or removed it."""
    wanted = Experiment.objects.filter(pk=experiment.pk, status=Status.RUNNING, cancel_requested_at__isnull=True)
    is_there = bool(wanted.update(tried_count=tried_count, lease_until=timezone.now() + LEASE))
    if is_there:
        announce_experiment(experiment.session_id, experiment.experiment_id, tried_count)
    return is_there


@transaction.atomic
def end_experiment(
    experiment: Experiment,
    status: str,
    *,
    tried_count: int | None = None,
    result: Mapping[str, Any] | None = None,
    error: ErrorRecord | None = None,
) -> None:
    """Close a running experiment and its waiting trials. An experiment that was closed meanwhile is not changed."""
    running = Experiment.objects.filter(pk=experiment.pk, status=Status.RUNNING)
    ended: dict[str, Any] = {"status": status, "finished_at": timezone.now(), "lease_until": None}
    if tried_count is not None:
        ended["tried_count"] = tried_count
    if not running.update(**ended):
        return
    stored = Experiment.objects.get(pk=experiment.pk)
    stored.result = dict(result) if result is not None else stored.result
    stored.error = dict(error) if error is not None else None
    stored.save(update_fields=["result", "error"])
    waiting = {Status.CANCELLED: Trial.Status.CANCELLED}.get(Status(status), Trial.Status.INTERRUPTED)
    stored.trials.filter(status=Trial.Status.WAITING).update(status=waiting)
    transaction.on_commit(
        lambda: announce_experiment(experiment.session_id, experiment.experiment_id, stored.tried_count)
    )


def close_abandoned_experiments(*, alone: bool = False) -> int:
    """Mark running experiments whose lease has expired as interrupted; return how many.

    Args:
        alone: no other process serves this database, so every running one is left over from a crash.
    """
    running = Experiment.objects.filter(status=Status.RUNNING)
    abandoned = list(running if alone else running.filter(lease_until__lt=timezone.now()))
    for experiment in abandoned:
        end_experiment(experiment, Status.INTERRUPTED, error=INTERRUPTED)
    return len(abandoned)


def delete_experiment(experiment: Experiment) -> None:
    """Remove an experiment with its trials and their traces; a running one ends within a second."""
    only = Experiment.objects.filter(pk=experiment.pk)
    remove_traces_of(only)
    with transaction.atomic():
        _traces(only).delete()
        only.delete()
        record(AuditKind.EXPERIMENT_DELETED, experiment.project_id, f"experiment {experiment.experiment_id}")


def remove_traces_of(experiments: QuerySet[Experiment]) -> None:
    """Remove the traces of the experiments' trials, one batch per transaction."""
    _remove_traces(_traces(experiments))


def _traces(experiments: QuerySet[Experiment]) -> QuerySet[ExplainabilityTurn]:
    return ExplainabilityTurn.with_trials.filter(trial__experiment__in=experiments)


def _remove_traces(traces: QuerySet[ExplainabilityTurn], pause: Callable[[], None] = lambda: None) -> int:
    removed = 0
    while some := list(traces.values_list("pk", flat=True)[:_ROWS_A_TRANSACTION]):
        ExplainabilityTurn.with_trials.filter(pk__in=some).delete()
        removed += len(some)
        pause()
    return removed


def remove_lost_traces(pause: Callable[[], None] = lambda: None) -> int:
    """Remove traces whose trial is gone; return how many.

    Args:
        pause: called between two transactions; lets running turns go first.
    """
    return _remove_traces(ExplainabilityTurn.with_trials.filter(trial_number__gt=0, trial__isnull=True), pause)

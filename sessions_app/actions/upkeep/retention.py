"""Remove rows that are older than their project's retention, a few rows per transaction."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app.actions.experiments.experiments import delete_experiment, remove_traces_of
from sessions_app.actions.sessions.removal import ROWS_A_TRANSACTION, TURNS_A_TRANSACTION
from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.settings.audit import record, remove_entries
from sessions_app.actions.turns.payloads import remove_exchanges, remove_payloads
from sessions_app.exclusive import alone_at
from sessions_app.models import (
    AuditKind,
    Experiment,
    ExplainabilityTurn,
    ImportedSpan,
    Project,
    Retention,
    RetentionKind,
    Session,
)
from sessions_app.queries.settings.retention import days_kept, is_forgetting, removable, undrawn_spans

REST = timedelta(hours=1)
"""The wait between two runs; retention counts in days, so an hour does not matter."""
SECONDS_AT_ONCE = 20.0
"""Time limit of a sweep, which leaves the rest of a run for the next one."""
_FIRST_SPANS = 50
_LONG, _QUICK = 0.08, 0.02
"""A transaction of at least `_LONG` seconds halves the rows of the next one; one below `_QUICK` doubles them."""
_KEYS_A_QUERY = 10_000
"""A large number, because the query scans all old rows. It locks nothing."""
_ROWS_A_TRANSACTION: Mapping[RetentionKind, int] = {
    RetentionKind.TRIALS: 1, RetentionKind.IMPORTED_TRACES: 1, RetentionKind.AUDIT: ROWS_A_TRANSACTION,
}  # fmt: skip
"""Rows with many dependent rows are removed one by one: an experiment has up to 200 trials, a trace 2,000 spans."""


class Pace:
    """How many rows a transaction takes: fewer after one that held its locks long, more after a quick one."""

    def __init__(self, most: int, first: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self.size, self._clock = most, first, clock

    def take(self, keys: deque[int]) -> list[int]:
        """Take the first keys, as many as the next transaction may have."""
        return [keys.popleft() for _ in range(min(self.size, len(keys)))]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Time a transaction that takes `size` rows."""
        began = self._clock()
        yield
        took = self._clock() - began
        if took > _LONG:
            self.size = max(1, self.size // 2)
        elif took < _QUICK:
            self.size = min(self._most, 2 * self.size)


class _Ended(Exception):
    """The run was stopped, or its rules have changed."""


def carry_out_retention(pause: Callable[[], None] = lambda: None, rest: timedelta = REST) -> int:
    """Remove rows that are older than their project's retention; return how many, 0 if another process does it.

    Args:
        pause: called between two transactions; lets running turns go first.
        rest: the least time since the end of a project's last run.
    """
    with alone_at("retention") as hold:
        if hold is None:
            return 0
        until = time.monotonic() + SECONDS_AT_ONCE
        return sum(_carry_out(project, pause, until, rest) for project in Project.objects.order_by("pk"))


def _carry_out(project: Project, pause: Callable[[], None], until: float, rest: timedelta) -> int:
    run, _ = Retention.objects.get_or_create(project=project)
    now = timezone.now()
    is_fresh = run.finished_at is not None and now - run.finished_at < rest
    if run.is_stopped or is_fresh or time.monotonic() >= until or is_forgetting(project):
        return 0
    if run.began_at is None or run.finished_at is not None:
        begun = Retention.objects.filter(pk=run.pk, is_stopped=False, updated_at=run.updated_at)
        begun.update(began_at=now, finished_at=None, removed={}, kind="")
    removed = 0
    try:
        for kind in RetentionKind:
            for count in _batches(run, kind):
                removed += count
                pause()
                if time.monotonic() >= until:
                    return removed
        _finish(run)
    except _Ended:
        pass
    return removed


def _batches(run: Retention, kind: RetentionKind) -> Iterator[int]:
    """Remove the rows of a kind batch by batch; yield the number of rows of each."""
    days = days_kept(run.days, kind)
    if not days:
        return
    before = timezone.now() - timedelta(days=days)
    old, newest = removable(kind, run.project, before).order_by("pk"), 0
    most = _ROWS_A_TRANSACTION.get(kind, TURNS_A_TRANSACTION)
    pace = Pace(most, most)
    while keys := deque(old.filter(pk__gt=newest).values_list("pk", flat=True)[:_KEYS_A_QUERY]):
        newest = keys[-1]
        while some := pace.take(keys):
            if kind == RetentionKind.TRIALS:
                remove_traces_of(Experiment.objects.filter(pk__in=some))
            elif kind == RetentionKind.IMPORTED_TRACES:
                drawn = ImportedSpan.objects.filter(turn__in=list(old.filter(pk__in=some)))
                yield from _remove_spans(run, drawn, is_counted=False)
            with pace.kept(), transaction.atomic():
                going = list(old.filter(pk__in=some).values_list("pk", flat=True))
                _remove(kind, run.project, going)
                _note(run, kind, len(going))
            yield len(going)
    if kind == RetentionKind.IMPORTED_TRACES:
        yield from _remove_spans(run, undrawn_spans(run.project, before), is_counted=True)


def _remove_spans(run: Retention, spans: QuerySet[ImportedSpan], *, is_counted: bool) -> Iterator[int]:
    """Remove spans batch by batch; yield how many count as removed, 0 unless `is_counted`."""
    pace = Pace(ROWS_A_TRANSACTION, _FIRST_SPANS)
    while keys := deque(spans.order_by().values_list("pk", flat=True)[:_KEYS_A_QUERY]):
        while some := pace.take(keys):
            with pace.kept(), transaction.atomic():
                removed, _ = spans.filter(pk__in=some).delete()
                count = removed if is_counted else 0
                _note(run, RetentionKind.IMPORTED_TRACES, count)
            yield count


def _remove(kind: RetentionKind, project: Project, keys: Sequence[int]) -> None:
    match kind:
        case RetentionKind.TRIALS:
            for experiment in Experiment.objects.filter(pk__in=keys):
                delete_experiment(experiment)
        case RetentionKind.TRACES | RetentionKind.IMPORTED_TRACES:
            ExplainabilityTurn.objects.filter(pk__in=keys).delete()
        case RetentionKind.EXCHANGES:
            remove_exchanges(keys)
        case RetentionKind.PAYLOADS:
            remove_payloads(keys)
        case RetentionKind.MESSAGES:
            for session in Session.objects.filter(pk__in=keys):
                delete_session(session)
        case RetentionKind.AUDIT:
            remove_entries(project.pk, keys)


def _note(run: Retention, kind: RetentionKind, count: int) -> None:
    """Add to what the run has removed, in the transaction that removes it.

    Raises:
        _Ended: nothing more may be removed; the transaction is rolled back.
    """
    stored = Retention.objects.select_for_update().get(pk=run.pk)
    if stored.is_stopped or stored.updated_at != run.updated_at:
        raise _Ended
    stored.kind = kind
    stored.removed = {**stored.removed, kind: stored.removed.get(kind, 0) + count}
    stored.save(update_fields=["kind", "removed"])


@transaction.atomic
def _finish(run: Retention) -> None:
    stored = Retention.objects.select_for_update().get(pk=run.pk)
    if stored.is_stopped or stored.updated_at != run.updated_at:
        return
    stored.kind, stored.finished_at = "", timezone.now()
    stored.save(update_fields=["kind", "finished_at"])
    if stored.removed:
        record(AuditKind.RETENTION_FINISHED, run.project_id, "retention", **stored.removed)

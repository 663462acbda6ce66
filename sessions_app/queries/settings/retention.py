"""Rows older than a project's retention, and the reasons to keep some of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from sessions_app.models import (
    AuditEntry,
    Experiment,
    ExplainabilityTurn,
    Forgetting,
    ImportedSpan,
    Project,
    Retention,
    RetentionKind,
    Session,
    SuiteRun,
    TestCase,
)

MOST_COUNTED = 100_000
"""The most rows that a preview counts, so that it stays fast."""
_Turn = ExplainabilityTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A reason to keep old rows: what needs them, in words, and which rows."""

    reason: str
    rows: Q


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of rows; with `is_more` there are further ones that were not counted."""

    number: int
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """Rows that are old and needed."""

    reason: str
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The rows that a rule would remove now, and the old rows that it would keep."""

    kind: RetentionKind
    days: int
    removed: Count
    kept: Sequence[KeptRows]


def retention_of(project: Project) -> Retention:
    """Return the project's rules and run; an unsaved row where nothing was chosen yet."""
    return Retention.objects.filter(project=project).first() or Retention(project=project)


def server_days(kind: str) -> int:
    """Return after how many days the server's settings remove a kind, 0 for never."""
    return {
        RetentionKind.TRIALS: settings.MRPVM_KEEP_TRIALS_DAYS,
        RetentionKind.PAYLOADS: settings.MRPVM_KEEP_PAYLOADS_DAYS,
        RetentionKind.AUDIT: settings.MRPVM_KEEP_AUDIT_DAYS,
    }.get(RetentionKind(kind), 0)


def days_kept(chosen: Mapping[str, int], kind: str) -> int:
    """Return after how many days a kind is removed where these days were chosen, 0 for never."""
    return chosen.get(kind, server_days(kind))


def chosen_with(chosen: Mapping[str, int], named: Mapping[str, int | None]) -> dict[str, int]:
    """Return the choices updated with the named ones; None removes a choice."""
    return {kind: days for kind, days in {**chosen, **named}.items() if days is not None}


def is_forgetting(project: Project) -> bool:
    """Return whether an act of forgetting runs in the project, which counts rows before and after."""
    return Forgetting.objects.filter(project=project, status__in=("planning", "running")).exists()


def removal_preview(project: Project, chosen: Mapping[str, int]) -> list[Preview]:
    """Return what rules with these days would remove now; two queries a kind, and one for each reason to keep some."""
    return [_preview(project, kind, days_kept(chosen, kind)) for kind in RetentionKind]


def _preview(project: Project, kind: RetentionKind, days: int) -> Preview:
    if not days:
        return Preview(kind=kind, days=0, removed=Count(number=0), kept=())
    before = timezone.now() - timedelta(days=days)
    rows, kept = _aged(kind, project, before), []
    for need in _needs(kind, before):
        count = _count(rows.filter(need.rows))
        if count.number:
            kept.append(KeptRows(reason=need.reason, count=count))
        rows = rows.exclude(need.rows)
    return Preview(kind=kind, days=days, removed=_count(rows), kept=tuple(kept))


def _count(rows: QuerySet[Any]) -> Count:
    number = rows.order_by()[: MOST_COUNTED + 1].count()
    return Count(number=min(number, MOST_COUNTED), is_more=number > MOST_COUNTED)


def removable(kind: RetentionKind, project: Project, before: datetime) -> QuerySet[Any]:
    """Return the rows of a kind from before a moment that nothing needs."""
    rows = _aged(kind, project, before)
    for need in _needs(kind, before):
        rows = rows.exclude(need.rows)
    return rows


def undrawn_spans(project: Project, before: datetime) -> QuerySet[ImportedSpan]:
    """Return spans older than `before` that belong to no turn."""
    return ImportedSpan.objects.filter(project=project, turn=None, received_at__lt=before)


def _aged(kind: RetentionKind, project: Project, before: datetime) -> QuerySet[Any]:
    """Return the rows of a kind that are older than `before` and not in use by a running turn or experiment."""
    if kind == RetentionKind.AUDIT:
        return AuditEntry.objects.filter(project=project, at__lt=before)
    if kind == RetentionKind.TRIALS:
        return Experiment.objects.filter(project=project, created_at__lt=before).exclude(status="running")
    if kind == RetentionKind.MESSAGES:
        old = Session.objects.filter(project=project, last_activity_at__lt=before, deleted_at=None)
        return old.filter(suite=None)  # the session that a suite asks in holds no conversation
    turns = _Turn.objects.filter(session__project=project, session__deleted_at=None, created_at__lt=before)
    turns = turns.exclude(status=_Turn.Status.RUNNING)
    if kind == RetentionKind.PAYLOADS:
        return turns.filter(payloads_removed_at=None)
    if kind == RetentionKind.EXCHANGES:
        return turns.filter(exchanges_removed_at=None, payloads_removed_at=None)
    if kind == RetentionKind.TRACES:
        return turns.exclude(kind=_Turn.Kind.IMPORTED)
    return turns.filter(kind=_Turn.Kind.IMPORTED)


def _needs(kind: RetentionKind, before: datetime) -> Sequence[Need]:
    """Return the reasons to keep old rows of a kind; the first that applies is the one that is shown."""
    if kind == RetentionKind.AUDIT:
        return ()
    if kind == RetentionKind.TRIALS:
        newest = SuiteRun.objects.order_by().values("suite").annotate(newest=Max("pk")).values("newest")
        runs = SuiteRun.objects.filter(pk__in=newest).values("experiment")
        return (Need(reason="the newest run of a suite, which the next is compared with", rows=Q(pk__in=runs)),)
    if kind == RetentionKind.MESSAGES:
        return _needs_of_sessions(before)
    if kind == RetentionKind.TRACES:
        return _needs_of_traces()
    tested = TestCase.objects.filter(turn__isnull=False).values("turn")
    tests = Need(reason="a test asks over what it saw", rows=Q(pk__in=tested))
    experiments = Experiment.objects.filter(turn__isnull=False).values("turn")
    if kind in (RetentionKind.PAYLOADS, RetentionKind.EXCHANGES):
        running = experiments.filter(status="running")
        return (tests, Need(reason="an experiment over it is running", rows=Q(pk__in=running)))
    tried = Need(reason="an experiment over it is kept", rows=Q(pk__in=experiments))
    # A subquery per turn, because one over all spans takes a second if there are millions.
    young = Exists(ImportedSpan.objects.filter(turn=OuterRef("pk"), received_at__gte=before))
    return (tests, tried, Need(reason="it was received later than that", rows=Q(young)))


def _needs_of_traces() -> Sequence[Need]:
    """Return what keeps traces of turns: a turn is run again over what those before it left."""
    last = Q(turn_index=F("session__turn_sequence"))
    return (
        Need(reason="a test asks over a turn of its session", rows=Q(session__in=_sessions_of_tests())),
        Need(reason="an experiment over its session is kept", rows=Q(session__in=Experiment.objects.values("session"))),
        Need(reason="the last turn of its session, which may go on from it", rows=last),
    )


def _sessions_of_tests() -> set[int]:
    """Return the keys of the sessions whose turns tests ask over, and of those that these continue from."""
    session_keys: set[int] = set()
    new = set(Session.objects.filter(turns__in=TestCase.objects.values("turn")).values_list("pk", flat=True))
    while new:
        session_keys |= new
        new = set(Session.objects.filter(forks__in=new).values_list("pk", flat=True)) - session_keys
    return session_keys


def _needs_of_sessions(before: datetime) -> Sequence[Need]:
    running = _Turn.objects.filter(status=_Turn.Status.RUNNING).values("session")
    forked = Session.objects.filter(forked_from__isnull=False, deleted_at=None).values("forked_from")
    tested = TestCase.objects.filter(turn__isnull=False).values("turn__session")
    return (
        Need(reason="a turn of it is running", rows=Q(pk__in=running)),
        Need(reason="a fork of it is there", rows=Q(pk__in=forked)),
        Need(reason="a test asks over one of its turns", rows=Q(pk__in=tested)),
        Need(reason="an experiment over it is kept", rows=Q(pk__in=Experiment.objects.values("session"))),
        Need(reason="it came in a bundle later than that", rows=Q(imported_at__isnull=False, imported_at__gte=before)),
    )

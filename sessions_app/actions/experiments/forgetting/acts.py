"""Create, start, renew, stop and close the row of an act of forgetting."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.audit import record
from sessions_app.models import AuditKind, Forgetting, Project
from sessions_app.queries.experiments.forgetting.origins import Subject

LEASE = timedelta(seconds=60)
KEEP_PLANS = timedelta(days=1)
"""How long an unused plan is kept. It is short because a plan holds the text to be forgotten."""
Status = Forgetting.Status


def create_act(project: Project, subject: Subject, author: Author) -> Forgetting:
    """Return a new act, which is being planned."""
    return Forgetting.objects.create(
        project=project,
        kind=subject.kind,
        subject=subject.as_record(),
        created_by=author.user,
        created_by_name=author.name[:150],
        lease_until=timezone.now() + LEASE,
    )


@transaction.atomic
def begin_removal(act: Forgetting) -> None:
    """Start carrying out a plan.

    Raises:
        Conflict: FORGETTING_NOT_PLANNED; it runs or has ended already.
    """
    now = timezone.now()
    planned = Forgetting.objects.filter(pk=act.pk, status=Status.PLANNED)
    if not planned.update(status=Status.RUNNING, began_at=now, lease_until=now + LEASE):
        raise not_planned()
    record(AuditKind.FORGOTTEN, act.project_id, f"forgetting {act.forgetting_id}", kind=act.kind)


def not_planned() -> Conflict:
    """Return the error for an act that is not a plan."""
    return Conflict("Only a plan can be carried out, and only once.", code="FORGETTING_NOT_PLANNED")


@transaction.atomic
def cancel_act(act: Forgetting) -> None:
    """Cancel a plan, or stop an act between two steps; removed rows stay removed.

    Raises:
        Conflict: FORGETTING_NOT_RUNNING.
    """
    now = timezone.now()
    rows = Forgetting.objects.filter(pk=act.pk)
    is_dropped = rows.filter(status=Status.PLANNED).update(status=Status.CANCELLED, work=None, finished_at=now)
    begun = rows.filter(status__in=(Status.PLANNING, Status.RUNNING))
    if not is_dropped and not begun.update(cancel_requested_at=now):
        raise Conflict("It has ended already.", code="FORGETTING_NOT_RUNNING")
    record(AuditKind.FORGETTING_STOPPED, act.project_id, f"forgetting {act.forgetting_id}", kind=act.kind)


def is_act_wanted(act: Forgetting, stage: str, row_count: int) -> bool:
    """Store the progress of an act and renew its lease; return whether nobody has stopped it."""
    wanted = Forgetting.objects.filter(pk=act.pk, cancel_requested_at__isnull=True)
    return bool(wanted.update(stage=stage, row_count=row_count, lease_until=timezone.now() + LEASE))


def end_act(act: Forgetting, status: str, **columns: Any) -> None:
    """Set the status that ends a part of an act, with its results in `columns`."""
    ended = {"status": status, "lease_until": None, "stage": "", **columns}
    if status != Status.PLANNED:
        ended["finished_at"] = timezone.now()
    for name, value in ended.items():
        setattr(act, name, value)
    act.save(update_fields=list(ended))


def note_search(act: Forgetting, after: Mapping[str, int], notes: list[str], status: str) -> None:
    """Store what the final search for an act's text found in rows and files."""
    Forgetting.objects.filter(pk=act.pk).update(after=dict(after), notes=notes, status=status)


def leave_act(act: Forgetting) -> None:
    """Release an interrupted act for the next process."""
    Forgetting.objects.filter(pk=act.pk).update(lease_until=timezone.now())


def drop_lost_plans() -> int:
    """Cancel plans that expired unused, whose process ended, or whose text was never stored."""
    now = timezone.now()
    dropped: dict[str, Any] = {"status": Status.CANCELLED, "finished_at": now}
    broken_off = Forgetting.objects.filter(lease_until__lt=now, status=Status.PLANNING)
    count = broken_off.update(lease_until=None, **dropped)
    old = Forgetting.objects.filter(status=Status.PLANNED, created_at__lt=now - KEEP_PLANS)
    return count + old.update(work=None, **dropped)


def take_abandoned() -> Iterator[Forgetting]:
    """Take over the running acts whose process ended; yield each of them."""
    now = timezone.now()
    abandoned = Forgetting.objects.filter(lease_until__lt=now, status=Status.RUNNING)
    for act in abandoned.select_related("project"):
        taken = Forgetting.objects.filter(pk=act.pk, lease_until=act.lease_until)
        if taken.update(lease_until=now + LEASE):
            yield act

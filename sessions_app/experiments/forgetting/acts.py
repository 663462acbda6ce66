"""Acts of forgetting as an admin begins, confirms and stops them."""

from concurrent.futures import wait

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.audit import record
from sessions_app.experiments.forgetting.origins import Subject, check_subject
from sessions_app.experiments.forgetting.work import LEASE, carry_out, plan
from sessions_app.experiments.pool import pool
from sessions_app.models import AuditKind, Forgetting, Project

Status = Forgetting.Status


def start_plan(project: Project, subject: Subject, author: Author, *, wait_ms: int = 0) -> Forgetting:
    """Begin to look for everything that came from a subject; nothing is removed.

    Args:
        wait_ms: how long to wait for the end of the search.

    Raises:
        NotFound, InvalidInput: as for `check_subject`.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
    """
    check_subject(project, subject)
    pool.refuse_if_full()
    act = Forgetting.objects.create(
        project=project,
        kind=subject.kind,
        subject=subject.as_record(),
        created_by=author.user,
        created_by_name=author.name[:150],
        lease_until=timezone.now() + LEASE,
    )
    wait([pool.start(plan, act, subject)], timeout=wait_ms / 1000)
    act.refresh_from_db()
    return act


def start_removal(act: Forgetting, confirm: str, *, wait_ms: int = 0) -> Forgetting:
    """Carry out a plan. It cannot be undone, so the plan's name has to be given again.

    Raises:
        InvalidInput: `confirm` is not that name.
        Conflict: FORGETTING_NOT_PLANNED; it runs or has ended already.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
    """
    if act.status != Status.PLANNED:
        raise _not_planned()
    if " ".join(confirm.split()) != name_of(act):
        raise InvalidInput("What was typed is not the name that the plan shows. Nothing was forgotten.")
    pool.refuse_if_full()
    now = timezone.now()
    planned = Forgetting.objects.filter(pk=act.pk, status=Status.PLANNED)
    with transaction.atomic():
        if not planned.update(status=Status.RUNNING, began_at=now, lease_until=now + LEASE):
            raise _not_planned()
        record(AuditKind.FORGOTTEN, act.project_id, f"forgetting {act.forgetting_id}", kind=act.kind)
    act.refresh_from_db()
    wait([pool.start(carry_out, act)], timeout=wait_ms / 1000)
    act.refresh_from_db()
    return act


def _not_planned() -> Conflict:
    return Conflict("Only a plan can be carried out, and only once.", code="FORGETTING_NOT_PLANNED")


def cancel_act(act: Forgetting) -> None:
    """Drop a plan, or stop an act between two steps; what it has removed by then stays removed.

    Raises:
        Conflict: FORGETTING_NOT_RUNNING.
    """
    now = timezone.now()
    rows = Forgetting.objects.filter(pk=act.pk)
    with transaction.atomic():
        is_dropped = rows.filter(status=Status.PLANNED).update(status=Status.CANCELLED, work=None, finished_at=now)
        begun = rows.filter(status__in=(Status.PLANNING, Status.RUNNING))
        if not is_dropped and not begun.update(cancel_requested_at=now):
            raise Conflict("It has ended already.", code="FORGETTING_NOT_RUNNING")
        record(AuditKind.FORGETTING_STOPPED, act.project_id, f"forgetting {act.forgetting_id}", kind=act.kind)


def name_of(act: Forgetting) -> str:
    """Return what has to be typed in to have a plan carried out; empty once it was."""
    return " ".join(act.work["name"].split()) if act.work else ""

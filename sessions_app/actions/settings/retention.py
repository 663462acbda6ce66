"""Retention rules of a project: set them, stop and start the removal."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.audit import record
from sessions_app.models import AuditKind, Project, Retention, RetentionKind
from sessions_app.queries.settings.retention import chosen_with, days_kept

MOST_DAYS = 36_500


@transaction.atomic
def choose_retention(project: Project, chosen: Mapping[str, int | None]) -> Retention:
    """Set after how many days kinds of rows are removed: 0 is never, None the server's setting.

    Kinds that are not named keep their rule. The sweeper starts a run by the new rules, unless the removal is stopped.

    Raises:
        InvalidInput: an unknown kind, or a number of days that cannot be.
    """
    check_days(chosen)
    locked = _lock(project)
    days = chosen_with(locked.days, chosen)
    before = {kind: days_kept(locked.days, kind) for kind in chosen}
    changed = {kind: {"from": before[kind], "to": days_kept(days, kind)} for kind in chosen}
    changed = {kind: change for kind, change in changed.items() if change["from"] != change["to"]}
    if days != locked.days:
        locked.days, locked.updated_at = days, timezone.now()
        _begin_anew(locked)
    if changed:
        record(AuditKind.RETENTION_CHANGED, project.pk, "retention", **changed)
    return locked


def check_days(chosen: Mapping[str, int | None]) -> None:
    """Raise an error for an unknown kind or an invalid number of days.

    Raises:
        InvalidInput: its message names the valid values.
    """
    for kind, days in chosen.items():
        if kind not in RetentionKind.values:
            raise InvalidInput(f"There is no retention of '{kind}'. Known: {', '.join(RetentionKind.values)}.")
        if days is not None and not 0 <= days <= MOST_DAYS:
            raise InvalidInput(f"{kind}: days are a whole number from 0 to {MOST_DAYS}; 0 keeps all.")


@transaction.atomic
def stop_retention(project: Project) -> Retention:
    """Stop the removal until `start_retention`; a run stops after its present batch."""
    locked = _lock(project)
    if not locked.is_stopped:
        locked.is_stopped = True
        locked.save(update_fields=["is_stopped"])
        record(AuditKind.RETENTION_STOPPED, project.pk, "retention")
    return locked


@transaction.atomic
def start_retention(project: Project) -> Retention:
    """Ask the sweeper for a run, also where the last one was stopped or is over."""
    locked = _lock(project)
    locked.is_stopped = False
    _begin_anew(locked)
    record(AuditKind.RETENTION_STARTED, project.pk, "retention")
    return locked


def _lock(project: Project) -> Retention:
    Retention.objects.get_or_create(project=project)
    return Retention.objects.select_for_update().get(project=project)


def _begin_anew(retention: Retention) -> None:
    retention.kind, retention.removed = "", {}
    retention.began_at = retention.finished_at = None
    retention.save()

"""The audit log of a project, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import QuerySet

from sessions_app.models import AuditEntry, AuditKind, Project
from sessions_app.queries.paging import Page, cursor_number, page

AREAS = tuple(sorted({kind.value.partition(".")[0] for kind in AuditKind}))
"""The nouns that kinds of entries begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries are wanted: all that fit every part that is given.

    `actor` and `subject` are looked for inside of texts, whatever their case; `since` and `until` are days of UTC, both
    inclusive.
    """

    area: str = ""
    actor: str = ""
    subject: str = ""
    since: date | None = None
    until: date | None = None


def entries(project: Project, wanted: AuditFilter) -> QuerySet[AuditEntry]:
    """Return the project's entries that fit."""
    rows = AuditEntry.objects.filter(project=project)
    if wanted.area:
        rows = rows.filter(kind__startswith=f"{wanted.area}.")
    if wanted.actor:
        rows = rows.filter(actor__icontains=wanted.actor)
    if wanted.subject:
        rows = rows.filter(subject__icontains=wanted.subject)
    if wanted.since:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until and wanted.until < date.max:
        rows = rows.filter(at__lt=_midnight(wanted.until) + timedelta(days=1))
    return rows


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def entry_page(project: Project, wanted: AuditFilter, limit: int, cursor: str | None) -> Page[AuditEntry]:
    """Return a page of the entries that fit, the newest first.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    return page(entries(project, wanted), [("-id", cursor_number)], limit, cursor)


def entries_after(project: Project, wanted: AuditFilter, key: int, limit: int) -> Sequence[AuditEntry]:
    """Return the oldest entries behind a key that fit, for copies that are read in batches; 0 begins."""
    return list(entries(project, wanted).filter(pk__gt=key).order_by("pk")[:limit])


def newest_key(project: Project) -> int:
    """Return the key of the project's newest entry, 0 where there is none."""
    return AuditEntry.objects.filter(project=project).values_list("pk", flat=True).first() or 0

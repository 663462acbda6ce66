"""How far back a filter looks: among the newest rows, so that a page costs the same whatever is stored.

Without a bound, a filter that few rows fit would read all of them until a page is full. Where there is more, the page
says so, and its reader can have it look twice as far.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max, Model, QuerySet

from sessions_app.models import Project, Session

STRETCH_MAX = 1_024
"""How many times `MRPVM_SEARCHED_ROWS` are looked at at most."""


@dataclass(frozen=True, slots=True)
class Reach[Row: Model]:
    """The newest rows; `looked_at` says how many are read, 0 for all."""

    rows: QuerySet[Row]
    looked_at: int = 0


def newest_stored[Row: Model](rows: QuerySet[Row], stretch: int = 1) -> Reach[Row]:
    """Return those of the rows that were stored last; two queries.

    Keys count up, so their distance says at most how many rows are between: no row is read to find the bound.
    """
    stored, looked_at = rows.model._default_manager.order_by(), stretch * settings.MRPVM_SEARCHED_ROWS
    bound = (stored.aggregate(newest=Max("pk"))["newest"] or 0) - looked_at
    is_all = not stored.filter(pk__lte=bound).exists()
    return Reach(rows) if is_all else Reach(rows.filter(pk__gt=bound), looked_at)


def latest_active(sessions: QuerySet[Session], project: Project, stretch: int = 1) -> Reach[Session]:
    """Return those of the project's sessions whose activity was the latest; one query, which reads an index alone."""
    moments = Session.objects.filter(project=project).order_by("-last_activity_at", "-pk")
    looked_at = stretch * settings.MRPVM_SEARCHED_ROWS
    bound = next(iter(moments.values_list("last_activity_at", flat=True)[looked_at : looked_at + 1]), None)
    return Reach(sessions) if bound is None else Reach(sessions.filter(last_activity_at__gte=bound), looked_at)


def stretch_of(stretch: int | None) -> int:
    """Return the multiple of `MRPVM_SEARCHED_ROWS` that is read, within its bounds."""
    return min(max(stretch or 1, 1), STRETCH_MAX)

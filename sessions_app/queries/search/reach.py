"""The number of newest rows that a filter searches, so that the cost of a page does not grow with the database.

Without a bound, a filter that few rows match would read the whole table to fill a page. If there are more rows, the
page says so, and its reader can search twice as many.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max, Model, QuerySet

from sessions_app.models import Project, Session

STRETCH_MAX = 1_024
"""The largest multiple of `MRPVM_SEARCHED_ROWS` that is searched."""


@dataclass(frozen=True, slots=True)
class Reach[Row: Model]:
    """The newest rows; `looked_at` is the number of rows searched, 0 for all."""

    rows: QuerySet[Row]
    looked_at: int = 0


def newest_stored[Row: Model](rows: QuerySet[Row], stretch: int = 1) -> Reach[Row]:
    """Return the rows that were stored last; two queries.

    Keys ascend, so the difference of two keys is an upper bound of the rows between them. No row is counted.
    """
    stored, looked_at = rows.model._default_manager.order_by(), stretch * settings.MRPVM_SEARCHED_ROWS
    bound = (stored.aggregate(newest=Max("pk"))["newest"] or 0) - looked_at
    is_all = not stored.filter(pk__lte=bound).exists()
    return Reach(rows) if is_all else Reach(rows.filter(pk__gt=bound), looked_at)


def latest_active(sessions: QuerySet[Session], project: Project, stretch: int = 1) -> Reach[Session]:
    """Return the project's sessions with the latest activity; one query, which reads only an index."""
    moments = Session.objects.filter(project=project).order_by("-last_activity_at", "-pk")
    looked_at = stretch * settings.MRPVM_SEARCHED_ROWS
    bound = next(iter(moments.values_list("last_activity_at", flat=True)[looked_at : looked_at + 1]), None)
    return Reach(sessions) if bound is None else Reach(sessions.filter(last_activity_at__gte=bound), looked_at)


def stretch_of(stretch: int | None) -> int:
    """Return the multiple of `MRPVM_SEARCHED_ROWS` to search, limited to its bounds."""
    return min(max(stretch or 1, 1), STRETCH_MAX)

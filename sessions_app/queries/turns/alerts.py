"""Alerts with their history, and the rate that they look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch

from mrpvm.errors import NotFound
from sessions_app.models import Alert, AlertCrossing, ExplainabilityTurn, Project
from sessions_app.queries.search.filter_language import Filter
from sessions_app.queries.search.results import found_turns

TURNS_LOOKED_AT = 20_000
"""Of more turns in a window the newest."""
CROSSINGS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some turns fit a filter."""

    matched_count: int
    turn_count: int

    @property
    def percent(self) -> float:
        """Return the share of those that fit, from 0 to 100."""
        return 100 * self.matched_count / self.turn_count if self.turn_count else 0.0


def filter_rate(project: Project, wanted: Filter, since: datetime) -> Rate:
    """Return how many of the turns that ended and began after `since` fit; at most `TURNS_LOOKED_AT` are looked at."""
    running = ExplainabilityTurn.Status.RUNNING
    ended = found_turns(project, Filter(text="")).filter(created_at__gte=since).exclude(status=running)
    keys = ended.order_by("-created_at").values_list("created_at", flat=True)[:TURNS_LOOKED_AT]
    times = list(keys)
    if not times:
        return Rate(0, 0)
    fitting = found_turns(project, wanted).filter(created_at__gte=times[-1]).exclude(status=running)
    return Rate(min(fitting.order_by().count(), len(times)), len(times))


def alerts(project: Project) -> Sequence[Alert]:
    """Return the project's alerts with their filters and `newest_crossings`, in the order in which they were made."""
    newest = AlertCrossing.objects.order_by("-id")[:CROSSINGS_SHOWN]
    rows = Alert.objects.filter(project=project).select_related("saved_filter")
    return list(rows.prefetch_related(Prefetch("crossings", queryset=newest, to_attr="newest_crossings")))


def alert(project: Project, alert_id: str) -> Alert:
    """Return one alert.

    Raises:
        NotFound: ALERT_NOT_FOUND.
    """
    row = Alert.objects.filter(project=project, alert_id=alert_id).select_related("saved_filter").first()
    if row is None:
        raise NotFound(f"There is no alert '{alert_id}'.", code="ALERT_NOT_FOUND")
    return row


def all_alerts() -> Sequence[Alert]:
    """Return the alerts of all projects."""
    return list(Alert.objects.select_related("project", "saved_filter").order_by("pk"))

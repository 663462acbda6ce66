"""Alerts on the rate of a saved filter."""

from contextlib import suppress
from datetime import datetime
from typing import Any, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.turns.alerts import create_alert, delete_alert
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import AlertRequest
from sessions_app.api.shell.views import AdminsView
from sessions_app.models import Alert, AlertCrossing
from sessions_app.queries.turns.alerts import alert, alerts
from sessions_app.queries.turns.saved_filters import saved_filter
from sessions_app.web_hooks import signing_key


class AlertRecord(TypedDict):
    """An alert as admins see it."""

    alert_id: str
    filter_id: str
    filter: str
    limit_percent: float
    window_minutes: int
    least_turns: int
    channel: str
    target: str
    is_over: bool
    rate_percent: float | None
    checked_at: datetime | None
    created_by: str
    created_at: datetime


class CrossingRecord(TypedDict):
    """One time that an alert's limit was crossed."""

    crossing_id: str
    crossed_at: datetime
    ended_at: datetime | None
    matched: int
    turns: int
    status: str
    tries: int
    problem: str


def alert_record(alert: Alert) -> AlertRecord:
    return {
        "alert_id": alert.alert_id,
        "filter_id": alert.saved_filter.filter_id,
        "filter": alert.saved_filter.name,
        "limit_percent": alert.limit_percent,
        "window_minutes": alert.window_minutes,
        "least_turns": alert.least_turns,
        "channel": alert.channel,
        "target": alert.target,
        "is_over": alert.is_over,
        "rate_percent": alert.rate_percent,
        "checked_at": alert.checked_at,
        "created_by": alert.created_by_name,
        "created_at": alert.created_at,
    }


def crossing_record(crossing: AlertCrossing) -> CrossingRecord:
    return {
        "crossing_id": crossing.crossing_id,
        "crossed_at": crossing.crossed_at,
        "ended_at": crossing.ended_at,
        "matched": crossing.matched_count,
        "turns": crossing.turn_count,
        "status": crossing.status,
        "tries": crossing.tries,
        "problem": crossing.problem,
    }


class Alerts(AdminsView):
    """The project's alerts."""

    @schemas.alert_list
    def get(self, request: Request) -> Response:
        """List all of them, each with its newest crossings."""
        return Response({"alerts": [_listed(alert) for alert in alerts(self.project)]})

    @schemas.alert_create
    def post(self, request: Request) -> Response:
        """Make an alert; a web hook's signing key is given with it."""
        body = self.body(AlertRequest)
        saved = saved_filter(self.project, body.pop("filter_id"))
        made = create_alert(saved, self.author, **body)
        key = signing_key(made.alert_id) if made.channel == Alert.Channel.HOOK else None
        return Response({**alert_record(made), "crossings": [], "signing_key": key}, status=201)


def _listed(alert: Alert) -> dict[str, Any]:
    crossings: list[AlertCrossing] = alert.newest_crossings  # type: ignore[attr-defined]
    return {**alert_record(alert), "crossings": [crossing_record(item) for item in crossings]}


class OneAlert(AdminsView):
    """One alert."""

    @schemas.alert_delete
    def delete(self, request: Request, alert_id: str) -> Response:
        """Remove it with its history. One that is not there is gone."""
        with suppress(NotFound):
            delete_alert(alert(self.project, alert_id))
        return Response(status=204)

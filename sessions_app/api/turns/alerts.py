"""Alerts on the rate of a saved filter."""

from collections.abc import Sequence
from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.turns.alerts import create_alert, delete_alert
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import AlertRequest
from sessions_app.api.shell.views import AdminsView
from sessions_app.api.turns.responses import AlertObject, CrossingObject
from sessions_app.models import Alert, AlertCrossing
from sessions_app.queries.turns.alerts import alert, alerts
from sessions_app.queries.turns.saved_filters import saved_filter
from sessions_app.web_hooks import signing_key


def alert_record(alert: Alert, crossings: Sequence[AlertCrossing] = ()) -> AlertObject:
    """Return an alert with its newest crossings."""
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
        "crossings": [crossing_record(item) for item in crossings],
    }


def crossing_record(crossing: AlertCrossing) -> CrossingObject:
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
    @schemas.alert_list
    def get(self, request: Request) -> Response:
        """List all of them, each with its newest crossings."""
        listed = [
            alert_record(alert, alert.newest_crossings)  # type: ignore[attr-defined]  # by `alerts`
            for alert in alerts(self.project)
        ]
        return Response({"alerts": listed})

    @schemas.alert_create
    def post(self, request: Request) -> Response:
        """Make an alert; a web hook's signing key is given with it."""
        body = self.body(AlertRequest)
        saved = saved_filter(self.project, body.pop("filter_id"))
        alert = create_alert(saved, self.author, **body)
        key = signing_key(alert.alert_id) if alert.channel == Alert.Channel.HOOK else None
        return Response({**alert_record(alert), "signing_key": key}, status=201)


class OneAlert(AdminsView):
    @schemas.alert_delete
    def delete(self, request: Request, alert_id: str) -> Response:
        """Delete the alert with its history; idempotent."""
        with suppress(NotFound):
            delete_alert(alert(self.project, alert_id))
        return Response(status=204)

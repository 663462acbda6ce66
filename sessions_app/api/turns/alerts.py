"""Alerts on the rate of a saved filter."""

from contextlib import suppress
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.turns.alerts import create_alert, delete_alert
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import AlertRequest
from sessions_app.api.shell.views import ApiView
from sessions_app.models import Alert, AlertCrossing
from sessions_app.queries.turns.alerts import alert, alerts
from sessions_app.queries.turns.saved_filters import saved_filter
from sessions_app.web_hooks import signing_key


def alert_record(found: Alert) -> dict[str, Any]:
    """Return an alert as admins see it."""
    return {
        "alert_id": found.alert_id,
        "filter_id": found.saved_filter.filter_id,
        "filter": found.saved_filter.name,
        "limit_percent": found.limit_percent,
        "window_minutes": found.window_minutes,
        "least_turns": found.least_turns,
        "channel": found.channel,
        "target": found.target,
        "is_over": found.is_over,
        "rate_percent": found.rate_percent,
        "checked_at": found.checked_at,
        "created_by": found.created_by_name,
        "created_at": found.created_at,
    }


def crossing_record(found: AlertCrossing) -> dict[str, Any]:
    """Return one time that the limit was passed."""
    return {
        "crossing_id": found.crossing_id,
        "crossed_at": found.crossed_at,
        "ended_at": found.ended_at,
        "matched": found.matched_count,
        "turns": found.turn_count,
        "status": found.status,
        "tries": found.tries,
        "problem": found.problem,
    }


class AdminsView(ApiView):
    """Alerts send what is counted out of the server, so they are for admins."""

    read_role = write_role = "admin"


class Alerts(AdminsView):
    """The project's alerts."""

    @schemas.alert_list
    def get(self, request: Request) -> Response:
        """List all of them, each with its newest crossings."""
        return Response({"alerts": [_listed(found) for found in alerts(self.project)]})

    @schemas.alert_create
    def post(self, request: Request) -> Response:
        """Make an alert; a web hook's signing key is given with it."""
        body = self.body(AlertRequest)
        saved = saved_filter(self.project, body.pop("filter_id"))
        made = create_alert(saved, self.author, **body)
        key = signing_key(made.alert_id) if made.channel == Alert.Channel.HOOK else None
        return Response({**alert_record(made), "crossings": [], "signing_key": key}, status=201)


def _listed(found: Alert) -> dict[str, Any]:
    crossings: list[AlertCrossing] = found.newest_crossings  # type: ignore[attr-defined]
    return {**alert_record(found), "crossings": [crossing_record(item) for item in crossings]}


class OneAlert(AdminsView):
    """One alert."""

    @schemas.alert_delete
    def delete(self, request: Request, alert_id: str) -> Response:
        """Remove it with its history. One that is not there is gone."""
        with suppress(NotFound):
            delete_alert(alert(self.project, alert_id))
        return Response(status=204)

"""Alerts on the rates of saved filters, for admins."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.turns.alerts import TARGET_CHARS, WINDOW_MINUTES, create_alert, delete_alert
from sessions_app.mail import is_mail_set_up
from sessions_app.models import Alert
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.turns.alerts import CROSSINGS_SHOWN, alert, alerts
from sessions_app.queries.turns.saved_filters import saved_filter, saved_filters
from sessions_app.web.experiments.views import author_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell
from sessions_app.web_hooks import signing_key

_FIELDS = {"filter_id": "", "limit": "20", "window": "60", "least": "20", "channel": "hook", "target": ""}
"""The fields of the form, as they are shown first."""


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the project's alerts with their history; a POST makes one and shows its signing key."""
    fields, error, alert = dict(_FIELDS), "", None
    if request.method == "POST":
        fields = {name: request.POST.get(name, "").strip() for name in _FIELDS}
        try:
            alert = _create(member, fields)
            fields = dict(_FIELDS)
        except MRPError as refused:
            error = refused.message
    listed = alerts(member.project)
    context: dict[str, Any] = {
        "alerts": [(each, _place(each)) for each in listed],
        "filters": saved_filters(member.project),
        "fields": fields,
        "error": error,
        "signing_key": signing_key(alert.alert_id) if alert and alert.channel == Alert.Channel.HOOK else "",
        "channels": Alert.Channel.choices if is_mail_set_up() else Alert.Channel.choices[:1],
        "target_chars": TARGET_CHARS,
        "longest_window": WINDOW_MINUTES[1],
        "crossings_shown": CROSSINGS_SHOWN,
    }
    return page(request, "turns/alerts.html", member, context, section="turns", status=400 if error else 200)


def _create(member: Member, fields: dict[str, str]) -> Alert:
    window, least = whole_number(fields["window"]), whole_number(fields["least"])
    if window is None or least is None:
        raise InvalidInput("Window and least number of turns are whole numbers.")
    try:
        limit_percent = float(fields["limit"])
    except ValueError:
        raise InvalidInput("The limit is a number, such as 12.5.") from None
    return create_alert(
        saved_filter(member.project, fields["filter_id"]),
        author_of(member),
        limit_percent=limit_percent,
        window_minutes=window,
        least_turns=least,
        channel=fields["channel"],
        target=fields["target"],
    )


def _place(alert: Alert) -> str:
    """Return where an alert is sent; of a web hook only the host, because the rest of its address may be secret."""
    return alert.target if alert.channel == Alert.Channel.MAIL else urlsplit(alert.target).netloc


@form_of("alerts")
@member_view("admin")
def delete(request: HttpRequest, member: Member, alert_id: str) -> HttpResponse:
    """Delete an alert with its history."""
    row = alert(member.project, alert_id)
    delete_alert(row)
    tell(request, f"The alert on “{row.saved_filter.name}” is deleted.")
    return HttpResponseRedirect(reverse("alerts"))

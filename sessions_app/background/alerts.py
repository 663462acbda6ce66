"""Alerts: compares rates with their limits and sends a message when one is crossed."""

import json
import logging
import time
from collections.abc import Callable

from django.urls import reverse
from django.utils import timezone

from sessions_app.actions.turns.alerts import claim_crossing, compare_with_limit, note_told, note_untold
from sessions_app.exclusive import alone_at
from sessions_app.mail import send_mail
from sessions_app.models import Alert, AlertCrossing
from sessions_app.public_address import public_address
from sessions_app.queries.turns.alerts import all_alerts
from sessions_app.web_hooks import PostFailedError, WebhookMessage, post, signing_key

TELLING_SECONDS = 20.0
"""Time limit for sending in one sweep; the next sweep sends the rest."""

logger = logging.getLogger(__name__)


def watch_rates(pause: Callable[[], None]) -> int:
    """Compare every alert's rate with its limit and send what crossed it; return how many crossings were sent."""
    with alone_at("watching-rates") as hold:
        if hold is not None:
            for alert in all_alerts():
                compare_with_limit(alert, timezone.now())
                pause()
    notified, began = 0, time.monotonic()
    while time.monotonic() - began < TELLING_SECONDS and (crossing := claim_crossing(timezone.now())):
        notified += _tell(crossing)
    return notified


def _tell(crossing: AlertCrossing) -> bool:
    """Send a crossing by its alert's channel; return whether it was accepted."""
    alert = crossing.alert
    try:
        if alert.channel == Alert.Channel.HOOK:
            message = WebhookMessage(
                message_id=crossing.crossing_id,
                body=json.dumps(_payload(crossing)).encode(),
                key=signing_key(alert.alert_id),
            )
            post(alert.target, message, int(time.time()))
        else:
            send_mail(alert.target, *_letter(crossing), crossing.crossing_id)
    except (PostFailedError, OSError) as error:
        # The address may hold a secret, so the log names the alert alone.
        logger.warning("the alert %s could not be sent: %s", alert.alert_id, error)
        note_untold(crossing, str(error) or type(error).__name__)
        return False
    note_told(crossing)
    return True


def _payload(crossing: AlertCrossing) -> dict[str, object]:
    alert = crossing.alert
    return {
        "type": "alert.crossed",
        "timestamp": crossing.crossed_at.isoformat(),
        "data": {
            "alert_id": alert.alert_id,
            "crossing_id": crossing.crossing_id,
            "project": alert.project.slug,
            "filter_id": alert.saved_filter.filter_id,
            "filter": alert.saved_filter.name,
            "q": alert.saved_filter.text,
            "limit_percent": alert.limit_percent,
            "window_minutes": alert.window_minutes,
            "matched": crossing.matched_count,
            "turns": crossing.turn_count,
            "url": _address(alert),
        },
    }


def _address(alert: Alert) -> str | None:
    """Return where the turns are listed that fit; None where the server does not know its address."""
    public = public_address()
    return None if public is None else public + reverse("turn-filter", args=[alert.saved_filter.filter_id])


def _letter(crossing: AlertCrossing) -> tuple[str, str]:
    """Return subject and text of a mail."""
    alert = crossing.alert
    name = " ".join(alert.saved_filter.name.split())
    address = _address(alert)
    percent = 100 * crossing.matched_count / crossing.turn_count
    subject = f"[mrpvm] {name}: {percent:.1f} % of the turns"
    text = (
        f"{crossing.matched_count} of the {crossing.turn_count} turns of the last {alert.window_minutes} minutes"
        f" in the project {alert.project.name} fit the filter “{name}” ({alert.saved_filter.text}):"
        f" {percent:.1f} %. The limit is {alert.limit_percent:g} %.\n\n"
        f"{f'{address}\n\n' if address else ''}"
        f"Seen {crossing.crossed_at:%Y-%m-%d %H:%M} UTC. This is told once; again when the rate was within the limit"
        " in between.\n"
    )
    return subject, text

"""Create, delete and check alerts, and claim crossings for notification, each once."""

import math
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.audit import record
from sessions_app.exclusive import wait_for_turn
from sessions_app.mail import is_mail_set_up
from sessions_app.models import Alert, AlertCrossing, AuditKind, SavedFilter
from sessions_app.queries.search.filter_language import parse
from sessions_app.queries.turns.alerts import Rate, filter_rate
from sessions_app.web_hooks import checked_address

MOST_ALERTS = 50
"""Alerts of a project."""
WINDOW_MINUTES = (1, 10_080)
"""The shortest and the longest window: a week."""
TARGET_CHARS = 500
KEPT_CROSSINGS = 200
"""How many of an alert's newest crossings are kept."""
MOST_TRIES = 6
FIRST_WAIT = timedelta(seconds=30)
"""The wait before the second attempt, doubled before each further one."""
LEASE = timedelta(minutes=2)
"""An attempt that has not ended by then counts as abandoned with its process."""
_COUNT_MAX = 1_000_000


def create_alert(
    saved: SavedFilter,
    author: Author,
    *,
    limit_percent: float,
    window_minutes: int,
    least_turns: int,
    channel: str,
    target: str,
) -> Alert:
    """Return a new alert on the rate of a filter.

    Raises:
        InvalidInput: a number out of range; an invalid address; mail without a mail server.
        Conflict: the project has too many.
    """
    target = target.strip()
    if not (math.isfinite(limit_percent) and 0 <= limit_percent < 100):
        raise InvalidInput("The limit is a percentage from 0 to less than 100.")
    shortest, longest = WINDOW_MINUTES
    if not shortest <= window_minutes <= longest:
        raise InvalidInput(f"The window has {shortest} to {longest} minutes.")
    if not 1 <= least_turns <= _COUNT_MAX:
        raise InvalidInput(f"The least number of turns is from 1 to {_COUNT_MAX}.")
    if len(target) > TARGET_CHARS:
        raise InvalidInput(f"The address has at most {TARGET_CHARS} characters.")
    _check_target(channel, target)
    with transaction.atomic():
        wait_for_turn(f"alerts-{saved.project_id}")
        if Alert.objects.filter(project=saved.project_id).count() >= MOST_ALERTS:
            raise Conflict(f"A project has at most {MOST_ALERTS} alerts.")
        alert = Alert.objects.create(
            project=saved.project,
            saved_filter=saved,
            limit_percent=limit_percent,
            window_minutes=window_minutes,
            least_turns=least_turns,
            channel=channel,
            target=target,
            created_by_name=author.name[:150],
        )
        facts = {"limit_percent": limit_percent, "window_minutes": window_minutes, "channel": channel}
        record(AuditKind.ALERT_CREATED, alert.project_id, _subject(alert), **facts)
    return alert


def _check_target(channel: str, target: str) -> None:
    if channel == Alert.Channel.HOOK:
        checked_address(target)
    elif channel == Alert.Channel.MAIL:
        if not is_mail_set_up():
            raise InvalidInput("This server sends no mail: EMAIL_HOST names no mail server.")
        try:
            validate_email(target)
        except ValidationError:
            raise InvalidInput("That is no mail address.") from None
    else:
        raise InvalidInput("An alert is told by hook or mail.")


@transaction.atomic
def delete_alert(alert: Alert) -> None:
    """Remove an alert with its history."""
    record(AuditKind.ALERT_DELETED, alert.project_id, _subject(alert))
    alert.delete()


def _subject(alert: Alert) -> str:
    return f"alert on “{alert.saved_filter.name}” ({alert.alert_id})"


def compare_with_limit(alert: Alert, now: datetime) -> None:
    """Compare the rate of the alert's window with its limit, and store a crossing if there is a new one.

    Of concurrent calls one stores it. A window of too few turns changes nothing.
    """
    since = now - timedelta(minutes=alert.window_minutes)
    rate = filter_rate(alert.project, parse(alert.saved_filter.text), since)
    if rate.turn_count < alert.least_turns:
        Alert.objects.filter(pk=alert.pk).update(rate_percent=None, checked_at=now)
        return
    is_over = rate.percent > alert.limit_percent
    with transaction.atomic():
        Alert.objects.filter(pk=alert.pk).update(rate_percent=rate.percent, checked_at=now)
        if not Alert.objects.filter(pk=alert.pk, is_over=not is_over).update(is_over=is_over):
            return
        if is_over:
            _add_crossing(alert, rate, now)
        else:
            AlertCrossing.objects.filter(alert=alert, ended_at=None).update(ended_at=now)


def _add_crossing(alert: Alert, rate: Rate, now: datetime) -> None:
    AlertCrossing.objects.create(
        alert=alert,
        crossed_at=now,
        next_try_at=now,
        matched_count=rate.matched_count,
        turn_count=rate.turn_count,
    )
    kept = AlertCrossing.objects.filter(alert=alert).order_by("-id").values_list("pk", flat=True)[:KEPT_CROSSINGS]
    AlertCrossing.objects.filter(alert=alert).exclude(pk__in=list(kept)).delete()


def claim_crossing(now: datetime) -> AlertCrossing | None:
    """Return a crossing that is due for notification, or None; it is not returned again before `LEASE` is over."""
    due = AlertCrossing.objects.filter(status=AlertCrossing.Status.WAITING, next_try_at__lte=now)
    for crossing in due.select_related("alert__saved_filter", "alert__project").order_by("next_try_at")[:10]:
        mine = AlertCrossing.objects.filter(pk=crossing.pk, status=crossing.status, next_try_at=crossing.next_try_at)
        if mine.update(next_try_at=now + LEASE, tries=F("tries") + 1):
            crossing.tries += 1
            return crossing
    return None


def note_told(crossing: AlertCrossing) -> None:
    """Store that the receiver has accepted the notification."""
    AlertCrossing.objects.filter(pk=crossing.pk).update(status=AlertCrossing.Status.SENT, problem="")


def note_untold(crossing: AlertCrossing, problem: str) -> None:
    """Store why a notification failed; it is repeated later, up to `MOST_TRIES` attempts in all."""
    is_last = crossing.tries >= MOST_TRIES
    wait = FIRST_WAIT * 2 ** (crossing.tries - 1)
    AlertCrossing.objects.filter(pk=crossing.pk).update(
        status=AlertCrossing.Status.FAILED if is_last else AlertCrossing.Status.WAITING,
        next_try_at=timezone.now() + wait,
        problem=problem[:300],
    )

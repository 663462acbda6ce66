"""Turns whose process went away: closed once, as interrupted, by whoever comes next [T-36 to T-38]."""

from typing import Any

from django.utils import timezone

from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.close import close_turn

Status = ExplainabilityTurn.Status
INTERRUPTED: dict[str, Any] = {
    "code": "TURN_INTERRUPTED",
    "message": "The server process ended while this turn was running; nothing of it was kept.",
    "details": {},
}


def recover_abandoned(session: Session | None = None) -> int:
    """Close running turns whose lease has run out, all or one session's; gives how many."""
    abandoned = ExplainabilityTurn.objects.filter(status=Status.RUNNING, lease_until__lt=timezone.now())
    if session is not None:
        abandoned = abandoned.filter(session=session)
    return sum(close_turn(turn_pk, INTERRUPTED) for turn_pk in list(abandoned.values_list("pk", flat=True)))


def recover_all_running() -> int:
    """Close every running turn, leased or not: for the start of a server that is alone on its database [T-38]."""
    running = ExplainabilityTurn.objects.filter(status=Status.RUNNING)
    return sum(close_turn(turn_pk, INTERRUPTED) for turn_pk in list(running.values_list("pk", flat=True)))

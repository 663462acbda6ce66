"""Turns that run."""

from collections.abc import Collection

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from sessions_app.exclusive import is_of_ended_process
from sessions_app.models import ExplainabilityTurn, Session


def running_turns() -> QuerySet[ExplainabilityTurn]:
    """Return the running turns of all sessions."""
    return ExplainabilityTurn.objects.filter(status=ExplainabilityTurn.Status.RUNNING)


def abandoned_turns(session: Session | None = None, unclosed: Collection[str] = ()) -> QuerySet[ExplainabilityTurn]:
    """Return running turns whose lease has run out, or whose request id is one of `unclosed`.

    Args:
        session: only its turns; else those of all sessions.
    """
    abandoned = Q(lease_until__lt=timezone.now())
    if unclosed:
        abandoned |= Q(request_id__in=unclosed)
    turns = running_turns().filter(abandoned)
    return turns if session is None else turns.filter(session=session)


def turns_of_ended_processes() -> QuerySet[ExplainabilityTurn]:
    """Return running turns whose process does not hold its lock now; none with SQLite."""
    if connection.vendor != "postgresql":
        return ExplainabilityTurn.objects.none()
    return running_turns().filter(is_of_ended_process("process"))


def runs_a_turn() -> Exists:
    """Return the condition that a turn is running in a session."""
    return Exists(running_turns().filter(session=OuterRef("pk")))


def is_running(turn_pk: int) -> bool:
    return running_turns().filter(pk=turn_pk).exists()


def cancel_is_requested(turn_pk: int) -> bool:
    return ExplainabilityTurn.objects.filter(pk=turn_pk, cancel_requested_at__isnull=False).exists()

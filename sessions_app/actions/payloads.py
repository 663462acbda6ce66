"""Payloads of old turns are removed, if the operator wants that; the structure of a turn outlives them [O-5]."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app.actions.sessions import TURNS_A_TRANSACTION
from sessions_app.models import ExplainabilityTurn, TurnDetail


def remove_old_payloads(step_back: Callable[[], None] = lambda: None) -> int:
    """Remove the payloads of turns that began more than `MRPVM_KEEP_PAYLOADS_DAYS` ago; gives of how many turns.

    Args:
        step_back: called between two transactions; lets running turns go first.
    """
    days = settings.MRPVM_KEEP_PAYLOADS_DAYS
    removed = 0
    while days and (count := _remove_some(days)):
        removed += count
        step_back()
    return removed


@transaction.atomic
def _remove_some(days: int) -> int:
    now = timezone.now()
    old = ExplainabilityTurn.objects.filter(payloads_removed_at__isnull=True, created_at__lt=now - timedelta(days=days))
    ended = old.exclude(status=ExplainabilityTurn.Status.RUNNING).order_by("created_at")
    turns = list(ended.select_for_update().values_list("pk", flat=True)[:TURNS_A_TRANSACTION])
    TurnDetail.objects.filter(turn__in=turns).update(body=b"")
    return ExplainabilityTurn.objects.filter(pk__in=turns).update(payloads_removed_at=now)

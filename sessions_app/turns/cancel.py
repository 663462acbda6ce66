"""Stopping a running turn [O-19]."""

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict
from sessions_app.models import ExplainabilityTurn


@transaction.atomic
def request_cancel(turn: ExplainabilityTurn) -> None:
    """Ask the turn to end, in whichever process it runs; it ends as cancelled within about 100 ms of its next wait.

    Raises:
        Conflict: the turn has ended already.
    """
    stored = ExplainabilityTurn.objects.filter(pk=turn.pk)
    if not stored.filter(status=ExplainabilityTurn.Status.RUNNING).update(cancel_requested_at=timezone.now()):
        status = stored.values_list("status", flat=True).first()  # the caller's may be of before its end
        raise Conflict("The turn has ended already.", code="TURN_NOT_RUNNING", details={"status": status})

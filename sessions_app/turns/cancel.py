"""Stopping a running turn: the request for it, and the watch that sees it in whichever process the turn runs."""

import time

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, TurnCancelled
from sessions_app import shutdown
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


class Watch:
    """One turn's watch, from its slot to its end; used on the turn's thread alone."""

    def __init__(self, turn: ExplainabilityTurn) -> None:
        self._turn_pk = turn.pk
        self._looked_at = time.monotonic()

    def look(self) -> None:
        """Raise if the turn must end; asks the database every `MRPVM_TRACE_FLUSH_MS` at most.

        Raises:
            TurnInterrupted: the server ends.
            TurnCancelled: somebody stopped the turn.
        """
        shutdown.interrupt_if_over()
        if (time.monotonic() - self._looked_at) * 1000 < settings.MRPVM_TRACE_FLUSH_MS:
            return
        self._looked_at = time.monotonic()
        if ExplainabilityTurn.objects.filter(pk=self._turn_pk, cancel_requested_at__isnull=False).exists():
            raise TurnCancelled("The turn was stopped.")

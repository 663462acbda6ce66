"""Looks now and then whether a running turn must end, in whichever process that was asked for [O-19]."""

import time

from django.conf import settings

from mrpvm.errors import TurnCancelled
from sessions_app import shutdown
from sessions_app.models import ExplainabilityTurn


class Watch:
    """One turn's watch, from its slot to its end; used on the turn's thread alone."""

    def __init__(self, turn: ExplainabilityTurn) -> None:
        self._row = ExplainabilityTurn.objects.filter(pk=turn.pk, cancel_requested_at__isnull=False)
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
        if self._row.exists():
            raise TurnCancelled("The turn was stopped.")

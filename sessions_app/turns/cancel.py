"""The watch that sees the request to cancel a turn, in whichever process the turn runs."""

import time

from django.conf import settings

from mrpvm.errors import TurnCancelled
from sessions_app import shutdown
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.running import cancel_is_requested


class CancelWatch:
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
        if cancel_is_requested(self._turn_pk):
            raise TurnCancelled("The turn was stopped.")

"""What long work checks while it runs: a server shutdown, a request to stop, running turns."""

import time
from collections.abc import Callable

from mrpvm.errors import TurnCancelled, TurnInterrupted
from sessions_app import shutdown
from sessions_app.pacing import Pacer

LOOK_SECONDS = 0.25


class Watch:
    """Whether running work may continue, and how far it has come.

    Args:
        is_wanted: notes how far the work has come, and returns whether it shall continue; asked four times a second at
            most.
        apart: as for `Pacer`.
    """

    def __init__(self, is_wanted: Callable[[], bool], *, apart: bool = False) -> None:
        self._is_wanted = is_wanted
        self._is_stopped = False
        self._looked_at = 0.0
        self._pacer = Pacer(apart=apart)

    def look(self) -> None:
        """Raise if the work must end.

        Raises:
            TurnInterrupted: the server ends.
            TurnCancelled: somebody stopped or removed the work.
        """
        if shutdown.remaining_seconds() is not None:
            raise TurnInterrupted("The server was stopped while this ran.")
        if not self._is_stopped and time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._is_stopped = not self._is_wanted()
        if self._is_stopped:
            raise TurnCancelled("It was stopped.")

    def pause(self) -> None:
        """Pause while turns run."""
        self._pacer.pause()

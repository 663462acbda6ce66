"""The server's end as turns see it: new ones are refused, running ones get a short while."""

import threading
import time

from django.conf import settings

from mrpvm.errors import TurnInterrupted, Unavailable

_deadline: float | None = None
_lock = threading.Lock()


def begin() -> None:
    """Start the end: from now on no turn starts, and running ones end within the grace period."""
    global _deadline
    with _lock:
        if _deadline is None:
            _deadline = time.monotonic() + settings.MRPVM_SHUTDOWN_GRACE_MS / 1000


def reset() -> None:
    """Reset, for a server that is started again in the same process."""
    global _deadline
    with _lock:
        _deadline = None


def refuse_new_turns() -> None:
    """Raise once the end has started.

    Raises:
        Unavailable: SERVER_SHUTTING_DOWN.
    """
    if _deadline is not None:
        raise Unavailable("The server is shutting down. Try again in a moment.", code="SERVER_SHUTTING_DOWN")


def interrupt_if_over() -> None:
    """Raise when the grace period has passed.

    Raises:
        TurnInterrupted: the turn must end now.
    """
    if _deadline is not None and time.monotonic() >= _deadline:
        raise TurnInterrupted("The server was stopped while this turn was running.")


def remaining_seconds() -> float | None:
    """Return how long running turns still have, 0 or less when their time is over; None while no end has started."""
    return None if _deadline is None else _deadline - time.monotonic()

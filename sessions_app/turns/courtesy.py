"""Work in the background steps back while turns run: turns get half of the CPU and of SQLite's single writer.

A turn asks for both many times and for a short while each, so what it loses by waiting adds up. A process knows of its
own turns; where several processes serve the same data, the background work asks for the rows of running turns instead,
so that a turn itself has nothing more to do.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils import timezone

from sessions_app.models import ExplainabilityTurn

LONGEST_PAUSE_SECONDS = 0.25
_POLL_SECONDS = 0.02

_running_count = 0
_all_ended = threading.Condition()


@contextmanager
def turn_running() -> Iterator[None]:
    """Have background work of this process step back until the block ends."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _running_count
    with _all_ended:
        _running_count += change
        if not _running_count:
            _all_ended.notify_all()


class Courtesy:
    """One piece of background work that steps back now and then; for one thread.

    Args:
        apart: the work is done by a process of its own, which runs no turns.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._asks_rows = apart or settings.MRPVM_WORKER_COUNT > 1
        self._resumed = time.monotonic()

    def step_back(self) -> None:
        """Wait while turns run, at most as long as the work went on since the last time, and never long."""
        pause = min(time.monotonic() - self._resumed, LONGEST_PAUSE_SECONDS)
        if self._asks_rows:
            until = time.monotonic() + pause
            while time.monotonic() < until and _runs_anywhere():
                time.sleep(_POLL_SECONDS)
        else:
            with _all_ended:
                _all_ended.wait_for(lambda: not _running_count, pause)
        self._resumed = time.monotonic()


def _runs_anywhere() -> bool:
    """Tell whether any process runs a turn; one query, by an index of running turns."""
    running = ExplainabilityTurn.objects.filter(status=ExplainabilityTurn.Status.RUNNING)
    return running.filter(lease_until__gte=timezone.now()).exists()

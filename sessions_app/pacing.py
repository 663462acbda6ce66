"""Pacing of background work: it pauses while turns run, so that they get half of the CPU and of SQLite's writer.

A process counts its own turns. Where several processes serve the same data, background work looks for rows of running
turns instead, so that a turn itself has nothing more to do.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from sessions_app.models import ExplainabilityTurn

_POLL_SECONDS = 0.02

_running_count = 0
_all_ended = threading.Condition()


@contextmanager
def turn_running() -> Iterator[None]:
    """Count one running turn of this process until the block ends."""
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


class Pacer:
    """Pauses one piece of background work between its transactions; for one thread.

    Args:
        apart: the work is done by a process of its own, which runs no turns.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._asks_rows = apart or settings.MRPVM_WORKER_COUNT > 1
        self._resumed = time.monotonic()

    def pause(self) -> None:
        """Wait while turns run, at most as long as the work since the last pause took, and never long."""
        pause_seconds = min(time.monotonic() - self._resumed, settings.MRPVM_PACING_SECONDS)
        if self._asks_rows:
            until = time.monotonic() + pause_seconds
            while time.monotonic() < until and ExplainabilityTurn.is_any_running():
                time.sleep(_POLL_SECONDS)
        else:
            with _all_ended:
                _all_ended.wait_for(lambda: not _running_count, pause_seconds)
        self._resumed = time.monotonic()

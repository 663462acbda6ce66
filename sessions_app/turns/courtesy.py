"""Work in the background steps back while turns run: turns get half of the CPU and of SQLite's single writer.

A turn asks for both many times and for a short while each, so what it loses by waiting adds up.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_PAUSE_SECONDS = 0.25

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
    """One piece of background work that steps back now and then; for one thread."""

    def __init__(self) -> None:
        self._resumed = time.monotonic()

    def step_back(self) -> None:
        """Wait while turns run, at most as long as the work went on since the last time, and never long."""
        worked = time.monotonic() - self._resumed
        with _all_ended:
            _all_ended.wait_for(lambda: not _running_count, min(worked, LONGEST_PAUSE_SECONDS))
        self._resumed = time.monotonic()

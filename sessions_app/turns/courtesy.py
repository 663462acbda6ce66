"""Work in the background steps back while turns run: of the processor and of SQLite's one writer they get half.

A turn asks for both many times and for a short while each, so what it loses by waiting adds up.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_PAUSE_SECONDS = 0.25
_LOOK_SECONDS = 0.002

_running_count = 0
_lock = threading.Lock()


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
    with _lock:
        _running_count += change


class Courtesy:
    """One piece of background work that steps back now and then; for one thread."""

    def __init__(self) -> None:
        self._resumed = time.monotonic()

    def step_back(self) -> None:
        """Wait while turns run, at most as long as the work went on since the last time, and never long."""
        began = time.monotonic()
        until = began + min(began - self._resumed, LONGEST_PAUSE_SECONDS)
        while _running_count and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        self._resumed = time.monotonic()

"""How many reading processes this server has at once: each may take a gigabyte of memory and a whole processor."""

import contextlib
import threading
from collections.abc import Callable, Iterator

PROCESSES_AT_ONCE = 2
_LOOK_SECONDS = 0.1

_slots = threading.BoundedSemaphore(PROCESSES_AT_ONCE)


@contextlib.contextmanager
def one(watch: Callable[[], object]) -> Iterator[None]:
    """Hold one of the places, waiting for it as long as `watch` does not raise."""
    while not _slots.acquire(timeout=_LOOK_SECONDS):
        watch()
    try:
        yield
    finally:
        _slots.release()

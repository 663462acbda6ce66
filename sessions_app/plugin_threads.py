"""The worker threads that plugins run on, and calls bounded in time for callers outside the machine."""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from django.conf import settings
from django.db import connections

from mrpvm.contracts import Descriptor
from mrpvm.kernel.scheduler import TICK_MS
from mrpvm.kernel.workers import Workers
from sessions_app.database import living_connection
from sessions_app.fair_share import fair_share

type Patience = Callable[[], float]
"""Returns the milliseconds left for all plugins together; called while they work, and raises to end the wait."""


class TurnWorkers(Workers):
    """Worker threads; a turn that waits for one gives up its place in `fair_share`."""

    def submit(self, work: Callable[[], Any], done: Callable[[Future[Any]], None]) -> Callable[[], None]:
        fair_share.pause()
        return super().submit(work, done)


# Each thread keeps its database connection as long as that works, as request threads do.
workers = TurnWorkers(around=living_connection, leave=connections.close_all)


def unhurried() -> float:
    """Set no limit beyond each plugin's own timeout."""
    return math.inf


def call_in_time[Reply](descriptor: Descriptor, call: Callable[[], Reply], patience: Patience = unhurried) -> Reply:
    """Return what a plugin's call returns, made on a worker thread.

    Raises:
        TimeoutError: it did not return in the plugin's time or in what was left of the caller's, and is left behind;
            it was not called at all if nothing was left.
        Whatever the call raises, and `patience`, which is asked every `TICK_MS`.
    """
    return on_plugin_thread(min(descriptor.timeout_ms, settings.MRPVM_PLUGIN_TIMEOUT_MS, patience()), call, patience)


def on_plugin_thread[Reply](limit_ms: float, call: Callable[[], Reply], patience: Patience = unhurried) -> Reply:
    """Return what the call returns on a worker thread.

    Raises:
        TimeoutError: it did not return within the limit, and is left behind.
        Whatever the call or `patience` raises.
    """
    if limit_ms <= 0:
        raise TimeoutError("no time was left for it")
    deadline = time.monotonic() + limit_ms / 1000
    returned: SimpleQueue[Future[Reply]] = SimpleQueue()
    abandon = workers.submit(call, returned.put)
    try:
        while (left_seconds := deadline - time.monotonic()) > 0:
            with suppress(Empty):
                future = returned.get(timeout=min(left_seconds, TICK_MS / 1000))
                break
            patience()
        else:
            raise TimeoutError(f"no answer within {limit_ms:.0f} ms")
    finally:
        abandon()
    return future.result()

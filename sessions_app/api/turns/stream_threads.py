"""Threads for work that outlives the client of its stream."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore

from mrpvm.errors import Unavailable
from sessions_app.database import living_connection


class StreamThreads:
    """A thread pool with a limit; work beyond it is refused, never queued. An idle thread stays for the next work."""

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._free = BoundedSemaphore(most)
        self._threads = ThreadPoolExecutor(most, thread_name_prefix=name)

    def start(self, work: Callable[[], None]) -> None:
        """Run the work on a thread of its own.

        Raises:
            Unavailable: SERVER_BUSY.
        """
        if not self._free.acquire(blocking=False):
            raise Unavailable(
                f"{self._most} streams are worked on, as many as may be. Try again in a moment.", code="SERVER_BUSY"
            )
        try:
            self._threads.submit(copy_context().run, self._run, work)  # the log continues naming the request
        except BaseException:
            self._free.release()
            raise

    def _run(self, work: Callable[[], None]) -> None:
        try:
            with living_connection():
                work()
        finally:
            self._free.release()

"""Where turns run: on the request's own thread, or for a stream on a thread that outlives its client [T-34]."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

from django.conf import settings
from django.db import close_old_connections

from mrpvm.errors import Unavailable


class RunningTurns:
    """The turns of this process: `MRPVM_MAX_RUNNING_TURNS` at once; one more is refused, never queued."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._threads: ThreadPoolExecutor | None = None

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place for a turn on the calling thread.

        Raises:
            Unavailable: SERVER_BUSY.
        """
        self._take()
        try:
            yield
        finally:
            self._leave()

    def start(self, prepare: Callable[[], Callable[[], None]]) -> None:
        """Take a place, call `prepare` here, and run what it gives on a thread of its own.

        Such a thread keeps its database connection for the next turn.

        Raises:
            Unavailable: SERVER_BUSY; then `prepare` is not called. Also whatever `prepare` raises.
        """
        self._take()
        try:
            work = prepare()
            if self._threads is None:
                self._threads = ThreadPoolExecutor(settings.MRPVM_MAX_RUNNING_TURNS, thread_name_prefix="turn")
            self._threads.submit(self._run, work)
        except BaseException:
            self._leave()
            raise

    def _run(self, work: Callable[[], None]) -> None:
        try:
            close_old_connections()
            work()
        finally:
            close_old_connections()
            self._leave()

    def _take(self) -> None:
        with self._lock:
            if self._count >= settings.MRPVM_MAX_RUNNING_TURNS:
                raise Unavailable(
                    f"The server runs {self._count} turns, as many as it is allowed to. Try again in a moment.",
                    code="SERVER_BUSY",
                )
            self._count += 1

    def _leave(self) -> None:
        with self._lock:
            self._count -= 1


running_turns = RunningTurns()
"""This process's."""

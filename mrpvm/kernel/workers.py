"""Worker threads for plugin calls.

A call that does not return in time is abandoned together with its thread, so that a hanging plugin never takes a
thread from other turns.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from threading import Lock
from typing import Any


class Workers:
    """Reused threads, each of which runs one call at a time.

    Args:
        around: a context manager around each call, on its thread.
        leave: called on a thread before it ends.
    """

    def __init__(
        self,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self._idle: deque[ThreadPoolExecutor] = deque()
        self._lock = Lock()
        self._around = around
        self._leave = leave

    def submit(self, work: Callable[[], Any], done: Callable[["Future[Any]"], None]) -> Callable[[], None]:
        """Run `work` on a thread, then call `done` there with its future; return a function that abandons the call."""
        with self._lock:
            thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="plugin")
        abandoned = False

        def finish(future: "Future[Any]") -> None:
            with self._lock:
                is_kept = not abandoned  # read once: abandoning the call after this is too late
                if is_kept:
                    self._idle.append(thread)
            if is_kept:
                done(future)
            else:
                self._end(thread)

        def abandon() -> None:
            nonlocal abandoned
            with self._lock:
                abandoned = True

        thread.submit(copy_context().run, self._run, work).add_done_callback(finish)
        return abandon

    def _run(self, work: Callable[[], Any]) -> Any:
        with self._around():
            return work()

    def close(self) -> None:
        """End all idle threads and wait for them."""
        with self._lock:
            threads, self._idle = list(self._idle), deque()
        for thread in threads:
            self._end(thread)
            thread.shutdown(wait=True)

    def _end(self, thread: ThreadPoolExecutor) -> None:
        thread.submit(self._leave)
        thread.shutdown(wait=False)

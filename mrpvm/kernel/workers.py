"""Threads that plugin calls run on.

A call that does not come back in time is left behind together with its thread, so that a hanging plugin can never
use up the threads that other turns need.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from threading import Lock
from typing import Any


class Workers:
    """Warm single threads, lent one call at a time.

    Args:
        around: what each call runs in, on its thread.
        leave: runs on a thread before it ends.
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
        """Run `work` on a thread and call `done` there with its future; return a function that abandons the call."""
        with self._lock:
            thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="plugin")
        abandoned = False

        def finish(future: "Future[Any]") -> None:
            with self._lock:
                is_kept = not abandoned  # asked once: abandoned from here on, it comes too late
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
        """End all idle threads and wait until each has left."""
        with self._lock:
            threads, self._idle = list(self._idle), deque()
        for thread in threads:
            self._end(thread)
            thread.shutdown(wait=True)

    def _end(self, thread: ThreadPoolExecutor) -> None:
        thread.submit(self._leave)
        thread.shutdown(wait=False)

"""The threads that run experiments: a limited number at a time; some more wait, and others are refused."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import Lock

from django.conf import settings
from django.db import connections

from mrpvm.errors import Unavailable
from sessions_app import shutdown
from sessions_app.database import living_connection

WAITING_A_PLACE = 10
"""How many experiments may wait for each that may run."""


class ExperimentPool:
    """Experiments of this process, `MRPVM_MAX_RUNNING_EXPERIMENTS` at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._threads: ThreadPoolExecutor | None = None

    def refuse_if_full(self) -> None:
        """Refuse an experiment before anything is made for it.

        Raises:
            Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
        """
        shutdown.refuse_new_turns()
        if self._count >= settings.MRPVM_MAX_RUNNING_EXPERIMENTS * (1 + WAITING_A_PLACE):
            raise Unavailable(
                f"{self._count} experiments run or wait. Try again when some of them have ended.", code="SERVER_BUSY"
            )

    def start[**Given](self, run: Callable[Given, None], *args: Given.args, **kwargs: Given.kwargs) -> Future[None]:
        """Run an experiment, or other long work, once a place is free; the future completes with it."""
        with self._lock:
            self._count += 1
            if self._threads is None:
                size = settings.MRPVM_MAX_RUNNING_EXPERIMENTS
                self._threads = ThreadPoolExecutor(size, thread_name_prefix="experiment")
            return self._threads.submit(copy_context().run, self._run, partial(run, *args, **kwargs))

    def _run(self, run: Callable[[], None]) -> None:
        try:
            with living_connection():
                run()
        finally:
            connections.close_all()  # such a thread is seldom used: it keeps none
            with self._lock:
                self._count -= 1


pool = ExperimentPool()
"""The pool of this process."""

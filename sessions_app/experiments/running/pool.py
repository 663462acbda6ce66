"""The threads that run experiments: a limited number at a time; some more wait, and others are refused."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Condition

from django.conf import settings
from django.db import connections

from mrpvm.errors import Unavailable
from sessions_app import shutdown
from sessions_app.database import living_connection

logger = logging.getLogger(__name__)

WAITING_A_PLACE = 10
"""How many experiments may wait for each that may run."""
LOOK_SECONDS = 1.0
"""How often what waits for a place is looked at: so it keeps its lease, and ends when somebody stops it."""
_MOST_THREADS = 256
"""Each holds an experiment, most of them one that waits: a base may be tested by many suites at once."""


class ExperimentPool:
    """Experiments of this process, `MRPVM_MAX_RUNNING_EXPERIMENTS` at a time."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._count = self._running_count = 0
        self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="experiment")

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
        """Run an experiment, or other long work, on a thread; it takes a `place`. The future completes with it."""
        with self._changed:
            self._count += 1
            return self._threads.submit(copy_context().run, self._run, partial(run, *args, **kwargs))

    @contextmanager
    def place(self, look: Callable[[], object]) -> Iterator[None]:
        """Hold one of the places for what runs, waiting for it as long as `look` does not raise."""
        while not self._take_place():
            look()
            connections.close_all()  # what waits keeps none
        try:
            yield
        finally:
            with self._changed:
                self._running_count -= 1
                self._changed.notify()

    def _take_place(self) -> bool:
        with self._changed:
            is_free = self._changed.wait_for(
                lambda: self._running_count < settings.MRPVM_MAX_RUNNING_EXPERIMENTS, LOOK_SECONDS
            )
            self._running_count += is_free
            return is_free

    def _run(self, run: Callable[[], None]) -> None:
        try:
            with living_connection():
                run()
        except Exception:
            logger.exception("an experiment, or an act of forgetting, could not be closed")
            raise
        finally:
            connections.close_all()  # such a thread is seldom used: it keeps none
            with self._changed:
                self._count -= 1


pool = ExperimentPool()
"""The pool of this process."""

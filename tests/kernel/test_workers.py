"""The threads of plugin calls: reused, or abandoned with a call that takes too long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock
from typing import Any

from mrpvm.kernel.workers import Workers

WAIT_SECONDS = 10


class TellingLock:
    """A lock that calls `released` once, after its next release."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.released: Callable[[], None] | None = None

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()
        tell, self.released = self.released, None
        if tell is not None:
            tell()


def test_a_call_abandoned_on_return_keeps_its_thread() -> None:
    workers, lock = Workers(), TellingLock()
    workers._lock = lock  # type: ignore[assignment]
    started, go_on, returned = (SimpleQueue[Any]() for _ in range(3))

    def work() -> str:
        started.put(None)
        go_on.get(timeout=WAIT_SECONDS)
        return "late"

    abandon = workers.submit(work, returned.put)
    started.get(timeout=WAIT_SECONDS)
    lock.released = abandon  # between the thread's decision and its effect
    go_on.put(None)
    assert returned.get(timeout=WAIT_SECONDS).result() == "late"
    workers.submit(lambda: "next", returned.put)
    assert returned.get(timeout=WAIT_SECONDS).result() == "next"
    workers.close()


def test_every_call_runs_in_what_is_put_around_it() -> None:
    said: list[str] = []

    @contextmanager
    def around() -> Iterator[None]:
        said.append("before")
        try:
            yield
        finally:
            said.append("after")

    workers, returned = Workers(around), SimpleQueue[Any]()
    for work in (lambda: said.append("work"), lambda: 1 // 0):
        workers.submit(work, returned.put)
        returned.get(timeout=WAIT_SECONDS)
    assert said == ["before", "work", "after", "before", "after"]
    workers.close()


def test_an_abandoned_calls_thread_is_not_lent_again() -> None:
    left: SimpleQueue[None] = SimpleQueue()
    workers = Workers(leave=lambda: left.put(None))
    go_on, returned = SimpleQueue[None](), SimpleQueue[Any]()
    abandon = workers.submit(lambda: go_on.get(timeout=WAIT_SECONDS), returned.put)
    abandon()
    go_on.put(None)
    left.get(timeout=WAIT_SECONDS)
    workers.submit(lambda: "next", returned.put)
    assert returned.get(timeout=WAIT_SECONDS).result() == "next"
    assert returned.empty()
    workers.close()

"""Working time shared among projects: where turns of several projects work in a process, one at a time does.

Turns of one process share its interpreter, so a project with many turns would take nearly all of it. While turns of one
project alone are about, nothing is waited for. Otherwise a turn works in steps: before each it gives way to a turn of
a project that has worked less. Time that a turn spends waiting for a model is nobody's.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Condition

CONTEST_SECONDS = 10.0
"""How long after its last turn a project still counts: its next one meets no crowd that began meanwhile."""
_HALF_LIFE_SECONDS = 10.0


@dataclass(slots=True, eq=False)
class _Share:
    """What a project has worked lately, in seconds that fade; its turns that wait to work, the oldest first."""

    worked: float = 0.0
    seen_at: float = 0.0
    turn_count: int = 0
    waiting: "deque[_Worker]" = field(default_factory=deque)


@dataclass(slots=True, eq=False)
class _Worker:
    """One turn."""

    share: _Share


class FairShare:
    """Who may work in this process, as time is shared among projects.

    Args:
        stuck_seconds: a project that has taken no step for so long counts as waiting; another works meanwhile.
    """

    def __init__(self, stuck_seconds: float = 0.5) -> None:
        self._stuck_seconds = stuck_seconds
        self._changed = Condition()
        self._shares: dict[int, _Share] = {}
        self._working: _Worker | None = None
        self._stepped_at = 0.0
        self._faded_at = 0.0
        self._contest_until = 0.0

    @contextmanager
    def turn(self, project: int) -> Iterator[None]:
        """Count one turn of the project until the block ends; `step` and `waiting` inside it are of it."""
        worker = self._enter(project)
        token = _current.set(worker)
        try:
            yield
        finally:
            _current.reset(token)
            self._leave(worker)

    def step(self) -> None:
        """Give way to projects that have worked less; return at once where there are none, or outside of `turn`."""
        worker = _current.get()
        if worker is None or (time.monotonic() >= self._contest_until and self._working is None):
            return
        with self._changed:
            if self._working is worker:
                self._charge()
                if not self._is_better_waiting(worker):
                    return
                self._working = None
                self._changed.notify_all()
            self._wait(worker)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let others work until the block ends; on any thread that works for the turn."""
        worker = _current.get()
        if worker is not None:
            with self._changed:
                self._stop_working(worker)
        yield

    def _enter(self, project: int) -> _Worker:
        now = time.monotonic()
        with self._changed:
            self._fade(now)
            share = self._shares.setdefault(project, _Share())
            others = [other for other in self._shares.values() if other is not share]
            if others:
                self._contest_until = now + CONTEST_SECONDS
                if not share.turn_count:  # time that passed without it is not made up for
                    share.worked = max(share.worked, min(other.worked for other in others) - 1.0)
            share.turn_count += 1
            share.seen_at = now
            return _Worker(share)

    def _leave(self, worker: _Worker) -> None:
        with self._changed:
            self._stop_working(worker)
            worker.share.turn_count -= 1
            worker.share.seen_at = time.monotonic()

    def _wait(self, worker: _Worker) -> None:
        """Wait until nobody works and nobody comes before this one, then work."""
        share = worker.share
        share.waiting.append(worker)
        while not (self._is_free() and self._next() is worker):
            self._changed.wait(self._stuck_seconds)
        share.waiting.remove(worker)
        self._working, self._stepped_at = worker, time.monotonic()

    def _is_free(self) -> bool:
        return self._working is None or time.monotonic() - self._stepped_at >= self._stuck_seconds

    def _next(self) -> _Worker:
        shares = (share for share in self._shares.values() if share.waiting)
        return min(shares, key=lambda share: share.worked).waiting[0]

    def _is_better_waiting(self, worker: _Worker) -> bool:
        return any(share.waiting and share.worked < worker.share.worked for share in self._shares.values())

    def _stop_working(self, worker: _Worker) -> None:
        if self._working is worker:
            self._charge()
            self._working = None
            self._changed.notify_all()

    def _charge(self) -> None:
        """Add the time since the last step to what the project has worked."""
        now = time.monotonic()
        if self._working is not None:
            self._working.share.worked += now - self._stepped_at
        self._stepped_at = now

    def _fade(self, now: float) -> None:
        """Forget projects that have not been seen lately, and the older work of the others."""
        factor = 0.5 ** ((now - self._faded_at) / _HALF_LIFE_SECONDS)
        self._faded_at = now
        self._shares = {
            key: share
            for key, share in self._shares.items()
            if share.turn_count or now - share.seen_at < CONTEST_SECONDS
        }
        for share in self._shares.values():
            share.worked *= factor


_current: ContextVar[_Worker | None] = ContextVar("worker", default=None)

fair_share = FairShare()
"""This process's."""

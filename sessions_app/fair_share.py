"""Shares working time among turns: only one or two work in a process at once.

Turns of one process share its interpreter, and each further thread that works costs more time for switching. So a turn
works in steps, and before each it needs a place. It keeps its place from step to step unless a turn waits whose project
has worked less lately. While a turn waits for plugins on other threads, and so for a model, it has no place, and that
time is not counted.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Lock

from django.db import connection

CONTEST_SECONDS = 10.0
"""How long a project counts after its last turn, so that other turns do not take all places before its next one."""
_HALF_LIFE_SECONDS = 10.0
_STEP_SECONDS = 0.001
"""A step that follows another sooner than this is part of it: a turn takes thirty, some of a few microseconds."""


@dataclass(slots=True, eq=False)
class _Share:
    """A project's recent working time in seconds, older time counting less; its waiting turns, the oldest first."""

    worked: float = 0.0
    seen_at: float = 0.0
    turn_count: int = 0
    waiting: "deque[_Worker]" = field(default_factory=deque)


@dataclass(slots=True, eq=False)
class _Worker:
    """One turn; when it took its last step, and whether it may take one."""

    share: _Share
    stepped_at: float = 0.0
    may_work: Event = field(default_factory=Event)


class FairShare:
    """Who may work in this process, as time is shared among projects.

    Args:
        at_once: turns of one project that work at once.
        stuck_seconds: a turn that has taken no step for so long loses its place.
    """

    def __init__(self, at_once: int, stuck_seconds: float = 0.2) -> None:
        self._at_once = at_once
        self._stuck_seconds = stuck_seconds
        self._lock = Lock()
        self._shares: dict[int, _Share] = {}
        self._working: set[_Worker] = set()
        self._faded_at = 0.0
        self._contest_until = 0.0

    @contextmanager
    def turn(self, project: int) -> Iterator[None]:
        """Count one turn of the project until the block ends; `step` and `pause` inside it are of it."""
        worker = self._enter(project)
        token = _current.set(worker)
        try:
            yield
        finally:
            _current.reset(token)
            self._leave(worker)

    def step(self) -> None:
        """Wait until the turn may work; do nothing outside of `turn`."""
        worker = _current.get()
        if worker is None:
            return
        if worker in self._working and time.monotonic() - worker.stepped_at < _STEP_SECONDS:
            return
        with self._lock:
            if worker in self._working:
                self._charge(worker)
                if not self._is_better_waiting(worker):
                    return
                self._working.remove(worker)
            worker.may_work.clear()
            worker.share.waiting.append(worker)
            self._fill_places()
        while not worker.may_work.wait(self._stuck_seconds):
            with self._lock:
                self._fill_places()

    def pause(self) -> None:
        """Let others work until the turn's next step; on any thread that works for it."""
        worker = _current.get()
        if worker is not None:
            with self._lock:
                self._stop_working(worker)

    def _enter(self, project: int) -> _Worker:
        now = time.monotonic()
        with self._lock:
            self._fade(now)
            share = self._shares.setdefault(project, _Share())
            others = [other for other in self._shares.values() if other is not share]
            if others:
                self._contest_until = now + CONTEST_SECONDS
                if not share.turn_count:  # a project gets no credit for time without turns
                    share.worked = max(share.worked, min(other.worked for other in others) - 1.0)
            share.turn_count += 1
            share.seen_at = now
            return _Worker(share)

    def _leave(self, worker: _Worker) -> None:
        with self._lock:
            self._stop_working(worker)
            worker.share.turn_count -= 1
            worker.share.seen_at = time.monotonic()

    def _fill_places(self) -> None:
        """Free the places of turns that take no steps, and give all free places to the next turns."""
        now = time.monotonic()
        for stuck in [worker for worker in self._working if now - worker.stepped_at >= self._stuck_seconds]:
            self._charge(stuck)
            self._working.remove(stuck)
        # Several turns at once would share the interpreter equally, however much their projects have worked.
        at_once = 1 if now < self._contest_until else self._at_once
        while len(self._working) < at_once and (shares := [share for share in self._shares.values() if share.waiting]):
            worker = min(shares, key=lambda share: share.worked).waiting.popleft()
            worker.stepped_at = now
            self._working.add(worker)
            worker.may_work.set()

    def _is_better_waiting(self, worker: _Worker) -> bool:
        return any(share.waiting and share.worked < worker.share.worked for share in self._shares.values())

    def _stop_working(self, worker: _Worker) -> None:
        if worker in self._working:
            self._charge(worker)
            self._working.remove(worker)
            self._fill_places()

    def _charge(self, worker: _Worker) -> None:
        """Add the time since the turn's last step to what its project has worked."""
        now = time.monotonic()
        worker.share.worked += now - worker.stepped_at
        worker.stepped_at = now

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

# On PostgreSQL one computes while another waits for an answer. SQLite answers at once; there a turn waits only for the
# disk, and all that others could do meanwhile is to wait for the same lock.
fair_share = FairShare(at_once=1 if connection.vendor == "sqlite" else 2)
"""The shares of this process."""

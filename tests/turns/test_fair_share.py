"""Turns share CPU time and places among the running turns fairly between projects."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from pytest_django import Settings

from mrpvm.errors import Unavailable
from sessions_app import plugin_threads
from sessions_app.fair_share import FairShare
from sessions_app.plugin_threads import TurnWorkers, on_plugin_thread
from sessions_app.running_turns import RunningTurns

LOUD, QUIET = 1, 2


@pytest.fixture
def share() -> FairShare:
    return FairShare(at_once=2)


def works(share: FairShare, project: int, seconds: float, done: Callable[[], object], *, steps: int = 1) -> None:
    """Work in steps, as a turn does."""
    with share.turn(project):
        share.step()
        for _ in range(steps):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                pass
            share.step()
        done()


@contextmanager
def working(share: FairShare, project: int) -> Iterator[threading.Event]:
    """Run a turn of the project until the event is set, at the latest until the end of the block."""
    begun, ends = threading.Event(), threading.Event()

    def work() -> None:
        with share.turn(project):
            share.step()
            begun.set()
            ends.wait(30)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)
        assert begun.wait(5)
        try:
            yield ends
        finally:
            ends.set()


def test_a_few_turns_of_one_project_work_at_once() -> None:
    """When all places are taken, a new turn starts after another one ends."""
    share = FairShare(at_once=2, stuck_seconds=60)
    ended: list[int] = []
    with ExitStack() as stack:
        first = stack.enter_context(working(share, LOUD))
        stack.enter_context(working(share, LOUD))
        waiting = [
            threading.Thread(target=works, args=(share, LOUD, 0, partial(ended.append, number))) for number in range(3)
        ]
        for each in waiting:
            each.start()
            each.join(0.05)
        assert not ended
        first.set()
        for each in waiting:
            each.join(5)
    assert sorted(ended) == [0, 1, 2]


def test_a_quiet_project_goes_before_a_crowd(share: FairShare) -> None:
    """A turn of another project ends while nearly all of twelve long turns of one project still run."""
    ended: list[int] = []
    with share.turn(QUIET):
        pass  # it has worked recently
    with ThreadPoolExecutor(13) as pool:
        crowd = [pool.submit(works, share, LOUD, 0.01, lambda: ended.append(LOUD), steps=10) for _ in range(12)]
        time.sleep(0.05)
        pool.submit(works, share, QUIET, 0.01, lambda: ended.append(QUIET), steps=3).result(30)
        assert ended.index(QUIET) <= 2
        for each in crowd:
            each.result(30)


def test_two_busy_projects_share_the_time_equally(share: FairShare) -> None:
    """A project with four parallel turns gets no more time than one that runs one turn after another."""
    ended: list[int] = []
    with share.turn(QUIET):
        pass
    with ThreadPoolExecutor(5) as pool:
        crowd = [pool.submit(works, share, LOUD, 0.005, lambda: ended.append(LOUD), steps=40) for _ in range(4)]
        time.sleep(0.02)
        for _ in range(4):
            works(share, QUIET, 0.005, lambda: ended.append(QUIET), steps=20)
        assert ended.count(LOUD) <= 3
        for each in crowd:
            each.result(30)


def test_others_work_while_a_turn_waits_for_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    share = FairShare(at_once=2, stuck_seconds=60)
    monkeypatch.setattr(plugin_threads, "fair_share", share)
    monkeypatch.setattr(plugin_threads, "workers", TurnWorkers())
    with share.turn(QUIET):
        pass
    with share.turn(LOUD):
        share.step()

        def other_works() -> bool:
            quick = threading.Thread(target=works, args=(share, QUIET, 0, lambda: None))
            quick.start()
            quick.join(5)
            return not quick.is_alive()

        assert on_plugin_thread(10_000, other_works)


def test_a_turn_that_takes_no_step_blocks_nobody() -> None:
    share = FairShare(at_once=2, stuck_seconds=0.05)
    with share.turn(QUIET):
        pass
    with share.turn(LOUD):
        share.step()
        others = [threading.Thread(target=works, args=(share, QUIET, 0, lambda: None)) for _ in range(3)]
        for other in others:
            other.start()
        for other in others:
            other.join(5)
        assert not any(other.is_alive() for other in others)


def test_a_full_server_has_room_for_a_project_with_less(settings: Settings) -> None:
    settings.MRPVM_MAX_RUNNING_TURNS = 4
    turns = RunningTurns()
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(turns.place(LOUD))()
        with pytest.raises(Unavailable, match="runs 4 turns"):
            turns.refuse_if_full(LOUD)
        for _ in range(2):
            held.enter_context(turns.place(QUIET))()
        for project in (LOUD, QUIET):
            with pytest.raises(Unavailable):
                held.enter_context(turns.place(project))()
        assert turns.count == 6
    assert turns.count == 0
    turns.refuse_if_full(LOUD)

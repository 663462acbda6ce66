"""Background work steps back while turns run, and never for long."""

from collections.abc import Callable

import pytest

from sessions_app.turns import courtesy
from sessions_app.turns.courtesy import LONGEST_PAUSE_SECONDS, Courtesy, turn_running


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.on_sleep: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.on_sleep()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(courtesy, "time", clock)
    return clock


def paused(clock: Clock, work: Courtesy, worked_seconds: float) -> float:
    clock.now += worked_seconds
    began = clock.now
    work.step_back()
    return clock.now - began


def test_nobody_is_waited_for_when_no_turn_runs(clock: Clock) -> None:
    work = Courtesy()
    with turn_running():
        pass
    assert paused(clock, work, 1.0) == 0


@pytest.mark.parametrize(("worked", "waited"), [(0.02, 0.02), (0.1, 0.1), (60.0, LONGEST_PAUSE_SECONDS)])
def test_turns_get_half_of_the_time(clock: Clock, worked: float, waited: float) -> None:
    work = Courtesy()
    with turn_running(), turn_running():
        for _ in range(3):
            assert paused(clock, work, worked) == pytest.approx(waited, abs=0.005)


def test_it_goes_on_as_soon_as_the_last_turn_has_ended(clock: Clock) -> None:
    work, turn = Courtesy(), turn_running()
    turn.__enter__()
    clock.on_sleep = lambda: turn.__exit__(None, None, None)
    assert paused(clock, work, 0.2) < 0.01


def test_a_turn_that_fails_has_ended(clock: Clock) -> None:
    work = Courtesy()
    with pytest.raises(RuntimeError), turn_running():
        raise RuntimeError
    assert paused(clock, work, 1.0) == 0

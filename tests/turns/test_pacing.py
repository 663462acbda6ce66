"""Background work pauses while turns run, for a limited time."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import Settings

from sessions_app import pacing
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.pacing import Pacer, turn_running


class Clock:
    """A clock that only waiting advances, and the condition that is waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.on_wait: Callable[[], object] = lambda: None
        self._condition = threading.Condition()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.on_wait()

    def __enter__(self) -> None:
        self._condition.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._condition.__exit__(*error)

    def notify_all(self) -> None:
        self._condition.notify_all()

    def wait_for(self, is_over: Callable[[], bool], timeout: float) -> None:
        self.on_wait()
        if not is_over():
            self.now += timeout


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pacing, "time", clock)
    monkeypatch.setattr(pacing, "_all_ended", clock)
    return clock


def paused(clock: Clock, work: Pacer, worked_seconds: float) -> float:
    clock.now += worked_seconds
    began = clock.now
    work.pause()
    return clock.now - began


def test_nobody_is_waited_for_when_no_turn_runs(clock: Clock) -> None:
    work = Pacer()
    with turn_running():
        pass
    assert paused(clock, work, 1.0) == 0


@pytest.mark.parametrize(("worked", "waited"), [(0.02, 0.02), (0.1, 0.1), (60.0, settings.MRPVM_PACING_SECONDS)])
def test_turns_get_half_of_the_time(clock: Clock, worked: float, waited: float) -> None:
    work = Pacer()
    with turn_running(), turn_running():
        for _ in range(3):
            assert paused(clock, work, worked) == pytest.approx(waited)


def test_it_goes_on_as_soon_as_the_last_turn_has_ended(clock: Clock) -> None:
    work, turn = Pacer(), turn_running()
    turn.__enter__()
    clock.on_wait = lambda: turn.__exit__(None, None, None)
    assert paused(clock, work, 0.2) == 0


def test_a_turn_that_fails_has_ended(clock: Clock) -> None:
    work = Pacer()
    with pytest.raises(RuntimeError), turn_running():
        raise RuntimeError
    assert paused(clock, work, 1.0) == 0


@pytest.mark.parametrize("apart", [False, True])
def test_turns_of_other_processes_count(clock: Clock, settings: Settings, session: Session, apart: bool) -> None:
    settings.MRPVM_WORKER_COUNT = 1 if apart else 2
    work = Pacer(apart=apart)
    assert paused(clock, work, 1.0) == 0
    turn = ExplainabilityTurn.objects.create(
        session=session, turn_index=1, user_message="?", lease_until=timezone.now() + timedelta(minutes=1)
    )
    assert paused(clock, work, 1.0) == pytest.approx(settings.MRPVM_PACING_SECONDS, abs=0.02)
    clock.on_wait = lambda: ExplainabilityTurn.objects.filter(pk=turn.pk).update(status="succeeded")
    assert paused(clock, work, 1.0) == pytest.approx(0.02)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(status="running", lease_until=timezone.now())
    assert paused(clock, work, 1.0) == 0  # its process has ended


def test_a_waiting_thread_is_told_of_the_last_turns_end(settings: Settings) -> None:
    """Without the notification the thread would wait for its whole pause, which exceeds the test's time limit."""
    settings.MRPVM_PACING_SECONDS = 600.0
    work, turn = Pacer(), turn_running()
    work._resumed -= 600.0
    turn.__enter__()
    waiting = threading.Thread(target=work.pause, daemon=True)
    waiting.start()
    turn.__exit__(None, None, None)
    waiting.join(timeout=60)
    assert not waiting.is_alive()

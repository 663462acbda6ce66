"""How often the sweeper sweeps."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from pytest_django import Settings

from sessions_app.turns import sweep as swept_by
from sessions_app.turns.sweep import Sweeper


class Stop:
    """Ends the sweeper after some sweeps and notes how long it waited before each."""

    def __init__(self, sweeps: int) -> None:
        self.sweeps = sweeps
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        return len(self.pauses) > self.sweeps


def pauses(monkeypatch: pytest.MonkeyPatch, sweep: Callable[[], object], sweeps: int) -> list[float]:
    for name, value in (("sweep", sweep), ("close_old_connections", Mock()), ("connections", Mock())):
        monkeypatch.setattr(swept_by, name, value)
    sweeper, stop = Sweeper(), Stop(sweeps)
    monkeypatch.setattr(sweeper, "_stop_asked", stop)
    sweeper.run()
    return stop.pauses


def test_it_waits_and_comes_back_soon_while_something_is_left_to_derive(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    derived = iter([0, 40, 8, 0])
    assert pauses(monkeypatch, lambda: {"derived": next(derived)}, 4) == [60, 60, 1, 1, 60]


def test_a_short_interval_stays_short(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 200
    assert pauses(monkeypatch, lambda: {"derived": 1}, 2) == [0.2, 0.2, 0.2]


def test_a_failed_sweep_is_noted_and_tried_again_at_the_interval(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    failing = Mock(side_effect=[{"derived": 1}, OSError("disk"), {"derived": 0}])
    assert pauses(monkeypatch, failing, 3) == [60, 1, 60, 60]
    assert "a sweep failed" in caplog.text

"""How often the sweeper sweeps."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from pytest_django import Settings

from sessions_app.background import sweeper as swept_by
from sessions_app.background.sweeper import Sweeper


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


PARTS = (
    "recover_abandoned", "expire_sessions", "delete_old_archives", "purge_deleted_sessions", "sweep_staged",
    "sweep_failures", "remove_unused_content", "remove_old_payloads", "compact_long_chains", "sweep_memories",
    "pack_large_layers", "derive_ahead",
)  # fmt: skip


def test_a_part_that_fails_is_noted_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(swept_by, "close_old_connections", Mock())
    for name in PARTS:
        monkeypatch.setattr(swept_by, name, Mock(return_value=1))
    monkeypatch.setattr(swept_by, "expire_sessions", Mock(side_effect=OSError("disk")))
    counts = swept_by.sweep()
    assert counts.pop("expired") == 0
    assert len(counts) == len(PARTS) - 1
    assert set(counts.values()) == {1}
    assert "the sweep's part 'expired' failed" in caplog.text

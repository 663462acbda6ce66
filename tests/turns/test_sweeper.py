"""The intervals of the sweeper."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from pytest_django import Settings

from sessions_app.background import sweeper as swept_by
from sessions_app.background.sweeper import DatabaseAway, Sweeper
from sessions_app.turns.close import TurnEnd


class Time:
    """The sweeper's clock and event; records the length of each wait, and stops the sweeper after some."""

    def __init__(self, sweeper: Sweeper, sweeps: int) -> None:
        self.sweeper, self.sweeps = sweeper, sweeps
        self.now = 0.0
        self.pauses: list[float] = []
        self.unclosed: dict[str, TurnEnd] = {}
        self.noted = self
        self.set = self.clear = Mock()

    def monotonic(self) -> float:
        return self.now

    def ends(self) -> dict[str, TurnEnd]:
        return self.unclosed

    def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        if len(self.pauses) > self.sweeps:
            self.sweeper.stop()


def timed(monkeypatch: pytest.MonkeyPatch, sweep: Callable[[], object], sweeps: int) -> Time:
    sweeper = Sweeper()
    time = Time(sweeper, sweeps)
    patched = {"sweep": sweep, "connections": Mock(), "time": time, "unclosed": time}
    patched |= {"_check_database": Mock(), "living_connection": nullcontext, "LOOK_SECONDS": math.inf}
    for name, value in patched.items():
        monkeypatch.setattr(swept_by, name, value)
    return time


def pauses(monkeypatch: pytest.MonkeyPatch, sweep: Callable[[], object], sweeps: int) -> list[float]:
    time = timed(monkeypatch, sweep, sweeps)
    time.sweeper.run()
    return time.pauses


def test_the_sweeper_returns_soon_while_work_is_left(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    derived = iter([0, 40, 8, 0])
    assert pauses(monkeypatch, lambda: {"derived": next(derived)}, 4) == [60, 60, 1, 1, 60]


def test_a_short_interval_stays_short(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 200
    assert pauses(monkeypatch, lambda: {"derived": 1}, 2) == pytest.approx([0.2, 0.2, 0.2])


def test_it_comes_back_soon_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    sweep = Mock(side_effect=[{"derived": 0}, DatabaseAway, DatabaseAway, {"derived": 0}])
    time = timed(monkeypatch, sweep, 4)
    monkeypatch.setattr(time.sweeper, "is_alive", lambda: True)
    works: list[bool] = []
    wait = time.wait
    time.wait = lambda seconds: (works.append(time.sweeper.works), wait(seconds))  # type: ignore[method-assign, assignment, func-returns-value]
    time.sweeper.run()
    assert time.pauses == [60, 60, 1, 1, 60]
    assert works == [True, True, False, False, True]


def test_it_works_again_before_a_long_sweep_is_over(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    works: list[bool] = []

    def sweep() -> dict[str, int]:
        works.append(time.sweeper.works)
        if len(works) == 1:
            raise DatabaseAway
        return {"derived": 0}

    time = timed(monkeypatch, sweep, 3)
    monkeypatch.setattr(time.sweeper, "is_alive", lambda: True)
    time.sweeper.run()
    assert works == [True, True, True]


def test_turns_left_open_are_closed_between_two_sweeps(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    time = timed(monkeypatch, Mock(), 3)
    time.unclosed["req-1"] = TurnEnd({"code": "UNAVAILABLE"})
    recover = Mock(side_effect=[OperationalError("away"), lambda: 1])
    monkeypatch.setattr(swept_by, "recover_abandoned", recover)
    time.sweeper.run()
    assert recover.call_count == 3 > swept_by.sweep.call_count == 0  # type: ignore[attr-defined]
    assert time.pauses == [1, 1, 1, 1]


@pytest.mark.parametrize(("vendor", "waits"), [("postgresql", [5, 5, 5, 5]), ("sqlite", [60, 60, 60, 60])])
def test_ended_processes_are_looked_for_between_two_sweeps(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, vendor: str, waits: list[float]
) -> None:
    settings.MRPVM_SWEEP_INTERVAL_MS = 60_000
    recover = Mock(return_value=0)
    look_seconds = swept_by.LOOK_SECONDS
    time = timed(monkeypatch, Mock(return_value={"derived": 0}), 3)
    monkeypatch.setattr(swept_by, "LOOK_SECONDS", look_seconds)
    monkeypatch.setattr(swept_by, "connection", Mock(vendor=vendor))
    monkeypatch.setattr(swept_by, "recover_abandoned", recover)
    time.sweeper.run()
    assert time.pauses == waits
    assert recover.called == (vendor == "postgresql")


PARTS = (
    "recover_abandoned", "expire_sessions", "delete_old_archives", "purge_deleted_sessions", "sweep_staged",
    "sweep_failures", "remove_unused_content", "carry_out_retention", "compact_long_chains", "sweep_memories",
    "pack_large_layers", "derive_ahead", "mend_noted_columns", "make_daily_copy", "sample_storage", "compact_events",
    "close_abandoned_experiments", "remove_lost_traces", "sweep_kept_answers",
    "take_up_abandoned", "clear_caches_if_due", "remove_old_entries", "count_ended_turns",
    "fill_missing_outcomes", "watch_rates",
)  # fmt: skip


@pytest.mark.django_db  # a connection that an earlier test left open is looked at
def test_a_part_that_fails_is_noted_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in PARTS:
        monkeypatch.setattr(swept_by, name, Mock(return_value=1))
    monkeypatch.setattr(swept_by, "expire_sessions", Mock(side_effect=OSError("disk")))
    counts = swept_by.sweep()
    assert counts.pop("expired") == 0
    assert len(counts) == len(PARTS) - 1
    assert set(counts.values()) == {1}
    assert "the sweep's part 'expired' failed" in caplog.text

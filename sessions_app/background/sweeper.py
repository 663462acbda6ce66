"""Periodic work of the server: recovery, expiry, removal."""

import logging
import math
import threading
import time
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import DatabaseError, connection, connections

from mrpvm.errors import StorageUnavailable
from sessions_app.actions.damage import mend_noted_columns
from sessions_app.actions.experiments.experiments import close_abandoned_experiments, remove_lost_traces
from sessions_app.actions.experiments.forgetting.files import clear_caches_if_due
from sessions_app.actions.sessions.frozen_content import remove_unused_content
from sessions_app.actions.sessions.memory import sweep_memories
from sessions_app.actions.sessions.removal import delete_old_archives, expire_sessions, purge_deleted_sessions
from sessions_app.actions.settings.audit import remove_old_entries
from sessions_app.actions.settings.kept_answers import sweep_kept_answers
from sessions_app.actions.settings.plugin_failures import sweep_failures
from sessions_app.actions.turns.counting import count_ended_turns
from sessions_app.actions.turns.outcomes import fill_missing_outcomes
from sessions_app.actions.upkeep.copies import make_daily_copy
from sessions_app.actions.upkeep.events import compact_events
from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.actions.upkeep.storage import sample_storage
from sessions_app.background.alerts import watch_rates
from sessions_app.background.precompute import derive_ahead
from sessions_app.database import living_connection
from sessions_app.experiments.forgetting.work import take_up_abandoned
from sessions_app.layers import compact_long_chains, pack_large_layers, sweep_staged
from sessions_app.models.damage import damaged_columns
from sessions_app.pacing import Pacer
from sessions_app.turns.close import unclosed
from sessions_app.turns.recovery import recover_abandoned

SOON_SECONDS = 1.0
"""How long the sweeper waits while something is left to do, or while the database is away."""

LOOK_SECONDS = 5.0
"""How often a server looks for turns of processes that have ended; with SQLite there is no other process."""

logger = logging.getLogger(__name__)


class DatabaseAway(Exception):
    """The database does not answer, so nothing can be swept."""


def sweep() -> dict[str, int]:
    """Run every part once; return how many rows each changed. Safe to run in several processes at once.

    A part that fails is logged and tried again in the next sweep; the others run anyway.

    Raises:
        DatabaseAway: the parts that are left were not tried.
    """
    pacer = Pacer()
    parts: dict[str, Callable[[], int]] = {
        "mended": partial(mend_noted_columns, pacer.pause),
        "recovered": recover_abandoned,
        "abandoned": close_abandoned_experiments,
        "forgetting": take_up_abandoned,
        "caches": clear_caches_if_due,
        "expired": expire_sessions,
        "outdated": delete_old_archives,
        "purged": purge_deleted_sessions,
        "unfinished": sweep_staged,
        "failures": sweep_failures,
        "answers": sweep_kept_answers,
        "unused": remove_unused_content,
        "audit": partial(remove_old_entries, pacer.pause),
        "retention": partial(carry_out_retention, pacer.pause),
        "lost": partial(remove_lost_traces, pacer.pause),
        "compacted": partial(compact_long_chains, pacer.pause),
        "forgotten": sweep_memories,
        "packed": partial(pack_large_layers, pacer.pause),
        "events": partial(compact_events, pacer.pause),
        "copied": make_daily_copy,
        "measured": sample_storage,
        "outcomes": partial(fill_missing_outcomes, pacer.pause),
        "told": partial(watch_rates, pacer.pause),
        "counted": partial(count_ended_turns, pacer.pause),
        "derived": partial(derive_ahead, pacer.pause),
    }
    return {name: _swept(name, part) for name, part in parts.items()}


def _swept(name: str, part: Callable[[], int]) -> int:
    try:
        with living_connection():
            return part()
    except StorageUnavailable as error:
        logger.warning("the sweep's part '%s' was left for the next time: %s", name, error)
        _check_database()
    except Exception:
        logger.exception("the sweep's part '%s' failed", name)
    return 0


def _check_database() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        raise DatabaseAway from error


class Sweeper(threading.Thread):
    """Sweeps every `MRPVM_SWEEP_INTERVAL_MS` until stopped, and sooner while there is something left to derive.

    In between it closes turns of this process whose end could not be stored and those of processes that have ended, and
    replaces damaged values that it met.
    """

    def __init__(self) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._stop_asked = False
        self._is_kept_off = False
        self._due = time.monotonic()
        damaged_columns.call(unclosed.noted.set)

    @property
    def works(self) -> bool:
        """Return whether it runs, and the database answered it the last time."""
        return self.is_alive() and not self._is_kept_off

    @property
    def lag_seconds(self) -> float:
        """Return by how much the next sweep is late, 0 while it is not due; one under way counts as late."""
        return max(0.0, time.monotonic() - self._due)

    def run(self) -> None:
        """Wait, sweep, wait again."""
        try:
            self._due = time.monotonic() + settings.MRPVM_SWEEP_INTERVAL_MS / 1000
            while not self._stop_asked:
                self._wait_until(self._due)
                if self._stop_asked:
                    return
                if time.monotonic() >= self._due:
                    seconds = self._sweep()
                    self._due = time.monotonic() + seconds
                else:
                    self._attend()
        finally:
            connections.close_all()

    def _wait_until(self, due: float) -> None:
        usual = LOOK_SECONDS if connection.vendor == "postgresql" else math.inf
        soon = SOON_SECONDS if unclosed.ends() else usual
        unclosed.noted.wait(max(0.0, min(due - time.monotonic(), soon)))
        unclosed.noted.clear()

    def _sweep(self) -> float:
        """Sweep; return how many seconds later it has to be done again."""
        interval = settings.MRPVM_SWEEP_INTERVAL_MS / 1000
        try:
            with living_connection():
                _check_database()
            self._is_kept_off = False  # a whole sweep lets turns go first, and may take minutes of a busy server
            is_anything_left = bool(sweep()["derived"])
        except (DatabaseAway, StorageUnavailable):
            is_anything_left = self._is_kept_off = True
        return min(interval, SOON_SECONDS) if is_anything_left else interval

    def _attend(self) -> None:
        """Do what cannot wait for the next sweep."""
        try:
            with living_connection():
                recover_abandoned()
                mend_noted_columns(Pacer().pause)
        except StorageUnavailable:
            return  # tried again a moment later
        except Exception:
            logger.exception("turns could not be closed")

    def stop(self) -> None:
        """Ask the thread to end at its next wait."""
        self._stop_asked = True
        unclosed.noted.set()

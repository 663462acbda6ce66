"""A write-behind buffer of plugin statistics, which stores those of several turns at once.

Without it the turns of a project would wait for each other's row locks.
"""

import logging
import threading
from collections.abc import Sequence

from django.conf import settings
from django.db import connections

from mrpvm.errors import StorageUnavailable
from mrpvm.values import StageRecord
from sessions_app.actions.settings.plugin_statistics import record_turns
from sessions_app.database import outages_told
from sessions_app.models import ExplainabilityTurn

logger = logging.getLogger(__name__)


class StatisticsBuffer:
    """Collects the statistics of turns of all threads; a process that dies loses the newest ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[int, list[tuple[Sequence[StageRecord], bool]]] = {}
        self._timer: threading.Timer | None = None

    def add(self, turn: ExplainabilityTurn, stages: Sequence[StageRecord], *, turn_failed: bool) -> None:
        """Add one turn's stages; they are stored within `MRPVM_LEARN_DELAY_MS`, at once where that is 0."""
        with self._lock:
            self._turns.setdefault(turn.session.project_id, []).append((stages, turn_failed))
            if settings.MRPVM_LEARN_DELAY_MS and self._timer is None:
                self._timer = threading.Timer(settings.MRPVM_LEARN_DELAY_MS / 1000, self._flush_and_close)
                self._timer.daemon = True
                self._timer.start()
        if not settings.MRPVM_LEARN_DELAY_MS:
            self.flush()

    def flush(self) -> None:
        """Store the collected statistics; those that cannot be stored are logged and dropped."""
        with self._lock:
            turns_of, self._turns = self._turns, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        for project_pk, turns in turns_of.items():
            try:
                with outages_told():
                    record_turns(project_pk, turns)
            except StorageUnavailable as error:
                logger.warning("the plugin statistics of %d turns were dropped: %s", len(turns), error)
            except Exception:
                logger.exception("the plugin statistics of %d turns could not be stored", len(turns))

    def _flush_and_close(self) -> None:
        try:
            self.flush()
        finally:
            connections.close_all()


statistics_buffer = StatisticsBuffer()

"""What finished turns teach planners, stored a moment later and several turns at once [K-57].

Turns of a project would otherwise wait for each other at the end, for rows that nobody needs that soon.
"""

import logging
import threading
from collections.abc import Sequence

from django.conf import settings
from django.db import connections

from mrpvm.values import StageRecord
from sessions_app.actions.plugin_statistics import record_turns
from sessions_app.models import ExplainabilityTurn

logger = logging.getLogger(__name__)


class Lessons:
    """Collects lessons of all threads; a process that dies takes those of its last moment with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted: dict[int, list[tuple[Sequence[StageRecord], bool]]] = {}
        self._timer: threading.Timer | None = None

    def note(self, turn: ExplainabilityTurn, stages: Sequence[StageRecord], *, turn_failed: bool) -> None:
        """Take the lesson of one turn; it is stored within `MRPVM_LEARN_DELAY_MS`, at once where that is 0."""
        with self._lock:
            self._noted.setdefault(turn.session.project_id, []).append((stages, turn_failed))
            if settings.MRPVM_LEARN_DELAY_MS and self._timer is None:
                self._timer = threading.Timer(settings.MRPVM_LEARN_DELAY_MS / 1000, self._store_and_leave)
                self._timer.daemon = True
                self._timer.start()
        if not settings.MRPVM_LEARN_DELAY_MS:
            self.store()

    def store(self) -> None:
        """Store what was noted; what cannot be stored is logged and dropped, for no turn depends on it [T-35]."""
        with self._lock:
            noted, self._noted = self._noted, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        for project_pk, turns in noted.items():
            try:
                record_turns(project_pk, turns)
            except Exception:
                logger.exception("what %d turns teach planners could not be stored", len(turns))

    def _store_and_leave(self) -> None:
        try:
            self.store()
        finally:
            connections.close_all()


lessons = Lessons()

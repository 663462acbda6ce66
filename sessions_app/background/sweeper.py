"""What has to happen now and then, whether anybody calls or not: recovery, expiry, removal [S-15, T-38]."""

import logging
import threading
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import close_old_connections, connections

from sessions_app.actions.compaction import compact_long_chains
from sessions_app.actions.frozen_content import remove_unused_content
from sessions_app.actions.memory import sweep_memories
from sessions_app.actions.packing import pack_large_layers
from sessions_app.actions.payloads import remove_old_payloads
from sessions_app.actions.plugin_failures import sweep_failures
from sessions_app.actions.sessions import delete_old_archives, expire_sessions, purge_deleted_sessions
from sessions_app.actions.staging import sweep_staged
from sessions_app.background.precompute import derive_ahead
from sessions_app.pacing import Pacer
from sessions_app.turns.recovery import recover_abandoned

_SOON_SECONDS = 1.0

logger = logging.getLogger(__name__)


def sweep() -> dict[str, int]:
    """Do all of it once; gives how many rows each part touched. Safe to run in several processes at once.

    A part that fails is noted in the log and tried again the next time; the others have their turn all the same.
    """
    pacer = Pacer()
    parts: dict[str, Callable[[], int]] = {
        "recovered": recover_abandoned,
        "expired": expire_sessions,
        "outdated": delete_old_archives,
        "purged": purge_deleted_sessions,
        "unfinished": sweep_staged,
        "failures": sweep_failures,
        "unused": remove_unused_content,
        "payloads": partial(remove_old_payloads, pacer.pause),
        "compacted": partial(compact_long_chains, pacer.pause),
        "forgotten": sweep_memories,
        "packed": partial(pack_large_layers, pacer.pause),
        "derived": partial(derive_ahead, pacer.pause),
    }
    return {name: _swept(name, part) for name, part in parts.items()}


def _swept(name: str, part: Callable[[], int]) -> int:
    try:
        return part()
    except Exception:
        logger.exception("the sweep's part '%s' failed", name)
        close_old_connections()  # the next part may need another one
        return 0


class Sweeper(threading.Thread):
    """Sweeps every `MRPVM_SWEEP_INTERVAL_MS` until told to stop; soon again while there is something to derive."""

    def __init__(self) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """Sweep, wait, sweep again."""
        try:
            interval = pause = settings.MRPVM_SWEEP_INTERVAL_MS / 1000
            while not self._stop_asked.wait(pause):
                close_old_connections()
                pause = interval
                if sweep()["derived"]:
                    pause = min(interval, _SOON_SECONDS)
        finally:
            connections.close_all()

    def stop(self) -> None:
        """Ask the thread to end at its next wait."""
        self._stop_asked.set()

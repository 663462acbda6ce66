"""Turns of this process that ended while the database could not be written to; they are closed once it can be."""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn's entry will hold: its error and, where a command asked for it, the command's envelope."""

    error: Mapping[str, Any]
    command: Mapping[str, Any] | None = None


class Unclosed:
    """Ends by request id; `noted` is set when one comes in, for the thread that closes them.

    A key of the database does not name a turn here: whether its row was ever committed is not known.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[str, TurnEnd] = {}
        self.noted = threading.Event()

    def note(self, request_id: str, end: TurnEnd) -> None:
        """Add a turn."""
        with self._lock:
            self._ends[request_id] = end
        self.noted.set()

    def ends(self) -> Mapping[str, TurnEnd]:
        """Return all of them as they are now."""
        with self._lock:
            return dict(self._ends)

    def forget(self, request_ids: Collection[str]) -> None:
        """Remove turns that are closed, or that the database has never heard of."""
        with self._lock:
            for request_id in request_ids:
                self._ends.pop(request_id, None)


unclosed = Unclosed()

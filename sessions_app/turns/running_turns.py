"""How many turns run in this process at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from django.conf import settings

from mrpvm.errors import Unavailable


class RunningTurns:
    """The turns of this process: `MRPVM_MAX_RUNNING_TURNS` at once; one more is refused, never queued.

    A turn that waits for its session runs not yet and has no place.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def refuse_if_full(self) -> None:
        """Refuse a turn before anything is made for it.

        Raises:
            Unavailable: SERVER_BUSY.
        """
        if self._count >= settings.MRPVM_MAX_RUNNING_TURNS:
            raise Unavailable(
                f"The server runs {self._count} turns, as many as it is allowed to. Try again in a moment.",
                code="SERVER_BUSY",
            )

    @property
    def count(self) -> int:
        """Return how many run now."""
        return self._count

    @contextmanager
    def place(self) -> Iterator[Callable[[], None]]:
        """Return what takes a place, which may be called again; the place is given back at the end.

        Calling it raises Unavailable: SERVER_BUSY.
        """
        is_taken = False

        def take() -> None:
            nonlocal is_taken
            with self._lock:
                if not is_taken:
                    self.refuse_if_full()
                    self._count += 1
                    is_taken = True

        try:
            yield take
        finally:
            if is_taken:
                with self._lock:
                    self._count -= 1


running_turns = RunningTurns()
"""This process's."""

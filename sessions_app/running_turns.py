"""How many turns run in this process at once."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from django.conf import settings

from mrpvm.errors import Unavailable


class RunningTurns:
    """The turns of this process: `MRPVM_MAX_RUNNING_TURNS` at once; one more is refused, never queued.

    Every project with turns has an equal share. A project below its share gets a place even when all are taken, so
    fewer than twice as many turns run. A turn that waits for its session has no place yet.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[int] = Counter()

    def refuse_if_full(self, project: int) -> None:
        """Refuse a turn of a project before anything is made for it.

        Raises:
            Unavailable: SERVER_BUSY.
        """
        most, count = settings.MRPVM_MAX_RUNNING_TURNS, self.count
        share = most // len(self._counts.keys() | {project})
        if count >= most and self._counts[project] >= min(most, max(1, share)):
            raise Unavailable(
                f"The server runs {count} turns, as many as it is allowed to. Try again in a moment.",
                code="SERVER_BUSY",
            )

    @property
    def count(self) -> int:
        """Return how many run now."""
        return self._counts.total()

    @contextmanager
    def place(self, project: int) -> Iterator[Callable[[], None]]:
        """Return what takes a place, which may be called again; the place is given back at the end.

        Calling it raises Unavailable: SERVER_BUSY.
        """
        is_taken = False

        def take() -> None:
            nonlocal is_taken
            with self._lock:
                if not is_taken:
                    self.refuse_if_full(project)
                    self._counts[project] += 1
                    is_taken = True

        try:
            yield take
        finally:
            if is_taken:
                with self._lock:
                    self._counts[project] -= 1
                    self._counts += Counter()  # without projects that have none


running_turns = RunningTurns()
"""The turns of this process."""

"""The budget of a turn: model calls and time, shared by all its frames."""

from typing import Self

from mrpvm.contracts import Clock
from mrpvm.errors import BudgetExceeded
from mrpvm.values import Limits


class Calls:
    """Model calls of a frame and its children; reservations prevent two plugins from using the same call."""

    def __init__(self, limit: int, parent: Self | None = None, used: int = 0) -> None:
        self._limit = limit
        self._parent = parent
        self._reserved, self._used = 0, used

    @property
    def remaining(self) -> int:
        """Return the number of calls that are neither used nor reserved."""
        own = self._limit - self._used - self._reserved
        return own if self._parent is None else min(own, self._parent.remaining)

    def shares(self, count: int) -> list[Self]:
        """Return the remaining calls divided among `count` parallel frames; the first frames get the remainder.

        So the results of a frame do not depend on which frame is faster.
        """
        each, odd = divmod(max(0, self.remaining), count)
        return [type(self)(each + (place < odd), self) for place in range(count)]

    def reserve(self, count: int) -> bool:
        """Reserve `count` calls; return False if too few remain, and the plugin is then skipped."""
        if count > self.remaining:
            return False
        self.settle(-count, 0)
        return True

    def settle(self, reserved: int, used: int) -> None:
        """Replace a reservation by the calls that were used.

        Raises:
            BudgetExceeded: a plugin used more calls than the turn had.
        """
        self._reserved -= reserved
        self._used += used
        if self._parent is not None:
            self._parent.settle(reserved, used)
        elif self._used > self._limit:
            raise BudgetExceeded(
                f"The turn used {self._used} model calls; {self._limit} are allowed.",
                details={"used": self._used, "limit": self._limit},
            )


class Budget:
    """Milliseconds and calls of one turn, minus those spent on its preparation."""

    def __init__(self, clock: Clock, limits: Limits, spent_ms: int = 0, spent_calls: int = 0) -> None:
        self._clock = clock
        self._limits = limits
        self._spent_ms = spent_ms
        self._started_ms = clock.monotonic_ms()
        self.started_at = clock.now().isoformat()
        self.calls = Calls(limits.max_llm_calls, used=spent_calls)

    @property
    def elapsed_ms(self) -> int:
        """Return the milliseconds since the machine started the turn; the times of its events count from then."""
        return int(self._clock.monotonic_ms() - self._started_ms)

    @property
    def remaining_ms(self) -> int:
        """Return the remaining milliseconds; zero or less if the turn's time is over."""
        return self._limits.request_timeout_ms - self._spent_ms - self.elapsed_ms

    def call_timeout_ms(self, plugin_timeout_ms: int) -> int:
        """Return the time limit of a plugin call: the least of its own limit, the setting and the remaining time."""
        return max(0, min(plugin_timeout_ms, self._limits.plugin_timeout_ms, self.remaining_ms))

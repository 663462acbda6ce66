"""What a turn may spend: model calls and time, shared by all its frames [K-18, PL-25]."""

from mrpvm.contracts import Clock
from mrpvm.errors import BudgetExceeded
from mrpvm.values import Limits


class Budget:
    """Calls and milliseconds of one turn; reservations keep parallel frames from spending the same call twice."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._started_ms = clock.monotonic_ms()
        self.started_at = clock.now().isoformat()
        self._reserved_calls = 0
        self.used_llm_calls = 0

    @property
    def elapsed_ms(self) -> int:
        """Give the milliseconds since the turn started."""
        return int(self._clock.monotonic_ms() - self._started_ms)

    @property
    def remaining_ms(self) -> int:
        """Give the milliseconds left; zero or less when the turn's time is over [K-19]."""
        return self._limits.request_timeout_ms - self.elapsed_ms

    @property
    def remaining_llm_calls(self) -> int:
        """Give the model calls that are neither used nor reserved."""
        return self._limits.max_llm_calls - self.used_llm_calls - self._reserved_calls

    def call_timeout_ms(self, plugin_timeout_ms: int) -> int:
        """Give how long one plugin call may take: its own limit, the setting, or the time left [K-19]."""
        return max(0, min(plugin_timeout_ms, self._limits.plugin_timeout_ms, self.remaining_ms))

    def reserve(self, llm_calls: int) -> bool:
        """Set `llm_calls` aside; False when they are not there, and then the plugin is skipped [PL-25]."""
        if llm_calls > self.remaining_llm_calls:
            return False
        self._reserved_calls += llm_calls
        return True

    def settle(self, reserved: int, used: int) -> None:
        """Replace a reservation by what was used.

        Raises:
            BudgetExceeded: a plugin used more than the turn had [K-20].
        """
        self._reserved_calls -= reserved
        self.used_llm_calls += used
        if self.used_llm_calls > self._limits.max_llm_calls:
            raise BudgetExceeded(
                f"The turn used {self.used_llm_calls} model calls; {self._limits.max_llm_calls} are allowed.",
                details={"used": self.used_llm_calls, "limit": self._limits.max_llm_calls},
            )

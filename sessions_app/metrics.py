"""What /metrics tells Prometheus of this process: counted where it happens, nothing at all unless it is allowed.

Every process counts only its own work; a query has to sum over the processes.
"""

from collections.abc import Callable

from django.conf import settings

OFF = "off"
TURN_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
TOKENS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
DELIVERY_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 1, 5)


class Meters:
    """The counters of one process."""

    def __init__(self) -> None:
        # Not loaded by a server that is not asked for its metrics.
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        from prometheus_client.process_collector import ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        at = self.registry
        self.turns = Counter("mrpvm_turns", "Ended turns.", ["status", "answer"], registry=at)
        self.turn_seconds = Histogram(
            "mrpvm_turn_seconds", "How long turns took.", ["status"], buckets=TURN_SECONDS, registry=at
        )
        self.turn_tokens = Histogram(
            "mrpvm_turn_tokens", "Tokens of turns that called a model.", ["model", "kind"], buckets=TOKENS, registry=at
        )
        self.model_calls = Counter("mrpvm_model_calls", "Calls of language models.", ["model"], registry=at)
        self.model_errors = Counter("mrpvm_model_errors", "Plugin calls that a model failed.", ["code"], registry=at)
        self.database_errors = Counter("mrpvm_database_errors", "Statements refused.", ["kind"], registry=at)
        self.event_delivery_seconds = Histogram(
            "mrpvm_event_delivery_seconds",
            "From a commit until its events are handed to the live pages' layer.",
            buckets=DELIVERY_SECONDS,
            registry=at,
        )
        self.turns_running = Gauge("mrpvm_turns_running", "Turns that run now.", registry=at)
        self.turns_allowed = Gauge("mrpvm_turns_allowed", "How many turns may run at once.", registry=at)
        self.sweep_lag_seconds = Gauge("mrpvm_sweep_lag_seconds", "By how much the next sweep is late.", registry=at)

    def read_at_scrape(self, running_turns: Callable[[], float], sweep_lag: Callable[[], float]) -> None:
        """Compute these two when they are read."""
        self.turns_running.set_function(running_turns)
        self.turns_allowed.set_function(lambda: settings.MRPVM_MAX_RUNNING_TURNS)
        self.sweep_lag_seconds.set_function(sweep_lag)


_meters: Meters | None = None


def meters() -> Meters | None:
    """Return this process's counters, the same from its start to its end; None where metrics are not allowed."""
    global _meters
    if settings.MRPVM_METRICS == OFF:
        return None
    if _meters is None:  # no `cache`: those are emptied when something was forgotten
        _meters = Meters()
    return _meters

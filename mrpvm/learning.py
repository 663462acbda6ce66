"""What finished turns teach planners: counters and moving averages of each plugin, as pure functions.

The server stores a plugin's experience and hands it to planners as one utility for each plugin.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field

from msgspec import Struct

from mrpvm.values import StageRecord

type PluginKey = tuple[str, str]
"""Type and id of a plugin: an id is unique within its type only."""

NEWEST_SHARE = 0.25
"""Weight of the newest value in a moving average."""
PLANNER = "mrp-plan-plugin"
TYPE_BY_STAGE: Mapping[str, str] = {
    "seed-detector": "sd-plugin",
    "planner": PLANNER,
    "kb": "kb-plugin",
    "goal-solver": "gs-plugin",
    "validation": "val-plugin",
}
_SUCCESSES = ("success", "accepted", "rejected")
"""A validator that rejects has done its work."""
_REFUSALS = ("insufficient", "no-context", "needs-decomposition")
"""Honest refusals: they say that the evidence does not suffice and are no failures."""


class Experience(Struct, frozen=True, kw_only=True):
    """Counters and moving averages of one plugin; the defaults are a plugin nobody has tried.

    `refusal_count` counts a plugin's `insufficient` and a planner's `no-context`. A planner's `sufficiency` is the
    share of attempts that did not end so: one minus the specification's noContextEWMA.
    """

    attempt_count: int = 0
    success_count: int = 0
    failure_count: int = 0
    refusal_count: int = 0
    success: float = 0.7
    sufficiency: float = 0.7
    latency_ms: float = 250.0
    llm_calls: float = 0.0


UNTRIED_PLANNER = Experience(sufficiency=0.9, latency_ms=400.0)


def untried(plugin_type: str) -> Experience:
    """Return what is assumed of a plugin before its first attempt."""
    return UNTRIED_PLANNER if plugin_type == PLANNER else Experience()


def utility(plugin_type: str, seen: Experience) -> float:
    """Return how useful a plugin has been, for ranking it among its like."""
    if plugin_type == PLANNER:
        return seen.success - _clamped(seen.latency_ms / 8_000, 0.4) - _clamped(0.25 * (1 - seen.sufficiency), 0.25)
    costs = _clamped(seen.latency_ms / 5_000, 0.5) + _clamped(0.05 * seen.llm_calls, 0.3)
    return seen.success + 0.15 * seen.sufficiency - costs


def _clamped(value: float, high: float) -> float:
    return min(max(value, 0.0), high)


class Attempt(Struct, frozen=True, kw_only=True):
    """The outcome of one attempt: success, failure, or neither for a refusal."""

    plugin: PluginKey
    duration_ms: int
    llm_calls: int
    succeeded: bool = False
    failed: bool = False
    sufficient: bool | None = None


def learn(seen: Experience, attempt: Attempt) -> Experience:
    """Return the experience after one more attempt; a refusal leaves the average of success alone."""
    refused = not (attempt.succeeded or attempt.failed)
    sufficient = False if refused else attempt.sufficient
    return Experience(
        attempt_count=seen.attempt_count + 1,
        success_count=seen.success_count + attempt.succeeded,
        failure_count=seen.failure_count + attempt.failed,
        refusal_count=seen.refusal_count + refused,
        success=seen.success if refused else _moved(seen.success, attempt.succeeded),
        sufficiency=seen.sufficiency if sufficient is None else _moved(seen.sufficiency, sufficient),
        latency_ms=_moved(seen.latency_ms, attempt.duration_ms),
        llm_calls=_moved(seen.llm_calls, attempt.llm_calls),
    )


def _moved(average: float, value: float) -> float:
    return NEWEST_SHARE * value + (1 - NEWEST_SHARE) * average


def attempts_of(stages: Iterable[StageRecord], *, turn_failed: bool = False) -> list[Attempt]:
    """Return a turn's attempts, those of planners last; calls that were skipped for want of budget are none.

    A solver whose answer was rejected in its frame has failed, whatever it said of itself, and so has every planner
    of a turn that failed.
    """
    frames: dict[str, list[StageRecord]] = {}
    for record in stages:
        if record.status != "skipped-budget" and record.stage in TYPE_BY_STAGE:
            frames.setdefault(record.frame_id, []).append(record)
    judged = [_with_verdicts(records) for records in frames.values()]
    own = [_attempt(record) for records in judged for record in records if record.stage != "planner"]
    return own + [attempt for records in judged for attempt in _planner_attempts(records, turn_failed)]


def _with_verdicts(records: Sequence[StageRecord]) -> list[StageRecord]:
    judged = list(records)
    solver: int | None = None
    for place, record in enumerate(records):
        if record.stage == "goal-solver":
            solver = place
        elif record.status == "rejected" and solver is not None:
            judged[solver] = replace(judged[solver], status="error")
    return judged


def _attempt(record: StageRecord) -> Attempt:
    succeeded = record.status in _SUCCESSES
    return Attempt(
        plugin=(TYPE_BY_STAGE[record.stage], record.plugin_id),
        duration_ms=record.duration_ms,
        llm_calls=record.llm_calls,
        succeeded=succeeded,
        failed=not succeeded and record.status not in _REFUSALS,
        sufficient=True if succeeded and record.stage in ("kb", "goal-solver") else None,
    )


@dataclass(slots=True)
class _Led:
    """One planner's part of a frame: its own calls and the stages it led to."""

    planner_id: str
    records: list[StageRecord] = field(default_factory=list)

    def attempt(self, turn_failed: bool) -> Attempt:
        statuses = {record.status for record in self.records}
        succeeded = any(item.stage == "goal-solver" and item.status == "success" for item in self.records)
        refused = not succeeded and (statuses <= {"success"} or bool(statuses & set(_REFUSALS)))
        return Attempt(
            plugin=(PLANNER, self.planner_id),
            duration_ms=sum(record.duration_ms for record in self.records),
            llm_calls=sum(record.llm_calls for record in self.records),
            succeeded=succeeded and not turn_failed,
            failed=turn_failed or not (succeeded or refused),
            sufficient=True,
        )


def _planner_attempts(records: Sequence[StageRecord], turn_failed: bool) -> list[Attempt]:
    led: list[_Led] = []
    for record in records:
        if record.stage == "planner" and (not led or led[-1].planner_id != record.plugin_id):
            led.append(_Led(record.plugin_id))
        if led:
            led[-1].records.append(record)
    return [part.attempt(turn_failed) for part in led]


def learn_turn(
    stages: Iterable[StageRecord], seen: Callable[[PluginKey], Experience], *, turn_failed: bool = False
) -> dict[PluginKey, Experience]:
    """Return the new experience of every plugin that a turn tried.

    Args:
        seen: gives a plugin's experience before the turn.
    """
    after: dict[PluginKey, Experience] = {}
    for attempt in attempts_of(stages, turn_failed=turn_failed):
        before = after.get(attempt.plugin) or seen(attempt.plugin)
        after[attempt.plugin] = learn(before, attempt)
    return after

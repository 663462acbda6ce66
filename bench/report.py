"""The report: figures first, then ratios with their targets."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.bases import Base
from bench.machine import SESSION_UNITS, MachineCost
from bench.measurements import SHALLOW_TURN, Beside, Requests, Sizes, Stored
from bench.policies import PolicyCosts

FLOOR_TARGETS = {"SQLite": 3.0, "PostgreSQL": 3.5}
_INGEST_TARGETS = {"SQLite": 3.0, "PostgreSQL": 2.0}
FLOOR_AIM = 2.0
_DEPTH_TARGET = 1.2
_BASE_TARGET = 2.0
_STORED_TARGET = 1.1
_MACHINE_AIM_MS = 6.0
_ADMISSION_AIM = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The measurements of one run."""

    product: str
    sizes: Sizes
    turns: Requests
    floor: Requests
    deep: Requests
    shallow: Requests
    stored: Sequence[Stored]
    rows_a_turn: float
    machine: MachineCost
    beside: Beside
    policies: PolicyCosts
    bases: Sequence[Base]

    def lines(self) -> Iterator[str]:
        """Return the lines of the report."""
        count = len(self.turns.wall_ms)
        yield f"mrpvm bench: {count} turns, one client, {self.product}, Python {platform.python_version()}"
        yield ""
        yield f"{'':42}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'answer bytes':>14}"
        yield _figures("JSON turn", self.turns, self.turns.median_cpu_ms)
        yield _figures("floor: the same rows by bare ORM code", self.floor, self.floor.median_cpu_ms)
        yield _figures(f"turn {SHALLOW_TURN} of a session", self.shallow, median(self.shallow.cpu_ms))
        yield _figures(f"turn {self.sizes.deep_turns:,} of a session", self.deep, median(self.deep.cpu_ms))
        yield ""
        yield from self._stored_figures()
        yield ""
        yield from self._machine_figures()
        yield ""
        yield from ingest_lines(self.beside, self.product)
        yield ""
        yield from self.policies.lines()
        yield ""
        yield from self._base_figures()
        yield ""
        yield from self._ratios()

    def _stored_figures(self) -> Iterator[str]:
        shown = [self.stored[place] for place in (0, len(self.stored) // 2 - 1, -1)]
        yield f"{'one session, a turn stores':42}{'first tenth':>14}{'fifth tenth':>14}{'last tenth':>14}"
        yield _row("  bytes of the database", [window.database_bytes for window in shown])
        yield _row("  bytes of values", [window.total_row_bytes for window in shown])
        last = shown[-1].row_bytes
        for name in sorted(last, key=last.__getitem__, reverse=True):
            if any(round(window.row_bytes[name]) for window in shown):
                yield _row(f"    of {name}", [window.row_bytes[name] for window in shown])
        yield f"{'rows of a turn, and of the floor':42}{self.rows_a_turn:>14.1f}"

    def _machine_figures(self) -> Iterator[str]:
        levels = self.machine.levels
        costs = {level: median(cost.cpu_ms) for level, cost in levels.items()}
        yield f"{'the machine alone, at level':42}" + "".join(f"{level:>9}" for level in levels)
        yield f"{'  CPU ms of a question':42}" + "".join(f"{cost:>9.2f}" for cost in costs.values())
        yield f"{'  as a multiple of level 0':42}" + "".join(f"{cost / costs[0]:>9.2f}" for cost in costs.values())
        calls = (sum(cost.call_counts) / len(cost.call_counts) for cost in levels.values())
        yield f"{'  calls of plugins':42}" + "".join(f"{count:>9.1f}" for count in calls)
        name = f"CPU ms of a question, {SESSION_UNITS} units, level 0"
        yield _ratio(name, costs[0], f"aim at most {_MACHINE_AIM_MS:.2f}: {_met(costs[0] <= _MACHINE_AIM_MS)}")
        rate = self.machine.statements_a_second
        verdict = f"aim at least {_ADMISSION_AIM:,}: {_met(rate >= _ADMISSION_AIM)}"
        yield f"{'statements admitted a second':42}{rate:>9,.0f}   {verdict}"

    def _base_figures(self) -> Iterator[str]:
        for base in self.bases:
            replaced = f", {base.replaced_count}x replaced" if base.replaced_count else ""
            name = f"turn on a base of {base.unit_count:,} units{replaced}"
            yield _figures(name, base.requests, median(base.requests.cpu_ms))
        small, *_, large, replaced_often = (base.requests for base in self.bases)
        for name, requests in (("large base", large), ("replaced base", replaced_often)):
            latency = median(requests.wall_ms) / median(small.wall_ms)
            yield _ratio(f"{name} / small base, latency p50", latency, _verdict(latency, _BASE_TARGET))
            yield _ratio(f"{name} / small base, CPU", median(requests.cpu_ms) / median(small.cpu_ms))

    def _ratios(self) -> Iterator[str]:
        cpu = floor_ratio(self.turns, self.floor)
        target = FLOOR_TARGETS[self.product]
        yield _ratio("turn / floor, CPU, median of rounds", cpu, _verdict(cpu, target, f", aim {FLOOR_AIM:.2f}"))
        depth = f"turn {self.sizes.deep_turns:,} / turn {SHALLOW_TURN}"
        latency = median(self.deep.wall_ms) / median(self.shallow.wall_ms)
        yield _ratio(f"{depth}, latency p50", latency, _verdict(latency, _DEPTH_TARGET))
        yield _ratio(f"{depth}, CPU", median(self.deep.cpu_ms) / median(self.shallow.cpu_ms))
        first, middle, last = (self.stored[place].total_row_bytes for place in (0, len(self.stored) // 2 - 1, -1))
        yield _ratio("bytes stored a turn, last tenth / fifth", last / middle, _verdict(last / middle, _STORED_TARGET))
        yield _ratio("bytes stored a turn, last tenth / first", last / first, "retrieval finds less in a new session")
        asking = (self.turns, self.deep, self.shallow, *(base.requests for base in self.bases))
        right, total = (sum(getattr(requests, f"{kind}_count") for requests in asking) for kind in ("right", "asked"))
        yield f"{'questions answered rightly':42}{right:>9} of {total}"


def floor_ratio(turns: Requests, floor: Requests) -> float:
    """Return the median over rounds of the CPU ratio of turn and floor."""
    rounds = zip(turns.block_cpu_ms, floor.block_cpu_ms, strict=True)
    return median(turn_ms / floor_ms for turn_ms, floor_ms in rounds)


def ingest_lines(beside: Beside, product: str) -> Iterator[str]:
    """Return the figures of turns during the ingest of a source."""
    quiet, busy = beside.quiet, beside.busy
    count = median(beside.taken_beside.unit_counts)
    yield _figures("turn with nothing beside it", quiet, median(quiet.cpu_ms))
    yield _figures("turn beside the ingest of a source", busy, median(busy.cpu_ms))
    slowed = busy.percentile_ms(95) / quiet.percentile_ms(95)
    yield _ratio("beside ingest / alone, latency p95", slowed, _verdict(slowed, _INGEST_TARGETS[product]))
    yield _ratio("beside ingest / alone, latency p50", busy.percentile_ms(50) / quiet.percentile_ms(50))
    for name, taken in (("chat beside", beside.taken_beside), ("nothing beside", beside.taken_alone)):
        yield f"{f'units taken in a second, {name}':42}{taken.units_a_second:>9,.0f}   a source of {count:,.0f} units"


def _row(name: str, numbers: Sequence[float]) -> str:
    return f"{name:42}" + "".join(f"{number:>14,.0f}" for number in numbers)


def _figures(name: str, requests: Requests, cpu_ms: float) -> str:
    times = f"{requests.percentile_ms(50):>9.1f}{requests.percentile_ms(95):>9.1f}{cpu_ms:>9.2f}"
    return f"{name:42}{times}{round(median(requests.response_bytes)):>14,}"


def _ratio(name: str, ratio: float, remark: str = "") -> str:
    return f"{name:42}{ratio:>9.2f}   {remark}".rstrip()


def _verdict(ratio: float, target: float, more: str = "") -> str:
    return f"at most {target:.2f}{more}: {_met(ratio <= target)}"


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"

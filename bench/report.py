"""What was measured, as lines: figures first, then ratios with their targets [O-38]."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.measurements import SHALLOW_TURN, Requests, Sizes, Stored

_FLOOR_TARGETS = {"SQLite": 3.0, "PostgreSQL": 3.5}
_FLOOR_AIM = 2.0
_DEPTH_TARGET = 1.2
_STORED_TARGET = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run's measurements."""

    product: str
    sizes: Sizes
    turns: Requests
    floor: Requests
    deep: Requests
    shallow: Requests
    stored: Sequence[Stored]
    rows_a_turn: float

    def lines(self) -> Iterator[str]:
        """Give the report, line by line."""
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
        yield from self._ratios()

    def _stored_figures(self) -> Iterator[str]:
        first, last = self.stored[0], self.stored[-1]
        yield f"{'a turn stores':42}{'first tenth':>14}{'last tenth':>14}"
        yield f"{'  bytes of the database':42}{first.database_bytes:>14,.0f}{last.database_bytes:>14,.0f}"
        yield f"{'  bytes of values':42}{first.total_row_bytes:>14,.0f}{last.total_row_bytes:>14,.0f}"
        for name in sorted(last.row_bytes, key=last.row_bytes.__getitem__, reverse=True):
            if round(first.row_bytes[name]) or round(last.row_bytes[name]):
                yield f"{f'    of {name}':42}{first.row_bytes[name]:>14,.0f}{last.row_bytes[name]:>14,.0f}"
        yield f"{'  rows (of which the floor writes as many)':42}{self.rows_a_turn:>14.1f}"

    def _ratios(self) -> Iterator[str]:
        cpu = self.turns.median_cpu_ms / self.floor.median_cpu_ms
        yield _judged("turn / floor, CPU", cpu, _FLOOR_TARGETS[self.product], f" (aim {_FLOOR_AIM:.2f})")
        depth = f"turn {self.sizes.deep_turns:,} / turn {SHALLOW_TURN}"
        yield _judged(f"{depth}, latency p50", median(self.deep.wall_ms) / median(self.shallow.wall_ms), _DEPTH_TARGET)
        yield _judged(f"{depth}, CPU", median(self.deep.cpu_ms) / median(self.shallow.cpu_ms), _DEPTH_TARGET)
        grown = self.stored[-1].total_row_bytes / self.stored[0].total_row_bytes
        yield _judged("bytes stored a turn, last tenth / first", grown, _STORED_TARGET)
        right = sum(requests.right_count for requests in (self.turns, self.deep, self.shallow))
        asked = sum(requests.asked_count for requests in (self.turns, self.deep, self.shallow))
        yield f"{'questions answered rightly':42}{right:>9} of {asked}"


def _figures(name: str, requests: Requests, cpu_ms: float) -> str:
    times = f"{requests.percentile_ms(50):>9.1f}{requests.percentile_ms(95):>9.1f}{cpu_ms:>9.2f}"
    return f"{name:42}{times}{round(median(requests.response_bytes)):>14,}"


def _judged(name: str, ratio: float, target: float, more: str = "") -> str:
    verdict = "met" if ratio <= target else "not met"
    return f"{name:42}{ratio:>9.2f}   at most {target:.2f}{more}: {verdict}"

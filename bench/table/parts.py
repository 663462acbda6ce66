"""The parts of the table, each measured alone on a new database."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.databases import Database, new_database
from bench.machine import SESSION_UNITS, machine_cost
from bench.table.clients import client_rows
from bench.table.growth import growth_rows
from bench.table.hostile import hostile_rows
from bench.table.overview import overview_rows
from bench.table.requests import request_rows
from bench.table.rows import Row
from bench.table.statements import statement_rows
from bench.table.traces import trace_rows
from bench.table.workers import worker_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSizes:
    """How much is measured."""

    rounds: int = 7
    client_turns: int = 12
    growth_turns: int = 6_750
    memory_turns: int = 5_000
    burst_messages: int = 150
    span_count: int = 10_000
    overview_turns: int = 1_000_000


QUICK_TABLE = TableSizes(
    rounds=1, client_turns=2, growth_turns=60, memory_turns=50, burst_messages=2, span_count=100, overview_turns=2_000
)
"""Enough to see that everything runs; too little to tell anything."""

type Part = Callable[[Database, TableSizes], list[Row]]


def _machine(own: Database, sizes: TableSizes) -> list[Row]:
    cpu_ms = median(machine_cost(sizes.rounds).levels[0].cpu_ms)
    return [Row(name=f"the machine alone, {SESSION_UNITS} units, level 0, ms", measured=cpu_ms, must=3, aim=2)]


PARTS: Mapping[str, Part] = {
    "requests": lambda own, sizes: request_rows(own, sizes.rounds),
    "clients": lambda own, sizes: client_rows(own, sizes.rounds, sizes.client_turns),
    "workers": lambda own, sizes: worker_rows(own, sizes.rounds),
    "machine": _machine,
    "statements": lambda own, sizes: statement_rows(own),
    "growth": lambda own, sizes: growth_rows(own, sizes.growth_turns, sizes.memory_turns),
    "traces": lambda own, sizes: trace_rows(own, sizes.rounds, sizes.span_count),
    "overview": lambda own, sizes: overview_rows(own, sizes.overview_turns),
    "hostile": lambda own, sizes: hostile_rows(own, sizes.burst_messages),
}


def measured_rows(names: Iterable[str], sizes: TableSizes) -> Iterator[Row]:
    """Return the rows of the parts with these names."""
    for name in names:
        with (
            tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory,
            new_database(Path(directory, name)) as own,
        ):
            yield from PARTS[name](own, sizes)

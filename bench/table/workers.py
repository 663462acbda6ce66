"""The throughput of two processes and of one, over the same PostgreSQL and Redis."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import median

from bench.conversation import conversation
from bench.databases import Database
from bench.servers import MeasuredServer, ServerProcess
from bench.table.requests import STORY_TURNS
from bench.table.rows import Row

CLIENTS = 8


def worker_rows(own: Database, rounds: int) -> list[Row]:
    """Let eight clients use one process and two processes alternately. This needs PostgreSQL and Redis.

    This is wall time: without a free core a second process gains nothing. So the busy
    cores are measured too, whatever used them: servers, database, clients, other programs.
    """
    if own.product == "SQLite" or not os.environ.get("REDIS_URL"):
        return [_row(None, "needs DATABASE_URL of PostgreSQL and REDIS_URL")]
    seeds = count()
    with MeasuredServer(own) as one, MeasuredServer(own, "--no-bootstrap") as other:
        rounds_measured = [
            [_measure(servers, [next(seeds) for _ in range(CLIENTS)]) for servers in ([one], [one, other])]
            for _ in range(rounds + 1)
        ]
    alone, two = zip(*rounds_measured[1:], strict=True)
    return [
        _row(median(after.turns_a_second / before.turns_a_second for before, after in zip(alone, two, strict=True))),
        _busy_row("one worker", alone),
        _busy_row("two workers", two),
    ]


def _row(ratio: float | None, reason: str = "") -> Row:
    return Row(name="turns a second of two workers / of one", measured=ratio, must=1.8, is_least=True, reason=reason)


@dataclass(frozen=True, slots=True)
class _Throughput:
    """Turns in a second, and how many cores of the machine were busy meanwhile."""

    turns_a_second: float
    busy_cores: float


def _busy_row(workers: str, measured: Sequence[_Throughput]) -> Row:
    return Row(name=f"busy cores of {os.cpu_count()}, {workers}", measured=median(item.busy_cores for item in measured))


def _measure(servers: Sequence[ServerProcess], seeds: Sequence[int]) -> _Throughput:
    def talk(number: int, seed: int) -> None:
        with servers[number % len(servers)].client() as client:
            session_id = client.new_session()
            for said in islice(conversation(seed), STORY_TURNS):
                client.say(session_id, said.message)

    began, idle_before = time.perf_counter(), _idle_seconds()
    with ThreadPoolExecutor(len(seeds)) as threads:
        list(threads.map(talk, range(len(seeds)), seeds))
    seconds = time.perf_counter() - began
    idle_cores = (_idle_seconds() - idle_before) / seconds
    return _Throughput(len(seeds) * STORY_TURNS / seconds, (os.cpu_count() or 1) - idle_cores)


def _idle_seconds() -> float:
    """Return the idle seconds of all cores together since the machine started, as Linux counts them."""
    _, *times = Path("/proc/stat").read_text().splitlines()[0].split()
    idle, waiting = int(times[3]), int(times[4])
    return (idle + waiting) / os.sysconf("SC_CLK_TCK")

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
from bench.cpu_quota import cpu_quota
from bench.databases import Database
from bench.servers import MeasuredServer, ServerProcess
from bench.table.requests import STORY_TURNS
from bench.table.rows import Row

CLIENTS = 8
_QUOTA_CORES = 0.35
_OF_TWO = "turns a second of two workers / of one"
_WITH_QUOTA = f"the same, each held to {_QUOTA_CORES} of a core"


@dataclass(frozen=True, slots=True)
class _Throughput:
    """Turns in a second, and how many cores of the machine were busy meanwhile."""

    turns_a_second: float
    busy_cores: float


def worker_rows(own: Database, rounds: int) -> list[Row]:
    """Let eight clients use one process and two processes alternately. This needs PostgreSQL and Redis.

    This is wall time: without a free core a second process gains nothing. So the busy cores are measured too, whatever
    used them: servers, database, clients, other programs. And where the system lets it, the same is measured with a
    quota of CPU for each process, so small that the cores are not the limit.
    """
    if own.product == "SQLite" or not os.environ.get("REDIS_URL"):
        return [_ratio_row(None, "needs DATABASE_URL of PostgreSQL and REDIS_URL")]
    with MeasuredServer(own) as one, MeasuredServer(own, "--no-bootstrap") as other:
        alone, two = _alternate(one, other, rounds)
        rows = [_ratio_row(_ratio(alone, two)), _busy_row("one worker", alone), _busy_row("two workers", two)]
        try:
            with cpu_quota(one.pid, _QUOTA_CORES), cpu_quota(other.pid, _QUOTA_CORES):
                alone, two = _alternate(one, other, rounds)
        except OSError as error:
            return [*rows, _ratio_row(None, f"no CPU quota ({error.strerror})", _WITH_QUOTA)]
        return [*rows, _ratio_row(_ratio(alone, two), name=_WITH_QUOTA), _busy_row("two workers with it", two)]


def _alternate(one: ServerProcess, other: ServerProcess, rounds: int) -> tuple[list[_Throughput], list[_Throughput]]:
    """Return what one process made in each round, and what two made; a first round is not counted."""
    seeds = count()
    alone, two = (list[_Throughput](), list[_Throughput]())
    for _ in range(rounds + 1):
        alone.append(_measure([one], list(islice(seeds, CLIENTS))))
        two.append(_measure([one, other], list(islice(seeds, CLIENTS))))
    return alone[1:], two[1:]


def _ratio(alone: Sequence[_Throughput], two: Sequence[_Throughput]) -> float:
    return median(after.turns_a_second / before.turns_a_second for before, after in zip(alone, two, strict=True))


def _ratio_row(ratio: float | None, reason: str = "", name: str = _OF_TWO) -> Row:
    return Row(name=name, measured=ratio, must=1.8, is_least=True, reason=reason)


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

"""How many more turns two processes answer than one, over the same PostgreSQL and Redis."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from statistics import median

from bench.conversation import conversation
from bench.databases import Database
from bench.servers import MeasuredServer, ServerProcess
from bench.table.requests import STORY_TURNS
from bench.table.rows import Row

CLIENTS = 8


def worker_rows(own: Database, rounds: int) -> list[Row]:
    """Let eight clients talk to one process and to two by turns; not measured without PostgreSQL and Redis.

    This is time that passed: where the machine has no core left for the second process, nothing can be gained.
    """
    if own.product == "SQLite" or not os.environ.get("REDIS_URL"):
        return [_row(None, "needs DATABASE_URL of PostgreSQL and REDIS_URL")]
    seeds = count()
    with MeasuredServer(own) as one, MeasuredServer(own, "--no-bootstrap") as other:
        rates = [
            [_turns_a_second(servers, [next(seeds) for _ in range(CLIENTS)]) for servers in ([one], [one, other])]
            for _ in range(rounds + 1)
        ]
    ratio = median(two / alone for alone, two in rates[1:])
    return [_row(ratio)]


def _row(ratio: float | None, reason: str = "") -> Row:
    return Row(name="turns a second of two workers / of one", measured=ratio, must=1.8, is_least=True, reason=reason)


def _turns_a_second(servers: Sequence[ServerProcess], seeds: Sequence[int]) -> float:
    def talk(number: int, seed: int) -> None:
        with servers[number % len(servers)].client() as client:
            session_id = client.new_session()
            for said in islice(conversation(seed), STORY_TURNS):
                client.say(session_id, said.message)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(seeds)) as threads:
        list(threads.map(talk, range(len(seeds)), seeds))
    return len(seeds) * STORY_TURNS / (time.perf_counter() - began)

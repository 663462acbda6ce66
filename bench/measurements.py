"""Measuring CPU time, and ratios of alternating rounds, which a busy machine disturbs least."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

from bench.conversation import Said, conversation
from bench.servers import Client, MeasuredServer
from bench.stored import database_bytes, row_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured. A round is one conversation and as many requests to the floor."""

    rounds: int = 20
    turns_a_round: int = 25
    deep_turns: int = 1_000
    pairs: int = 100
    ingest_rounds: int = 3
    ingest_paragraphs: int = 2_471
    policy_rounds: int = 4
    exchanges: tuple[int, ...] = (2, 8, 50, 100, 500)
    base_statements: tuple[int, int] = (100, 10_000)
    base_turns: int = 100


QUICK = Sizes(
    rounds=1, turns_a_round=11, deep_turns=20, pairs=4, ingest_rounds=1, ingest_paragraphs=120, policy_rounds=1,
    exchanges=(2, 8, 50), base_statements=(20, 60), base_turns=4,
)  # fmt: skip
"""Enough to see that everything runs; too little to tell anything."""
SHALLOW_TURN = 10
WINDOWS = 10
"""Parts of the long session whose bytes are compared."""


@dataclass(slots=True)
class Requests:
    """Requests of one kind: the client's times, CPU of the server, sizes, right answers."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    block_cpu_ms: list[float] = field(default_factory=list)
    response_bytes: list[int] = field(default_factory=list)
    asked_count: int = 0
    right_count: int = 0

    @property
    def median_cpu_ms(self) -> float:
        """Return the median over rounds of the mean CPU time of a request."""
        return median(self.block_cpu_ms)

    def percentile_ms(self, percent: int) -> float:
        """Return this percentile of the requests' times."""
        ordered = sorted(self.wall_ms)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    def send(self, server: MeasuredServer, request: Callable[[], bytes], expected: str | None = None) -> None:
        """Measure one request."""
        cpu_ms, began = server.cpu_ms, time.perf_counter()
        answer = request()
        self.wall_ms.append((time.perf_counter() - began) * 1000)
        self.cpu_ms.append(server.cpu_ms - cpu_ms)
        self.response_bytes.append(len(answer))
        if expected is not None:
            self.asked_count += 1
            self.right_count += expected in json.loads(answer)["choices"][0]["message"]["content"]

    def end_block(self, server: MeasuredServer, cpu_ms_before: float, count: int) -> None:
        """Record the CPU time of the last `count` requests, background work of the server included."""
        self.block_cpu_ms.append((server.cpu_ms - cpu_ms_before) / count)


def talk(server: MeasuredServer, turns: int, seed: int, requests: Requests) -> None:
    """Hold one conversation in a new session."""
    with server.client() as client:
        session_id = client.new_session()
        cpu_ms = server.cpu_ms
        for said in islice(conversation(seed), turns):
            requests.send(server, lambda said=said: client.say(session_id, said.message), said.expected)  # type: ignore[misc]
        requests.end_block(server, cpu_ms, turns)


def touch_floor(floor: MeasuredServer, turns: int, requests: Requests) -> None:
    """Send the floor as many requests as a conversation has turns."""
    with floor.client() as client:
        cpu_ms = floor.cpu_ms
        for _ in range(turns):
            requests.send(floor, lambda: client.post("/turn", {"message": "whatever"}))
        requests.end_block(floor, cpu_ms, turns)


def turn_and_floor(server: MeasuredServer, floor: MeasuredServer, sizes: Sizes) -> tuple[Requests, Requests]:
    """Return the requests of all rounds, for turns and for the floor. One earlier round warms both servers up."""
    talk(server, sizes.turns_a_round, seed=0, requests=Requests())
    touch_floor(floor, sizes.turns_a_round, Requests())
    turns, written = Requests(), Requests()
    for number in range(1, sizes.rounds + 1):
        talk(server, sizes.turns_a_round, number, turns)
        touch_floor(floor, sizes.turns_a_round, written)
    return turns, written


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What the turns of one window added to the database, per turn."""

    database_bytes: float
    row_bytes: dict[str, float]

    @property
    def total_row_bytes(self) -> float:
        """Return the bytes of all rows together."""
        return sum(self.row_bytes.values())


def deep_session(server: MeasuredServer, sizes: Sizes) -> tuple[Requests, Requests, list[Stored]]:
    """Return the last turns of one long session, turns around the tenth of new sessions, and bytes by window.

    The two kinds of turns alternate, so that other load on the machine affects both equally.
    """
    deep, shallow = Requests(), Requests()
    with server.client() as client:
        long = Talk(client, seed=1_000_000)
        stored = list(_windows(long, sizes.deep_turns - sizes.pairs // 2))
        short = Talk(client, seed=1_000_001)
        for number in range(sizes.pairs):
            if number % SHALLOW_TURN == 0:
                short = Talk(client, seed=1_000_001 + number)
                for _ in range(SHALLOW_TURN // 2):
                    short.turn()
            deep.send(server, *long.next_request())
            shallow.send(server, *short.next_request())
    return deep, shallow, stored


class Talk:
    """A session and its conversation."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._session_id = client.new_session()
        self._said: Iterator[Said] = conversation(seed)

    def next_request(self) -> tuple[Callable[[], bytes], str | None]:
        said = next(self._said)
        return lambda: self._client.say(self._session_id, said.message), said.expected

    def turn(self) -> None:
        self.next_request()[0]()


def _windows(long: Talk, turns: int) -> Iterator[Stored]:
    """Hold `turns` turns and return what each tenth of them stored."""
    before = _sizes()
    for window in range(WINDOWS):
        count = max(1, turns * (window + 1) // WINDOWS - turns * window // WINDOWS)
        for _ in range(count):
            long.turn()
        after = _sizes()
        yield Stored(
            database_bytes=(after[0] - before[0]) / count,
            row_bytes={name: (size - before[1][name]) / count for name, size in after[1].items()},
        )
        before = after


def _sizes() -> tuple[int, dict[str, int]]:
    return database_bytes(), row_bytes()


@dataclass(slots=True, kw_only=True)
class TakenIn:
    """Ingests of one kind: how many units each source gave, and how long each took."""

    unit_counts: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def units_a_second(self) -> float:
        """Return the units per second."""
        return sum(self.unit_counts) / self.seconds


@dataclass(slots=True, kw_only=True)
class Beside:
    """Turns alone and during an ingest, and ingests during turns and alone."""

    quiet: Requests = field(default_factory=Requests)
    busy: Requests = field(default_factory=Requests)
    taken_beside: TakenIn = field(default_factory=TakenIn)
    taken_alone: TakenIn = field(default_factory=TakenIn)

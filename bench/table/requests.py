"""What single requests cost the server, as multiples of a bare view on the same kind of server."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median

from bench.conversation import conversation
from bench.databases import Database
from bench.servers import BareServer, Client, MeasuredServer, ServerProcess
from bench.table.rows import Row

STORY_TURNS = 12
"""Turns of each session, and units of the session that is read."""
HALF_OF_PAGE = {"session page": 21.9, "turn page": 6.85}
"""Half of what the pages cost when they were first measured, as multiples of the bare view."""
_BARE, _JSON, _STREAMED = "bare", "JSON turn", "streamed turn"
_COUNTS = {_BARE: 200, "GET /health": 200, "GET session": 60, "POST session": 40, "session page": 10, "turn page": 10}

type Request = Callable[[Client], bytes]
type Block = Callable[[], float]
"""Sends requests of one kind and returns the CPU ms of one."""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU ms of a request of each kind, in each round."""

    rounds: Sequence[Mapping[str, float]]

    def ratio(self, kind: str, base: str = _BARE) -> float:
        """Return the median of the rounds' ratios."""
        return median(costs[kind] / costs[base] for costs in self.rounds)


def request_rows(own: Database, rounds: int) -> list[Row]:
    """Start the servers, measure requests of all kinds alternately, and return their rows.

    One earlier round warms the servers up.
    """
    with MeasuredServer(own) as server, BareServer() as bare:
        blocks = dict(_blocks(server)) | {
            _BARE: lambda: _cpu_ms(bare, _COUNTS[_BARE], lambda client: client.get("/bare"))
        }
        costs = Costs([{kind: block() for kind, block in blocks.items()} for _ in range(rounds + 1)][1:])
    turn = {"SQLite": (9, 7), "PostgreSQL": (10, 8)}[own.product]
    bare_ms = median(one[_BARE] for one in costs.rounds)
    return [
        Row(name="a bare view, CPU ms: the unit of what follows", measured=bare_ms),
        Row(name="GET /health", measured=costs.ratio("GET /health"), must=1.3, aim=1.1),
        Row(name="GET /api/sessions/:id, 12 units", measured=costs.ratio("GET session"), must=3, aim=2),
        Row(name="POST /api/sessions", measured=costs.ratio("POST session"), must=5, aim=4),
        *(Row(name=f"{name}, first answer", measured=costs.ratio(name), must=half)
          for name, half in HALF_OF_PAGE.items()),
        Row(name="a turn, JSON, one client", measured=costs.ratio(_JSON), must=turn[0], aim=turn[1]),
        Row(name="a streamed turn / a JSON turn", measured=costs.ratio(_STREAMED, _JSON), must=1.2, aim=1.1),
    ]  # fmt: skip


def _blocks(server: MeasuredServer) -> Iterator[tuple[str, Block]]:
    with server.client() as client:
        cookies = client.log_in(server.login_path)
        session_id = client.new_session()
        messages = (said.message for said in conversation(seed=7) if said.expected is None)
        turns = [json.loads(client.say(session_id, message)) for message in islice(messages, STORY_TURNS)]
    page = f"/sessions/{session_id}"
    requests: dict[str, Request] = {
        "GET /health": lambda client: client.get("/health"),
        "GET session": lambda client: client.get(f"/api/sessions/{session_id}"),
        "POST session": lambda client: client.post("/api/sessions", {}),
        "session page": lambda client: client.page(page, cookies),
        "turn page": lambda client: client.page(f"{page}/turns/{turns[-1]['request_id']}", cookies),
    }
    for kind, request in requests.items():
        yield kind, partial(_cpu_ms, server, _COUNTS[kind], request)
    # Each round has another conversation, which is held in both ways.
    for kind in (_JSON, _STREAMED):
        seeds = iter(range(1_000))
        yield kind, lambda kind=kind, seeds=seeds: _story_cpu_ms(server, next(seeds), stream=kind == _STREAMED)  # type: ignore[misc]


def _story_cpu_ms(server: ServerProcess, seed: int, *, stream: bool) -> float:
    """Hold two conversations of twelve turns and return the CPU ms of a turn."""
    talks = []
    with server.client() as client:
        for number in (0, 1):
            session_id = client.new_session()
            said = islice(conversation(2 * seed + number), STORY_TURNS)
            talks += [(session_id, one.message) for one in said]
    remaining = iter(talks)
    return _cpu_ms(server, len(talks), lambda client: client.say(*next(remaining), stream=stream))


def _cpu_ms(server: ServerProcess, count: int, request: Request) -> float:
    """Send this many requests on one connection and return the CPU ms of one."""
    with server.client() as client:
        before = server.cpu_ms
        for _ in range(count):
            request(client)
        return (server.cpu_ms - before) / count

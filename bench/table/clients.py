"""What a turn costs the server with many clients at once, each in its own session."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from statistics import median

from bench.conversation import Said, conversation
from bench.databases import Database
from bench.servers import MeasuredServer, ServerProcess
from bench.table.rows import Row

CLIENTS = (8, 32)
_ALONE_SESSIONS = 4


def client_rows(own: Database, rounds: int, turns: int) -> list[Row]:
    """Measure one, eight and 32 clients alternately, each with this many turns, and return the rows."""
    costs: dict[int, list[float]] = {number: [] for number in (1, *CLIENTS)}
    seeds = count()
    # The default limit of running turns is lower than the number of clients, and the others would be refused.
    with MeasuredServer(own, MRPVM_MAX_RUNNING_TURNS=str(2 * max(CLIENTS))) as server:
        for _ in range(rounds + 1):
            for number, number_costs in costs.items():
                talks = [list(islice(conversation(next(seeds)), turns)) for _ in range(max(number, _ALONE_SESSIONS))]
                number_costs.append(_cpu_ms_a_turn(server, number, talks))
    alone = costs[1][1:]
    return [
        Row(
            name=f"a turn with {number} clients / with one",
            measured=median(many / one for many, one in zip(costs[number][1:], alone, strict=True)),
            must=1.15,
            aim=1.05,
        )
        for number in CLIENTS
    ]


def _cpu_ms_a_turn(server: ServerProcess, client_count: int, talks: Sequence[Sequence[Said]]) -> float:
    """Hold the conversations, this many at once, and return the CPU ms of a turn."""
    with server.client() as client:
        sessions = [client.new_session() for _ in talks]

    def hold(session_id: str, talk: Sequence[Said]) -> None:
        with server.client() as client:
            for said in talk:
                client.say(session_id, said.message)

    before = server.cpu_ms
    with ThreadPoolExecutor(client_count) as threads:
        list(threads.map(hold, sessions, talks))
    return (server.cpu_ms - before) / sum(map(len, talks))

"""What a large source costs those who chat meanwhile, and how fast it is taken in."""

import json
import random
import threading
import time
from dataclasses import dataclass, field

from bench.measurements import Requests, Talk
from bench.servers import MeasuredServer

_THINGS = "engine valve river stone council letter market bridge window garden harbour winter forest castle"
_KINDS = "ancient modern quiet heavy light narrow broad simple rapid gentle strange common empty copper"
_TURNS_ASIDE = 20


@dataclass(slots=True, kw_only=True)
class Beside:
    """Turns with nothing beside them, turns beside an ingest, and what was taken in by how much time."""

    quiet: Requests = field(default_factory=Requests)
    busy: Requests = field(default_factory=Requests)
    unit_count: int = 0
    seconds: float = 0.0

    @property
    def units_a_second(self) -> float:
        """Give the rate of the ingests, chat beside them included."""
        return self.unit_count / self.seconds


def chat_beside_ingest(server: MeasuredServer, rounds: int, paragraph_count: int) -> Beside:
    """Give turns of rounds in which first nothing else goes on, and then a source is taken in until it is there.

    The source goes into a base that the talking session has not mounted, so that its turns find the same in both.
    """
    measured = Beside()
    for number in range(rounds):
        with server.client() as client:
            talk = Talk(client, seed=2_000_000 + number)
            for _ in range(_TURNS_ASIDE):
                measured.quiet.send(server, *talk.next_request())
            ingest = threading.Thread(target=_take_in, args=(server, number, paragraph_count, measured))
            ingest.start()
            while ingest.is_alive():
                measured.busy.send(server, *talk.next_request())
            ingest.join()
    return measured


def _take_in(server: MeasuredServer, number: int, paragraph_count: int, measured: Beside) -> None:
    with server.client() as client:
        kb_id = json.loads(client.post("/api/kbs", {"name": f"Source {number}"}))["kb_id"]
        began = time.perf_counter()
        made = json.loads(
            client.post(f"/api/kbs/{kb_id}/sources", {"name": "source.txt", "content": _text(number, paragraph_count)})
        )
        measured.seconds += time.perf_counter() - began
        measured.unit_count += made["unitCount"]


def _text(seed: int, paragraph_count: int) -> str:
    """Give paragraphs of plain statements, each one of its own, equal for equal seeds."""
    chosen = random.Random(seed)

    def statement(number: int) -> str:
        first, second = chosen.sample(_THINGS.split(), 2)
        kind, other = chosen.sample(_KINDS.split(), 2)
        return f"The {kind} {first} of Place{seed}n{number} stood near the {other} {second} in {1800 + number % 200}."

    return "\n\n".join(
        " ".join(statement(4 * paragraph + place) for place in range(4)) for paragraph in range(paragraph_count)
    )

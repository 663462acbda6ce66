"""What the size of a mounted base costs a turn: the same questions over a small and a large base, alternately."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import batched, product

from bench.conversation import WORDS
from bench.measurements import Requests
from bench.servers import Client, MeasuredServer

_OFFICES = 60
_TURNS_A_SESSION = 20
_TAKEN_IN_WITHIN_S = 900
_PACKED_WITHIN_S = 120
_REPLACED = 4
"""How often the source of the last base is replaced."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a base, the question about it, and a word that the right answer contains."""

    statement: str
    question: str
    expected: str


@dataclass(frozen=True, slots=True)
class Base:
    """A base, how many units it shows, how often its source was replaced, and the turns on it."""

    kb_id: str
    unit_count: int
    replaced_count: int = 0
    requests: Requests = field(default_factory=Requests)


def turns_on_bases(server: MeasuredServer, sizes: Sequence[int], turn_count: int) -> list[Base]:
    """Return a base of each number of statements, the smallest first, with the turns over it.

    A further base is as large as the largest, and its source was replaced several times.
    Every base holds the statements of the smallest, and only these are asked for, so that each base answers each
    question. Each question is asked of every base before the next question, in changing order, in new sessions.
    Opening a session is not measured.
    """
    chance = random.Random(5)
    facts = _facts(chance)
    chosen = chance.choices(facts[: sizes[0]], k=turn_count)
    with server.client(_TAKEN_IN_WITHIN_S) as client:
        bases = [_taken_in(client, facts[:size]) for size in sizes]
        bases.append(_taken_in(client, facts[: sizes[-1]], replaced_count=_REPLACED))
        _wait_until_packed()
        for batch in batched(chosen, _TURNS_A_SESSION, strict=False):
            sessions = [(base.requests, client.new_session(base.kb_id)) for base in bases]
            for _, session_id in sessions:
                client.say(session_id, facts[0].question)
            for fact in batch:
                sessions.reverse()
                for requests, session_id in sessions:
                    requests.send(server, partial(client.say, session_id, fact.question), fact.expected)
    return bases


def _facts(chance: random.Random) -> list[Fact]:
    people = [
        f"{first} {last} of office {office}"
        for first, last, office in product(WORDS["first"], WORDS["last"], range(1, _OFFICES + 1))
    ]
    chance.shuffle(people)
    companies = chance.choices(WORDS["company"], k=len(people))
    return [
        Fact(f"{who} works at {company}.", f"Where does {who} work?", company)
        for who, company in zip(people, companies, strict=True)
    ]


def _taken_in(client: Client, facts: Sequence[Fact], replaced_count: int = 0) -> Base:
    name = f"{len(facts)} statements, replaced {replaced_count} times"
    kb_id = json.loads(client.post("/api/kbs", {"name": name}))["kb_id"]
    for version in range(replaced_count + 1):
        text = "\n\n".join([f"This is version {version} of the list.", *(fact.statement for fact in facts)])
        source = {"name": "people.txt", "source_id": "people", "content": text}
        made = json.loads(client.post(f"/api/kbs/{kb_id}/sources", source))
    return Base(kb_id, made["unitCount"], replaced_count)


def _wait_until_packed() -> None:
    """Pack the layers as the server's sweeper does after an ingest, or wait until the sweeper has done it.

    Raises:
        TimeoutError: it does not end.
    """
    from sessions_app.layers import pack_large_layers
    from sessions_app.models import PackedLayer

    ends = time.monotonic() + _PACKED_WITHIN_S
    while pack_large_layers() or PackedLayer.objects.filter(is_complete=False).exists():
        if time.monotonic() > ends:
            raise TimeoutError("a base was not packed in time")
        time.sleep(0.2)

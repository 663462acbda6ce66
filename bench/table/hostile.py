"""What hostile messages within the limits can cost the server: CPU seconds, and memory that stays in use."""

import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle

from bench.conversation import WORDS
from bench.databases import Database
from bench.servers import Client, MeasuredServer
from bench.table.rows import Row

MESSAGE_CHARS = 8_000


def hostile_rows(own: Database, burst_count: int) -> list[Row]:
    """Send each hostile message, then a burst of long ones, and return what they cost."""
    with MeasuredServer(own) as server, server.client(timeout_seconds=180) as client:
        for _ in range(3):
            client.say(client.new_session(), "My dog is called Rex. What is my dog called?")
        seconds = {name: _cpu_seconds(server, client, message) for name, message in _messages().items()}
        before_mb = server.resident_mb
        for message in _burst(burst_count):
            client.say(client.new_session(), message)
        grown_mb = server.resident_mb - before_mb
    return [
        *(Row(name=f"{name}, CPU s", measured=cost, must=0.5) for name, cost in seconds.items()),
        Row(name=f"growth of the process, MB, {burst_count} messages of 8,000 characters", measured=grown_mb, must=40),
    ]


def _messages() -> dict[str, str]:
    names = [name for name, _ in zip(cycle(WORDS["first"]), range(MESSAGE_CHARS), strict=False)]
    texts = {
        "400 numbered questions": "\n".join(f"{number}. Who is {name}?" for number, name in enumerate(names[:400], 1)),
        "names joined by 'and'": " and ".join(names),
        "questions joined by 'and'": " and ".join(f"who is {name}" for name in names),
    }
    return {f"a message of {name}": text[:MESSAGE_CHARS] for name, text in texts.items()}


def _burst(count: int) -> Iterator[str]:
    for seed in range(count):
        chance = random.Random(seed)
        text = ""
        while len(text) < MESSAGE_CHARS:
            words = [word for word, _ in zip(_words(chance), range(chance.randint(4, 14)), strict=False)]
            text += f"{' '.join(words).capitalize()}. "
        yield text[:MESSAGE_CHARS]


def _words(chance: random.Random) -> Iterator[str]:
    every = sorted({word for words in WORDS.values() for word in words})
    for _ in range(MESSAGE_CHARS):
        # Numbers after some words make most words new, as in texts by different people.
        yield chance.choice(every) + (str(chance.randint(0, 9_999)) if chance.random() < 0.3 else "")


def _cpu_seconds(server: MeasuredServer, client: Client, message: str) -> float:
    session_id = client.new_session()
    before = server.cpu_ms
    with suppress(RuntimeError):  # a turn that reaches a time limit has cost as much
        client.say(session_id, message)
    return (server.cpu_ms - before) / 1000

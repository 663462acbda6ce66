"""How many turns let the database and the memory of the process grow."""

import sqlite3
from collections.abc import Iterator
from itertools import cycle, islice

from bench.conversation import conversation
from bench.databases import Database
from bench.servers import MeasuredServer
from bench.table.rows import Row

SESSION_TURNS = 50
_WARM_TURNS = 300
_SMALL_TALK = (
    "Hello!", "Thanks, that helps.", "What do you know about me?", "Who wrote the first encyclopedia?",
    "Please answer in one sentence.", "Forget it.",
)  # fmt: skip
_LONG_FACTS = 8
"""Facts of a longer message: about 300 characters."""


def mixed_talk(seed: int) -> Iterator[str]:
    """Yield messages without end: of every six, four tell or ask for facts, one is small talk, one is longer."""
    said = (one.message for one in conversation(seed))
    small_talk = cycle(_SMALL_TALK)
    while True:
        messages = list(islice(said, 4))
        yield from messages
        yield next(small_talk)
        yield " ".join([*messages, *islice(said, _LONG_FACTS - 4)])


def growth_rows(own: Database, turn_count: int, memory_turn_count: int) -> list[Row]:
    """Hold this many turns in sessions of 50 and return how the database and the process grew.

    The first 300 turns warm the process up, and its memory is measured after them.
    """
    with MeasuredServer(own) as server, server.client() as client:
        began_bytes, resident_mb, grown_mb = database_file_bytes(own), 0.0, 0.0
        messages: Iterator[str] = iter(())
        for number in range(turn_count):
            if number == min(_WARM_TURNS, turn_count // 10):
                resident_mb, warm_at = server.resident_mb, number
            if number % SESSION_TURNS == 0:
                session_id, messages = client.new_session(), mixed_talk(number)
            client.say(session_id, next(messages))
            if number - _WARM_TURNS <= memory_turn_count:
                grown_mb, measured_turns = server.resident_mb - resident_mb, number - warm_at if resident_mb else 0
        kilobytes = (database_file_bytes(own) - began_bytes) / turn_count / 1_000
    return [
        Row(
            name=f"growth of the database a turn, kB, {turn_count:,} turns of mixed talk",
            measured=kilobytes,
            must=15,
            aim=8,
        ),
        Row(name=f"growth of the process, MB, {measured_turns:,} turns of mixed talk", measured=grown_mb, must=40),
    ]


def database_file_bytes(own: Database) -> int:
    """Return the size of the database with its write-ahead log."""
    if own.product == "SQLite":
        with sqlite3.connect(own.directory / "db.sqlite3") as connection:
            sizes = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            pages, page_bytes = sizes
            return int(pages) * int(page_bytes)
    import psycopg

    with psycopg.connect(own.url) as connected:
        return int(connected.execute("SELECT pg_database_size(current_database())").fetchone()[0])  # type: ignore[index]

"""`python -m bench.growth [--turns N]`: what a turn stores in each table, and how many SQL statements it sends.

It runs in one process on a new SQLite file, with the messages of `mixed_talk`.
"""

import argparse
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.table.growth import SESSION_TURNS, mixed_talk

_WARM_TURNS = 30
_LISTED = 14


@contextmanager
def counted_statements(counted: list[str]) -> Iterator[None]:
    """Collect the statements of every thread. One statement for many rows counts as one."""
    from django.db.backends.utils import CursorWrapper

    one, many = CursorWrapper.execute, CursorWrapper.executemany

    def execute(self: Any, sql: str, params: Any = None) -> Any:
        counted.append(str(sql))
        return one(self, sql, params)

    def executemany(self: Any, sql: str, params: Any) -> Any:
        counted.append(str(sql))
        return many(self, sql, params)

    with patch.object(CursorWrapper, "execute", execute), patch.object(CursorWrapper, "executemany", executemany):
        yield


def stored_bytes() -> Counter[str]:
    """Return the bytes of the pages of each table and index of a SQLite database."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name")
        return Counter(dict(cursor.fetchall()))


def hold_talk(conversations: Iterable[Iterable[str]]) -> int:
    """Hold each conversation in a session of its own and return the number of turns."""
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.pipeline import run_turn

    project = ensure_default_project()
    turn_count = 0
    for messages in conversations:
        session = create_session(project)
        for message in messages:
            run_turn(session, TurnCall(message=message))
            turn_count += 1
    return turn_count


def sessions_of_mixed_talk(turn_count: int) -> Iterator[Iterator[str]]:
    """Return this many messages, by session."""
    for seed, start in enumerate(range(0, turn_count, SESSION_TURNS)):
        yield islice(mixed_talk(seed), min(SESSION_TURNS, turn_count - start))


def statements_of_a_turn() -> dict[str, list[str]]:
    """Return the statements of whole requests, of a question and of a fact told, in a session that has had some
    turns.
    """
    from django.test import Client

    from sessions_app.actions.settings.api_keys import create_key
    from sessions_app.actions.settings.projects import ensure_default_project

    _, key = create_key(ensure_default_project(), "bench")
    client = Client(headers={"Authorization": f"Bearer {key}", "Host": "localhost"})
    session_id = client.post("/api/sessions", {}, content_type="application/json").json()["session_id"]
    talk = mixed_talk(1_000_003)
    counted: dict[str, list[str]] = {"told": [], "asked": []}
    for number in range(_WARM_TURNS + 2):
        body = {"session_id": session_id, "messages": [{"role": "user", "content": next(talk)}]}
        kind = {_WARM_TURNS: "told", _WARM_TURNS + 1: "asked"}.get(number, "")
        with counted_statements(counted.get(kind, [])):
            answer = client.post("/api/chat/completions", body, content_type="application/json")
        if answer.status_code != 200:
            raise SystemExit(answer.content.decode())
    return counted


@contextmanager
def in_new_database() -> Iterator[None]:
    """Run the product in this process on a temporary SQLite file."""
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "mrpvm.settings", "MRPVM_DATA_DIR": directory, "MRPVM_CHATS_PER_MINUTE": "0",
            "DATABASE_URL": f"sqlite:///{Path(directory, 'db.sqlite3')}",
        }  # fmt: skip
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        from sessions_app.plugin_threads import workers
        from sessions_app.turns.machine import install_plugins

        call_command("migrate", verbosity=0)
        install_plugins()
        try:
            yield
        finally:
            workers.close()
            connections.close_all()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="Measure what a turn stores.")
    parser.add_argument("--turns", type=int, default=450)
    parser.add_argument("--statements", action="store_true", help="print each statement of a turn")
    given = parser.parse_args()
    with in_new_database():
        from sessions_app.actions.settings.statistics_buffer import statistics_buffer

        empty = stored_bytes()
        began = time.process_time()
        turn_count = hold_talk(sessions_of_mixed_talk(given.turns))
        cpu_ms = (time.process_time() - began) * 1000 / turn_count
        statistics_buffer.flush()
        grown = stored_bytes()
        grown.subtract(empty)
        statements = statements_of_a_turn()
        statistics_buffer.flush()
    print(f"{'bytes stored a turn, over turns':42}{grown.total() / turn_count:>12,.0f}{turn_count:>9,}")
    for name, count in grown.most_common(_LISTED):
        print(f"  {name.removeprefix('sessions_app_'):40}{count / turn_count:>12,.0f}")
    print(f"{'CPU ms of a turn in process':42}{cpu_ms:>12.2f}")
    for kind, texts in statements.items():
        print(f"{f'SQL statements of a turn, {kind}':42}{sum(map(_is_counted, texts)):>12}")
        if given.statements:
            print("\n".join(f"  {re.sub(r'\s+', ' ', text)[:180]}" for text in texts))


def _is_counted(statement: str) -> bool:
    return not statement.startswith(("BEGIN", "SAVEPOINT", "RELEASE"))


if __name__ == "__main__":
    main()

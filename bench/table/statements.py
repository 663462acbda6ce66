"""How many SQL statements a plain turn sends, on all threads of the process.

What begins a transaction is not counted.
"""

import json
from collections.abc import Callable
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

from bench.conversation import conversation
from bench.databases import Database
from bench.pages.asking import set_up
from bench.servers import API_KEY
from bench.table.requests import STORY_TURNS
from bench.table.rows import Row

_WARM_TURNS = 6
_QUESTIONS = ("What", "Where", "How")


def statement_rows(own: Database) -> list[Row]:
    """Return the medians for questions and for told facts of a conversation, without the process's first turns."""
    spawning = get_context("spawn")  # Django is set up for one database a process
    here, there = spawning.Pipe()
    process = spawning.Process(target=_count, args=(own, there))
    process.start()
    there.close()
    counts: list[tuple[bool, int]] = here.recv()
    process.join()
    return [
        Row(
            name=f"SQL statements of a {kind}",
            measured=median(count for is_question, count in counts if is_question == asks),
            must=14,
            aim=10,
        )
        for kind, asks in (("question", True), ("fact that is told", False))
    ]


def _count(own: Database, pipe: Connection) -> None:
    set_up(own)
    from django.core.management import call_command
    from django.db import connections
    from django.db.backends.signals import connection_created
    from django.test import Client

    from sessions_app.management.bootstrap import bootstrap

    call_command("migrate", verbosity=0)
    bootstrap(API_KEY, demo=False, alone=True)
    connections.close_all()
    statements: list[str] = []

    def count(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if not sql.startswith("BEGIN"):
            statements.append(sql)
        return execute(sql, *rest)

    def attach(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(count)

    connection_created.connect(attach)
    client = Client(headers={"host": "127.0.0.1", "authorization": f"Bearer {API_KEY}"})
    session_id, counts = None, []
    for said in islice(conversation(seed=5), _WARM_TURNS + STORY_TURNS):
        body: dict[str, Any] = {"messages": [{"role": "user", "content": said.message}]}
        before = len(statements)
        answer = client.post(
            "/api/chat/completions", body | ({"session_id": session_id} if session_id else {}), "application/json"
        )
        session_id = json.loads(answer.content)["session_id"]
        counts.append((said.message.startswith(_QUESTIONS), len(statements) - before))
    pipe.send(counts[_WARM_TURNS:])

"""Requests for pages: in this process, where queries are counted, or in a process for each list of sessions.

Two lists of different length lie in two databases and are requested alternately, so that other load on the machine
affects both equally.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import django

from bench.databases import Database

type Cost = tuple[float, int]
"""The ms that a page took, and its queries."""


def set_up(own: Database) -> None:
    """Set Django up in this process on the database."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": own.url}
    os.environ |= {"MRPVM_DATA_DIR": str(own.directory)}
    django.setup()


def member() -> Any:
    """Return a client in which an admin of the default project is logged in."""
    from django.test import Client

    from sessions_app.actions.settings.projects import ensure_default_project, ensure_first_admin

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(ensure_first_admin(ensure_default_project()))
    return client


def page_cost(client: Any, address: str, query: Mapping[str, Any]) -> Cost:
    """Request a page once."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        began = time.perf_counter()
        response = client.get(address, query)
        took_ms = (time.perf_counter() - began) * 1000
    assert response.status_code == 200
    return took_ms, len(queries)


@contextmanager
def list_of(database: Database, session_count: int) -> Iterator[Callable[[str], Cost]]:
    """Store sessions in a new process. Yield a function that requests a page there by its name in `LIST_PAGES`."""
    spawning = get_context("spawn")
    here, there = spawning.Pipe()
    process = spawning.Process(target=_keep, args=(database, session_count, there))
    process.start()
    there.close()  # so that recv fails if the process dies

    def ask(name: str) -> Cost:
        here.send(name)
        cost: Cost = here.recv()
        return cost

    try:
        here.recv()
        yield ask
    finally:
        here.send("")
        process.join()


LIST_PAGES = (
    "its beginning", "from its middle", "failed ones", "running, of none", "by a word", "a search", "a search of none",
)  # fmt: skip


def _keep(database: Database, session_count: int, pipe: Connection) -> None:
    set_up(database)
    from django.core.management import call_command
    from django.urls import reverse

    from bench.pages.storing import store_sessions
    from sessions_app.actions.settings.projects import ensure_default_project

    call_command("migrate", verbosity=0)
    store_sessions(ensure_default_project(), session_count)
    client, queries = member(), _list_queries(session_count)
    pipe.send("stored")
    while name := pipe.recv():
        page, query = queries[name]
        pipe.send(page_cost(client, reverse(page), query))


def _list_queries(count: int) -> dict[str, tuple[str, dict[str, str]]]:
    from sessions_app.models import Session

    middle = Session.objects.order_by("-last_activity_at", "-id")[count // 2]
    listed = "sessions-list"
    queries: tuple[tuple[str, dict[str, str]], ...] = (
        (listed, {}),
        (listed, {"after": f"{middle.last_activity_at.isoformat()}~{middle.pk}"}),
        (listed, {"status": "failed"}),
        (listed, {"status": "running"}),
        (listed, {"q": f"conversation {count // 2}"}),
        ("search", {"q": "colour status:failed"}),
        ("search", {"q": "nowhere plugin:kb-fast"}),
    )
    return dict(zip(LIST_PAGES, queries, strict=True))

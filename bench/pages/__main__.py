"""`python -m bench.pages`: stores long and many sessions, asks for their pages, lets many readers listen to one."""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import django

from bench.databases import Database, new_database
from bench.pages.sockets import Heard, listen
from bench.servers import MeasuredServer

TURNS, SESSIONS = (100, 5_000), (1_000, 100_000)
READERS, SPOKEN = 200, 20
REPEATS = 7
RATIO_MAX = 4
"""What a page of much may take at most, against the same page of little."""


def main() -> None:
    """Store, measure and print; the two sizes of a page are asked for by turns."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows: shows that it runs")
    share = 100 if parser.parse_args().quick else 1
    with (
        tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory,
        new_database(Path(directory, "pages")) as own,
        MeasuredServer(own) as server,
    ):
        _set_up(own)
        lines = [*_readers(server, READERS // share or 2), "", *_pages(share)]
    print("\n".join(lines))


def _set_up(own: Database) -> None:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": own.url}
    os.environ |= {"MRPVM_DATA_DIR": str(own.directory)}
    django.setup()


def _member() -> Any:
    """Give a client in which an admin of the default project is logged in."""
    from django.test import Client

    from sessions_app.actions.projects import ensure_default_project, ensure_first_admin

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(ensure_first_admin(ensure_default_project()))
    return client


def _readers(server: MeasuredServer, reader_count: int) -> Iterator[str]:
    from sessions_app.models import Session

    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in _member().cookies.items())
    with server.client() as client:
        session_id = client.new_session()
        since = Session.objects.get(session_id=session_id).event_sequence
        stored_at = 0.0

        def talk() -> int:
            nonlocal stored_at
            for number in range(SPOKEN):
                client.say(session_id, f"My dog number {number} is called Rex.")
            stored_at = time.monotonic()
            return int(Session.objects.get(session_id=session_id).event_sequence)

        heard = listen(f"127.0.0.1:{server.port}", session_id, cookie, since=since, reader_count=reader_count, act=talk)
    last = Session.objects.get(session_id=session_id).event_sequence
    yield from _heard_lines(heard, list(range(since + 1, last + 1)), stored_at)


def _heard_lines(heard: list[Heard], wanted: list[int], stored_at: float) -> Iterator[str]:
    lost = sum(len(set(wanted) - set(one.numbers)) for one in heard)
    doubled = sum(len(one.numbers) - len(set(one.numbers)) for one in heard)
    ordered = sum(one.numbers == sorted(one.numbers) for one in heard)
    late_ms = sorted(max(0.0, one.last_at - stored_at) * 1000 for one in heard)
    yield f"{len(heard)} readers of one session, {SPOKEN} turns, {len(wanted)} events each"
    yield ""
    yield f"events lost{lost:12}   none wanted: {'met' if not lost else 'not met'}"
    yield f"events doubled{doubled:9}   none wanted: {'met' if not doubled else 'not met'}"
    yield f"readers in order{ordered:7}   all wanted: {'met' if ordered == len(heard) else 'not met'}"
    yield f"last event after the last answer, ms: median {median(late_ms):.0f}, slowest reader {late_ms[-1]:.0f}"


def _pages(share: int) -> Iterator[str]:
    from django.urls import reverse

    from bench.pages.storing import store_long_session, store_sessions
    from sessions_app.actions.projects import ensure_default_project

    project, client = ensure_default_project(), _member()
    little, much = (max(30, count // share) for count in TURNS)
    sessions = {count: store_long_session(project, count) for count in (little, much)}

    def of_session(name: str, query: Callable[[int], Mapping[str, Any]]) -> dict[int, tuple[str, Mapping[str, Any]]]:
        return {count: (reverse(name, args=[made.session_id]), query(count)) for count, made in sessions.items()}

    yield f"a session of {little:,} and of {much:,} turns"
    yield ""
    yield from _rows(client, "its page", of_session("session", lambda count: {}))
    yield from _rows(client, "from its middle", of_session("session-messages", lambda count: {"before": count // 2}))
    yield from _rows(client, "its registry", of_session("session-state", lambda count: {"turns_before": count // 2}))
    yield from _rows(client, "failed turns", of_session("session-state", lambda count: {"find": "status:failed"}))
    few, many = (max(60, count // share) for count in SESSIONS)
    lists: dict[str, dict[int, tuple[float, int]]] = {}
    stored = 0
    for count in (few, many):
        store_sessions(project, count - stored)
        stored = count
        for name, (page, query) in _list_queries(count).items():
            lists.setdefault(name, {})[count] = _asked(client, reverse(page), query)
    yield ""
    yield f"a list of {few:,} and of {many:,} sessions"
    yield ""
    for name, costs in lists.items():
        yield _line(name, *costs.values())


def _list_queries(count: int) -> dict[str, tuple[str, dict[str, str]]]:
    from sessions_app.models import Session

    middle = Session.objects.order_by("-last_activity_at", "-id")[count // 2]
    listed = "sessions-list"
    return {
        "its beginning": (listed, {}),
        "from its middle": (listed, {"after": f"{middle.last_activity_at.isoformat()}~{middle.pk}"}),
        "failed ones": (listed, {"status": "failed"}),
        "running, of none": (listed, {"status": "running"}),
        "by a word": (listed, {"q": f"conversation {count // 2}"}),
        "a search": ("search", {"q": "colour status:failed"}),
        "a search of none": ("search", {"q": "nowhere plugin:kb-fast"}),
    }


def _rows(client: Any, name: str, asked: Mapping[int, tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    costs = {count: _asked(client, *address) for count, address in asked.items()}
    yield _line(name, *costs.values())


def _asked(client: Any, address: str, query: Mapping[str, Any]) -> tuple[float, int]:
    """Give the median of ms for a page, and its queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query).status_code == 200
    query_count, times = len(queries), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        client.get(address, query)
        times.append((time.perf_counter() - began) * 1000)
    return median(times), query_count


def _line(name: str, little: tuple[float, int], much: tuple[float, int]) -> str:
    ratio = much[0] / little[0]
    verdict = f"at most {RATIO_MAX}: {'met' if ratio <= RATIO_MAX else 'not met'}"
    counts = f"{little[1]} and {much[1]} queries"
    return f"{name:<18}{little[0]:8.1f} ms{much[0]:9.1f} ms   ratio {ratio:5.2f}   {verdict}   {counts}"


if __name__ == "__main__":
    main()

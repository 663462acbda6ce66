"""`python -m bench.pages`: store long and many sessions, request their pages, let many readers follow one."""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.databases import new_database
from bench.pages.asking import LIST_PAGES, Cost, list_of, member, page_cost, set_up
from bench.pages.sockets import Heard, listen
from bench.servers import MeasuredServer

TURNS, SESSIONS = (100, 5_000), (1_000, 100_000)
READERS, SPOKEN = 200, 20
REPEATS = 7
RATIO_MAX = 4
"""What a page of much may take at most, against the same page of little."""


def main() -> None:
    """Store, measure and print. The two sizes of a page are requested alternately."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows: shows that it runs")
    share = 100 if parser.parse_args().quick else 1
    with (
        tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory,
        new_database(Path(directory, "pages")) as own,
        MeasuredServer(own) as server,
    ):
        set_up(own)
        lines = [*_readers(server, READERS // share or 2), "", *_pages(share, Path(directory))]
    print("\n".join(lines))


def _readers(server: MeasuredServer, reader_count: int) -> Iterator[str]:
    from sessions_app.models import Session

    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in member().cookies.items())
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


def _pages(share: int, directory: Path) -> Iterator[str]:
    from django.urls import reverse

    from bench.pages.storing import store_long_session
    from sessions_app.actions.settings.projects import ensure_default_project

    project, client = ensure_default_project(), member()
    little, much = (max(30, count // share) for count in TURNS)
    sessions = {count: store_long_session(project, count) for count in (little, much)}

    def of_session(name: str, page: str, query: Callable[[int], Mapping[str, Any]]) -> str:
        addresses = {count: reverse(page, args=[made.session_id]) for count, made in sessions.items()}
        return _line(name, *(partial(page_cost, client, address, query(count)) for count, address in addresses.items()))

    yield f"a session of {little:,} and of {much:,} turns"
    yield ""
    yield of_session("its page", "session", lambda count: {})
    yield of_session("from its middle", "session-messages", lambda count: {"before": count // 2})
    yield of_session("its registry", "session-state", lambda count: {"turns_before": count // 2})
    yield of_session("failed turns", "session-state", lambda count: {"find": "status:failed"})
    few, many = (max(60, count // share) for count in SESSIONS)
    yield ""
    yield f"a list of {few:,} and of {many:,} sessions"
    yield ""
    with (
        new_database(directory / "few") as first,
        new_database(directory / "many") as second,
        list_of(first, few) as ask_few,
        list_of(second, many) as ask_many,
    ):
        for name in LIST_PAGES:
            yield _line(name, partial(ask_few, name), partial(ask_many, name))


def _line(name: str, little: Callable[[], Cost], much: Callable[[], Cost]) -> str:
    """Request both pages alternately, once without counting, and return a line of the medians."""
    little(), much()
    rounds = [(little(), much()) for _ in range(REPEATS)]
    few_ms, many_ms = (median(costs[side][0] for costs in rounds) for side in (0, 1))
    ratio = many_ms / few_ms
    verdict = f"at most {RATIO_MAX}: {'met' if ratio <= RATIO_MAX else 'not met'}"
    counts = f"{rounds[-1][0][1]} and {rounds[-1][1][1]} queries"
    return f"{name:<18}{few_ms:8.1f} ms{many_ms:9.1f} ms   ratio {ratio:5.2f}   {verdict}   {counts}"


if __name__ == "__main__":
    main()

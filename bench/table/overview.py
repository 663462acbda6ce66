"""What very many turns cost: counting them, their overview page, their export."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from typing import cast

from bench.copied_rows import analyze, copy_rows
from bench.databases import Database
from bench.pages.asking import member, set_up
from bench.servers import resident_mb
from bench.table.rows import Row

DAYS = 30
BASES = MODELS = 2
KEYS = 3
FEW_TURNS_SHARE = 100
"""The overview is compared with that of so many times fewer turns, which fill as many hours."""
FILED_TURNS = 100_000
"""So many of a file of turns are read."""
_REQUESTS = 12


def overview_rows(own: Database, turn_count: int) -> list[Row]:
    """Store this many turns of the last 30 days in bulk, count them, and return what the page costs.

    The turns alternate between two bases, two models and three keys.
    """
    spawning = get_context("spawn")  # Django is set up for one database a process
    here, there = spawning.Pipe()
    process = spawning.Process(target=_measure, args=(own, turn_count, there))
    process.start()
    there.close()
    figures: Mapping[str, float] = here.recv()
    process.join()
    few = turn_count // FEW_TURNS_SHARE
    return [
        Row(
            name=f"growth of the process, MB, a file of {figures['filed']:,.0f} turns",
            measured=figures["file_mb"],
            must=40,
        ),
        Row(name=f"turns counted in a second, of {turn_count:,}", measured=figures["rate"]),
        Row(name=f"the overview of 7 days over {turn_count:,} turns, CPU ms", measured=figures["week"]),
        Row(name="  / over " + f"{few:,}", measured=figures["week"] / figures["week_few"], must=1.5),
        Row(name=f"the overview of 30 days over {turn_count:,} turns, CPU ms", measured=figures["month"]),
        Row(name="  / over " + f"{few:,}", measured=figures["month"] / figures["month_few"], must=1.5),
    ]


def _measure(own: Database, turn_count: int, pipe: Connection) -> None:
    set_up(own)
    from django.core.management import call_command
    from django.db import connections

    from sessions_app.actions.turns.counting import count_ended_turns
    from sessions_app.models import CountedTurns

    call_command("migrate", verbosity=0)
    client = member()

    def page_ms(span: str) -> float:
        times = []
        for _ in range(_REQUESTS):
            began = time.process_time()
            answer = client.get("/overview", {"span": span})
            assert answer.status_code == 200
            times.append((time.process_time() - began) * 1000)
        return median(times[2:])

    def count_all() -> float:
        began = time.perf_counter()
        while count_ended_turns(lambda: None) or CountedTurns.objects.get().waiting_hours:
            pass
        return time.perf_counter() - began

    few = turn_count // FEW_TURNS_SHARE
    _store(0, few)
    count_all()
    figures = {"week_few": page_ms("7d"), "month_few": page_ms("30d")}
    _store(few, turn_count)
    analyze()
    figures |= _file_growth()
    figures["rate"] = turn_count / count_all()
    figures |= {"week": page_ms("7d"), "month": page_ms("30d")}
    connections.close_all()
    pipe.send(figures)


def _file_growth() -> dict[str, float]:
    """Return how many turns the export of all turns gave, and by how many MB the process grew meanwhile."""
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.interchange.turn_files import turns_response
    from sessions_app.queries.search.filter_language import parse

    response = turns_response(ensure_default_project(), parse(""), "jsonl")

    async def read() -> tuple[int, float]:
        turns, most_mb = 0, 0.0
        async for piece in cast(AsyncIterator[bytes], response.streaming_content):
            turns += piece.count(b"\n")
            most_mb = max(most_mb, resident_mb(os.getpid()))
            if turns >= FILED_TURNS:
                break
        return turns, most_mb

    began_mb = resident_mb(os.getpid())
    turns, most_mb = asyncio.run(read())
    return {"filed": turns, "file_mb": most_mb - began_mb}


def _store(first: int, end: int) -> None:
    """Store the turns with the numbers from `first` to `end`, each a copy of a real turn."""
    from django.db import connection
    from django.utils import timezone

    from sessions_app.actions.knowledge.bases import create_base
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.models import ExplainabilityTurn

    project = ensure_default_project()
    if not first:
        for number in range(BASES):
            session = create_session(project, base=create_base(project, f"base {number}"))
            ExplainabilityTurn.objects.create(
                session=session, turn_index=1, status="succeeded", outcome="answered", user_message="What is it?",
                duration_ms=20, created_at=timezone.now(), finished_at=timezone.now(),
                model_usage=[["large", 500, 80]], token_count=580,
            )  # fmt: skip
    originals = list(ExplainabilityTurn.objects.order_by("pk")[:BASES])
    minutes = f"(n.i * 7919) % {DAYS * 24 * 60 - 120}"  # spreads any number of turns over the days
    ago = (
        f"datetime('now', '-' || ({minutes}) || ' minutes') || '.000000'"
        if connection.vendor == "sqlite"
        else f"now() - make_interval(mins => ({minutes})::int)"
    )
    for place, original in enumerate(originals):
        number = f"({first} + n.i * {BASES} + {place})"
        changed = {
            "id": f"1000 + {number}",
            "request_id": f"'r-' || {number}",
            "turn_index": f"2 + {first} + n.i",
            "created_at": ago,
            "duration_ms": "10 + (n.i * 31) % 900",
            "model": f"'model-' || (n.i % {MODELS})",
            "asked_by": f"'key ' || (n.i % {KEYS})",
        }
        copy_rows(ExplainabilityTurn, f"id = {original.pk}", (end - first) // BASES, changed)

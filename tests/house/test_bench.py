"""The bench runs and prints all of its figures; no time is asserted."""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

import pytest
from django.apps import apps
from hypothesis import given
from hypothesis import strategies as st

from bench.conversation import conversation
from bench.digest import WAYS
from bench.floor.rows import RecordedConversation
from bench.policies import VARIANTS
from bench.rewriting.report import GATES, REWRITERS
from bench.table.rows import NAME_CHARS as TABLE_NAME_CHARS
from bench.table.rows import Row
from bench.turn_page.turns import large_turn, stored_batches
from mrpvm.trace.events import event_of
from mrpvm.trace.graph import fold_graph
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.server import ROOT

FIGURES = ("JSON turn", "floor: the same rows", "turn 10 of a session", "turn 20 of a session")
STORED = ("  bytes of values", "rows of a turn")
MACHINE = (
    "  CPU ms of a question",
    "  as a multiple of level 0",
    "  calls of plugins",
    "CPU ms of a question, 12 units, level 0",
    "statements admitted a second",
)
INGEST = (
    "turn with nothing beside it",
    "turn beside the ingest of a source",
    "beside ingest / alone, latency p95",
    "beside ingest / alone, latency p50",
    "units taken in a second",
)
POLICIES = (
    "  summary and 8 messages",
    "  the last 20 messages",
    "  everything that was said",
    *(f"  {name}" for name in VARIANTS),
    *(f"  {way.name}" for way in (*GATES, *REWRITERS)),
    *(f"  {name}" for name in WAYS),
)
BASES = (
    "turn on a base of 2",
    "turn on a base of 6",
    "large base / small base, latency",
    "large base / small base, CPU",
)
QUALITY = ("  R@10", "  MRR", "  macro nDCG@10", "  nDCG@3")
RATIOS = (
    "turn / floor, CPU",
    "turn 20 / turn 10, latency",
    "turn 20 / turn 10, CPU",
    "bytes stored a turn, last tenth / fifth",
    "bytes stored a turn, last tenth / first",
)
TABLE = (
    "a bare view, CPU ms",
    "GET /health",
    "GET /api/sessions/:id, 12 units",
    "POST /api/sessions",
    "session page, first answer",
    "turn page, first answer",
    "a turn, JSON, one client",
    "a streamed turn / a JSON turn",
    "a turn with 8 clients / with one",
    "a turn with 32 clients / with one",
    "the machine alone, 12 units, level 0, ms",
    "SQL statements of a question",
    "SQL statements of a fact that is told",
    "growth of the database a turn, kB",
    "growth of the process, MB",
    "a turn that is sent as a trace / one that is not",
    "spans of other applications taken in a CPU second",
    "growth of the process, MB, a file of 2,00",
    "turns counted in a second",
    "the overview of 7 days over 2,000 turns, CPU ms",
    "the overview of 30 days over 2,000 turns, CPU ms",
    "a message of 400 numbered questions, CPU s",
    "a turn / its floor",
)


@pytest.mark.rule("DECISION-38")
@pytest.mark.bench
def test_a_quick_run_prints_every_row() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for name in (*FIGURES, *STORED, *MACHINE, *INGEST, *POLICIES, *BASES, *RATIOS, *QUALITY):
        assert name in POLICIES or all(number > 0 for number in numbers_of(lines, name, 42))
    # In a quick run of two turns, SQLite may use only pages that it has freed.
    assert len(numbers_of(lines, "  bytes of the database", 42)) == 3
    for name in TABLE:
        assert numbers_of(lines, name, TABLE_NAME_CHARS)
    verdicts = [line for line in lines if re.search(r"at (?:most|least) [\d.,]+.*: (not )?met$", line)]
    assert len(verdicts) == 8
    assert any(re.search(r"^questions answered rightly +\d+ of \d+$", line) for line in lines)


def numbers_of(lines: list[str], name: str, name_chars: int) -> list[float]:
    row = next((line for line in lines if line.startswith(name)), "")
    numbers = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", row[name_chars:])]
    assert numbers, "\n".join([f"no row '{name}' in:", *lines])
    return numbers


@pytest.mark.parametrize(
    ("measured", "verdict"), [(2.0, "not met"), (1.3, "met"), (1.1, "met, and the aim"), (0.5, "met, and the aim")]
)
def test_a_row_is_judged_by_what_it_must_and_should(measured: float, verdict: str) -> None:
    assert Row(name="health", measured=measured, must=1.3, aim=1.1).verdict == verdict


def test_a_row_that_must_reach_something_is_not_met_below() -> None:
    assert [Row(name="rate", measured=rate, must=1.8, is_least=True).verdict for rate in (1.7, 1.9)] == [
        "not met",
        "met",
    ]


def row_counts() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in apps.get_app_config("sessions_app").get_models()}


def added_by_each(steps: Iterator[object]) -> Iterator[dict[str, int]]:
    """Return the number of rows in each table that each step added."""
    before = row_counts()
    for _ in steps:
        after = row_counts()
        yield {name: count - before[name] for name, count in after.items()}
        before = after


@pytest.mark.django_db(transaction=True)
def test_the_floor_writes_as_many_rows_as_the_turns_did() -> None:
    session = create_session(ensure_default_project())
    messages = [said.message for said in islice(conversation(seed=3), 6)]
    turns = list(added_by_each(run_turn(session, TurnCall(message=message)) for message in messages))
    recorded = RecordedConversation.newest()
    # The first turn also has the event of the chosen plugins.
    turns[0]["SessionEvent"] -= 1
    # A plugin's statistics are one row of the project, inserted by its first run and updated later. Conditions that
    # turns share are stored by the first turn.
    for added in turns:
        added["PluginStatistics"] = added["TurnConditions"] = 0
    # So is the session's memory.
    turns[0]["SessionMemory"] = 0
    assert list(added_by_each(recorded.write_next_turn() for _ in messages)) == turns
    assert [turn.row_count for turn in recorded.turns] == [sum(added.values()) for added in turns]


def test_a_conversation_asks_only_for_what_it_told() -> None:
    told = ""
    for said in conversation(seed=4):
        told += said.message
        assert said.expected is None or said.expected in told
    assert list(conversation(seed=4)) == list(conversation(seed=4))


@given(st.integers(1, 400), st.integers(0, 5))
def test_a_generated_turn_is_as_large_as_asked_and_well_formed(execution_count: int, seed: int) -> None:
    records = large_turn(execution_count, seed)
    assert records == large_turn(execution_count, seed)
    assert [record for _, batch in stored_batches(records, 7) for record in batch] == records
    graph = fold_graph(map(event_of, records))
    assert len(graph.plugin_executions) == execution_count
    nodes = {node.id for node in (*graph.frames, *graph.plugin_executions)}
    assert all({edge.source, edge.target} <= nodes for edge in graph.edges)
    held = [edge.target for edge in graph.edges if edge.kind == "contains"]
    assert sorted(held) == sorted(nodes - {"frame-0"}), "everything has one place in the tree"
    assert all(frame.duration_ms is not None for frame in graph.frames)

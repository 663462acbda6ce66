"""Invariants of the graph of any turn; its records are reproducible."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.contracts import Solution
from tests.kernel.scripted import (
    ACCEPT,
    REJECT,
    Ran,
    detection,
    graph_of,
    plan,
    plugin,
    retrieval,
    run,
    solution,
    trace_of,
)

REPLIES = {
    "answer": solution("Because."),
    "no-context": solution(None),
    "error": RuntimeError("boom"),
    "split": Solution(status="needs-decomposition"),
}
VERDICTS = {"accept": ACCEPT, "reject": REJECT}
TURNS = st.fixed_dictionaries(
    {
        "questions": st.integers(1, 4),
        "goals": st.integers(0, 2),
        "views": st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=3),
        "solvers": st.lists(st.sampled_from(sorted(REPLIES)), min_size=1, max_size=3),
        "verdict": st.sampled_from(sorted(VERDICTS)),
        "planners": st.integers(1, 2),
        "level": st.integers(0, 3),
    }
)


def play(turn, *, is_quick=False) -> Ran:
    """Run a turn; its plugins are called on threads of their own, or if quick one after the other on this one."""
    scripted = partial(plugin, is_quick=is_quick)
    kbs = [f"kb-{place}" for place in range(len(turn["views"]))]
    solvers = [f"gs-{place}" for place in range(len(turn["solvers"]))]
    return run(
        scripted(
            "sd-plugin",
            "sd-a",
            detection(
                *[f"question {place}" for place in range(turn["questions"])],
                goals=[f"goal {place}" for place in range(turn["goals"])],
            ),
            detection("part one", "part two"),
        ),
        *(scripted("mrp-plan-plugin", f"planner-{place}", plan(kbs, solvers)) for place in range(turn["planners"])),
        *(
            scripted(
                "kb-plugin", name, retrieval(*[f"{name} {place}" for place in range(count)], sufficient=sufficient)
            )
            for name, (sufficient, count) in zip(kbs, turn["views"], strict=True)
        ),
        *(scripted("gs-plugin", name, REPLIES[kind]) for name, kind in zip(solvers, turn["solvers"], strict=True)),
        scripted("val-plugin", "val-a", VERDICTS[turn["verdict"]]),
        level=turn["level"],
    )


@pytest.mark.rule("DECISION-23", "GRAPH-5", "GRAPH-11", "GRAPH-14", "EVAL-5")
@settings(max_examples=60)
@given(TURNS)
def test_the_graph_is_a_whole_dag(turn):
    graph = graph_of(play(turn, is_quick=True).records)
    frames = {node["id"] for node in graph["frames"]}
    executions = {node["id"] for node in graph["pluginExecutions"]}
    control = {node["id"] for node in graph["controlNodes"]}
    ids = [node["id"] for key in ("frames", "pluginExecutions", "controlNodes") for node in graph[key]]
    assert len(ids) == len(set(ids))
    assert graph["rootFrameId"] == "frame-0"
    edges = graph["edges"] + graph["controlEdges"]
    assert {end for edge in edges for end in (edge["from"], edge["to"])} <= frames | executions | control
    assert_forest(graph, frames | executions)
    assert_acyclic(edges)
    assert_one_opener(graph)
    assert {node["status"] for node in graph["frames"]} <= {"succeeded", "failed"}
    assert all(node["durationMs"] is not None for node in graph["pluginExecutions"])
    assert "active" not in {node["status"] for node in graph["controlNodes"] if node["type"] == "branch"}


def assert_forest(graph, members):
    parents = {edge["to"]: edge["from"] for edge in graph["edges"] if edge["kind"] == "contains"}
    assert len(parents) == sum(edge["kind"] == "contains" for edge in graph["edges"])
    assert set(parents) == members - {graph["rootFrameId"]}


def assert_acyclic(edges):
    following: dict[str, set[str]] = {}
    for edge in edges:
        following.setdefault(edge["from"], set()).add(edge["to"])
    done: set[str] = set()

    def visit(node, path):
        assert node not in path, f"cycle through {node}"
        if node not in done:
            for other in following.get(node, ()):
                visit(other, path | {node})
            done.add(node)

    for node in following:
        visit(node, frozenset())


def assert_one_opener(graph):
    """Assert that each execution but the first of a frame has one opener, which parallel frames share (trap 1)."""
    openers: dict[str, int] = {}
    for edge in graph["edges"]:
        if edge["kind"] in ("flow", "retry", "child-frame"):
            openers[edge["to"]] = openers.get(edge["to"], 0) + 1
    assert all(count == 1 for count in openers.values())
    firsts = {}
    for node in graph["pluginExecutions"]:
        firsts.setdefault(node["frameId"], node["id"])
    assert {node["id"] for node in graph["pluginExecutions"]} - set(openers) == set(firsts.values())


@settings(max_examples=30)
@given(TURNS)
def test_a_parallel_run_gives_the_graph_of_any_other(turn):
    """Everything but the times is equal, whichever child ends first, and where they run one after the other."""
    first, second = (trace_of(play(turn, is_quick=quick).records) for quick in (True, False))
    assert without_times(first) == without_times(second)


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if not key.endswith(("Ms", "startedAt"))}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


@pytest.mark.rule("GRAPH-6")
@settings(max_examples=30)
@given(TURNS, st.integers(0, 400))
def test_a_fold_of_any_beginning_is_drawable(turn, length):
    """The graph of a running turn may have open nodes; both ends of every edge exist."""
    graph = graph_of(play(turn).records[:length])
    known = {node["id"] for key in ("frames", "pluginExecutions", "controlNodes") for node in graph[key]}
    for edge in graph["edges"] + graph["controlEdges"]:
        assert {edge["from"], edge["to"]} <= known or edge["to"].startswith(("exec-", "branch-"))

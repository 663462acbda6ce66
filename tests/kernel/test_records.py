"""The records of a turn: branches, results, candidates, closures, the trace and its graph."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.trace.events import FrameClosed
from tests.kernel.recorded_turns import SCRIPTED, at_level, fan_out
from tests.kernel.scripted import (
    ACCEPT,
    SystemClock,
    detection,
    graph_of,
    plan,
    plugin,
    retrieval,
    run,
    solution,
    trace_of,
)
from tests.kernel.test_deliberation import solver, state, turn
from tests.kernel.test_graph_invariants import TURNS, play

CLOSURES = {
    "policy_satisfied", "dominance_clear", "validation_fallback", "frontier_exhausted", "budget_exhausted",
    "parallel_intent_aggregation",
}  # fmt: skip
REASONS = {
    "error", "no-context", "needs-decomposition", "unsupported", "validation_rejected", "superseded", "timeout",
    "skipped-budget",
}  # fmt: skip


def policy_status(records):
    [node] = [node for node in graph_of(records)["controlNodes"] if node["type"] == "policy"]
    return node["status"]


# --- Branches, results, candidates ---------------------------------------------------------------------------


@pytest.mark.rule("KERNEL-13", "KERNEL-34")
def test_a_branch_says_what_it_is_made_of():
    ran = at_level(0)
    branch = trace_of(ran.records)["branches"][-1]
    assert branch.items() >= {
        "frameId": "frame-0", "intentRefs": [1], "seedIds": ["seed-0.1"], "pluginId": "gs-2", "kbPluginId": "kb-b",
        "plannerPluginId": "planner-a", "status": "succeeded", "outputPreview": "Because.",
    }.items()  # fmt: skip
    assert branch["resultId"] in {result["resultId"] for result in ran.named("result.recorded")}
    assert branch["validationId"] in {data["executionId"] for data in ran.named("plugin.started")}
    assert len(branch["evidenceProfileHash"]) == 64
    assert branch["familySignature"] == "explain::direct::explain::symbolic::Description::source_grounded"


@pytest.mark.rule("KERNEL-38", "KERNEL-39")
def test_a_candidate_says_what_it_is_compared_by():
    [promoted] = at_level(0).named("candidate.promoted")
    assert promoted.items() >= {
        "branchId": promoted["branchIds"][0], "label": "Because.", "validationStatus": "accepted", "strength": "strong",
    }.items()  # fmt: skip
    assert promoted["criteria"] == {"validation_strength": 2, "robustness": 2, "cost": 0, "diversity": 1}


@pytest.mark.rule("KERNEL-25", "KERNEL-35")
def test_a_result_below_the_floor_keeps_its_records():
    """This is so where another result reaches the floor; further ones that reach it are suspended."""
    judge = plugin("val-plugin", "val-a", RuntimeError("boom"), ACCEPT)
    ran = turn(3, solver("gs-a", solution("First.")), solver("gs-b", solution("Second."), llm_calls=1), judge)
    assert ran.outcome.answer_text == "Second."
    assert [failure["reason"] for failure in ran.named("branch.failed")] == ["superseded"]
    assert ran.named("candidate.selected")[0]["suspendedBranchIds"] == []
    assert len(ran.named("result.recorded")) == 2


@pytest.mark.rule("KERNEL-27")
def test_a_solver_that_does_not_come_back_failed_for_time():
    release = threading.Event()
    hanging = plugin("gs-plugin", "gs-a", lambda request, context: release.wait(20), timeout_ms=30)
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")), plugin("kb-plugin", "kb-a", retrieval("fact")), hanging,
        plugin("gs-plugin", "gs-b", solution("Because.")),
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b"))), clock=SystemClock(),
    )  # fmt: skip
    release.set()
    assert [failure["reason"] for failure in ran.named("branch.failed")] == ["timeout"]


@pytest.mark.rule("LANG-29", "KERNEL-2", "KERNEL-26", "KERNEL-27", "KERNEL-49")
@settings(max_examples=40)
@given(TURNS)
def test_frames_close_once_truthfully_and_leave_nothing_open(ran_turn):
    ran = play(ran_turn)
    closings = [event for event in ran.events if isinstance(event.data, FrameClosed)]
    opened = [data["frameId"] for data in ran.named("frame.opened")]
    assert sorted(event.data.frame_id for event in closings) == sorted(opened)
    for event in closings:
        reason = event.data.closure_reason
        assert reason in CLOSURES
        if reason in ("frontier_exhausted", "budget_exhausted"):
            assert event.detail["meta"].open_questions
    suspended = {branch for data in ran.named("candidate.selected") for branch in data["suspendedBranchIds"]}
    for branch in trace_of(ran.records)["branches"]:
        assert branch["status"] in ("succeeded", "failed")
        assert branch["branchId"] not in suspended or branch["status"] == "succeeded"
    assert {data["reason"] for data in ran.named("branch.failed")} <= REASONS
    for result in ran.named("result.recorded"):
        assert (result["kind"] == "no-context") is (result["validationStatus"] == "no-context")


# --- Frames --------------------------------------------------------------------------------------------------


@pytest.mark.rule("KERNEL-1", "KERNEL-44")
def test_a_closed_frame_records_depth_rest_and_comparisons():
    meta = state(at_level(3))
    assert meta.items() >= {"closureReason": "frontier_exhausted", "depth": 0, "maxDepth": 3}.items()
    assert meta["budgets"] == {"remainingLLMCalls": 5, "remainingTimeMs": 60_000}
    assert meta["openComparisons"] == meta["resolvedDifferences"] == meta["challenges"] == []
    assert meta["branchFamilies"] == ["explain::direct::explain::symbolic::Description::source_grounded"]
    assert meta["frontierSize"] == 1
    assert meta["openQuestions"]


@pytest.mark.rule("KERNEL-48")
def test_a_policy_shows_how_far_deliberation_is():
    equals = turn(2, solver("gs-a", solution("First.")), solver("gs-b", solution("Second."), llm_calls=1))
    assert statuses_on_the_way(equals) == ["default", "candidate_found", "comparative_open", "settled"]
    assert statuses_on_the_way(at_level(0)) == ["default", "candidate_found", "settled"]


def statuses_on_the_way(ran):
    begun = next(place for place, event in enumerate(ran.events, start=1) if event.name == "policy.set")
    seen = [policy_status(ran.records[:length]) for length in range(begun, len(ran.records))]
    return list(dict.fromkeys(seen))


# --- The trace -----------------------------------------------------------------------------------------------


@pytest.mark.rule("GRAPH-1")
def test_the_trace_has_the_parts_of_the_specification():
    trace = trace_of(at_level(2).records)
    assert trace.keys() >= {
        "requestId", "sessionId", "rootFrameId", "inputMessage", "deliberationLevel", "deliberationPolicy",
        "plannerPluginId", "plannerAttempts", "plannerCandidates", "seedDetectorCandidates", "plans", "stages",
        "frames", "branches", "results", "failures", "graph", "finalStatus", "finalAnswerStatus", "frameTransitions",
        "error",
    }  # fmt: skip
    assert (trace["finalStatus"], trace["finalAnswerStatus"], trace["error"]) == ("success", "answered", None)
    assert [item["phase"] for item in trace["plans"]][:2] == ["post-seed", "post-kb"]
    assert all(item["plan"]["notes"] == [] for item in trace["plans"])
    assert trace["deliberationPolicy"]["level"] == 2


@pytest.mark.rule("GRAPH-1")
def test_the_message_at_the_head_of_a_trace_is_cut():
    """The input of the root frame has the whole message."""
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")), plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("gs-plugin", "gs-a", solution("Because.")), message="x" * 501,
    )  # fmt: skip
    assert len(trace_of(ran.records)["inputMessage"]) == 500
    opened = next(event for event in ran.events if event.name == "frame.opened")
    assert len(opened.detail["input"]["message"]) == 501


@pytest.mark.rule("GRAPH-2")
def test_a_stage_says_who_ran_when_with_what():
    stages = trace_of(at_level(0).records)["stages"]
    keys = {
        "executionId", "stage", "frameId", "plannerPluginId", "pluginId", "kbPluginId", "status", "startedAt",
        "durationMs", "llmCalls", "sufficient", "error", "model", "modelRole", "inputSnippet", "outputSnippet",
    }  # fmt: skip
    assert all(stage.keys() >= keys for stage in stages)
    solving = [stage for stage in stages if stage["stage"] == "goal-solver"]
    assert {(stage["plannerPluginId"], stage["kbPluginId"]) for stage in solving} == {("planner-a", "kb-b")}
    assert {stage["startedAt"] for stage in stages} == {"2026-01-01T00:00:00+00:00"}
    assert all(len(stage[name]) <= 300 for stage in stages for name in ("inputSnippet", "outputSnippet"))


@pytest.mark.rule("GRAPH-3")
def test_results_and_failures_name_what_they_belong_to():
    trace = trace_of(at_level(0).records)
    assert trace["results"][-1].keys() >= {
        "resultId", "frameId", "branchId", "kind", "validationStatus", "supportIds",
    }  # fmt: skip
    assert trace["results"][-1]["supportIds"] == ["u:another", "u:fact"]
    assert trace["failures"][0].keys() >= {
        "failureId", "frameId", "branchId", "pluginId", "reason", "error", "evidenceProfileHash",
    }  # fmt: skip


@pytest.mark.rule("DECISION-23", "KERNEL-1", "GRAPH-8", "GRAPH-9", "GRAPH-10", "GRAPH-13")
def test_nodes_carry_what_is_drawn_and_nothing_else():
    graph = graph_of(fan_out(level=3).records)
    assert graph.keys() == {"rootFrameId", "frames", "pluginExecutions", "edges", "controlNodes", "controlEdges"}
    assert all(
        node.keys() >= {"id", "parentFrameId", "label", "purpose", "status", "durationMs", "detailRef"}
        for node in graph["frames"]
    )
    assert all(
        node.keys()
        >= {"id", "frameId", "pluginId", "pluginName", "pluginType", "stage", "status", "durationMs", "detailRef"}
        for node in graph["pluginExecutions"]
    )
    assert all(
        node.keys() == {"id", "type", "frameId", "label", "status", "detailRef"} for node in graph["controlNodes"]
    )
    nodes = (*graph["frames"], *graph["pluginExecutions"], *graph["controlNodes"])
    assert all(node["detailRef"] == node["id"] for node in nodes)


@pytest.mark.rule("GRAPH-12")
def test_control_nodes_and_edges_are_of_the_known_kinds():
    graphs = [graph_of(made().records) for made in SCRIPTED.values()]
    types = {node["type"] for graph in graphs for node in graph["controlNodes"]}
    kinds = {edge["kind"] for graph in graphs for edge in graph["controlEdges"]}
    assert types <= {"policy", "seed", "branch", "result", "failure", "candidate", "comparison", "challenge"}
    assert types >= {"policy", "seed", "branch", "result", "failure", "candidate"}
    assert kinds <= {
        "contains", "spawned_from", "uses", "needs", "produced", "failed_as", "derived_from", "compares", "challenges",
    }  # fmt: skip


@pytest.mark.rule("GRAPH-11")
@given(st.integers(0, 3))
@settings(max_examples=4)
def test_an_edge_is_of_a_known_kind(level):
    edges = graph_of(fan_out(level=level).records)["edges"]
    assert {edge["kind"] for edge in edges} <= {"contains", "flow", "retry", "child-frame"}
    opened = [edge for edge in edges if edge["kind"] == "child-frame"]
    assert {edge["from"] for edge in opened if edge["to"].count(".") == 1} == {"exec-0.1~1"}

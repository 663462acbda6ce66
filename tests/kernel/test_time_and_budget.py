"""Turns and plugins that take too long, are stopped, or cost too much."""

import threading

from mrpvm.errors import TurnCancelled
from mrpvm.testing import ScriptedModel
from mrpvm.trace.graph import fold_graph
from mrpvm.values import Limits
from tests.kernel.scripted import SystemClock, detection, plan, plugin, retrieval, run, solution
from tests.kernel.test_turn import detector, kb, solver, statuses


def test_a_plugin_that_hangs_is_left_behind():
    """[K-19]: its execution is an error, the next candidate takes over."""
    release = threading.Event()
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))
    hanging = solver(lambda request, context: release.wait(20), timeout_ms=50)
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), hanging, solver(solution("Yes."), plugin_id="gs-b"), planner,
        clock=SystemClock(),
    )  # fmt: skip
    release.set()
    assert ran.outcome.used.goal_solver == "gs-b"
    assert "PLUGIN_TIMEOUT" in [item["error"]["code"] for item in ran.named("plugin.finished") if item["error"]]


def test_the_turns_time_limit_ends_it_and_closes_every_node():
    """[T-33, G-4]"""
    release = threading.Event()
    stopped = []

    def hang(request, context):
        release.wait(20)
        stopped.append(context.stopped())

    ran = run(
        detector(detection("why")), kb(hang), solver(solution("x")),
        limits=Limits(request_timeout_ms=60), clock=SystemClock(),
    )  # fmt: skip
    release.set()
    assert ran.outcome.error["code"] in ("ENGINE_TIMEOUT", "PLUGIN_STAGE_EXHAUSTED")
    graph = fold_graph(ran.records)
    assert {frame["status"] for frame in graph["frames"]} == {"failed"}
    assert "running" not in statuses(ran).values()


def test_a_turn_can_be_stopped_while_a_plugin_works():
    """[O-19]"""
    release, working = threading.Event(), threading.Event()

    def hang(request, context):
        working.set()
        release.wait(20)

    def tick():
        if working.is_set():
            raise TurnCancelled("The turn was stopped.")

    ran = run(detector(detection("why")), kb(hang), solver(solution("x")), tick=tick, clock=SystemClock())
    release.set()
    assert ran.outcome.status == "cancelled"
    assert ran.named("turn.finished")[0]["status"] == "cancelled"


def test_a_plugin_over_budget_is_skipped():
    """[PL-25]"""
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))
    greedy = solver(solution("x"), max_llm_calls=6, uses_llm=True)
    ran = run(
        detector(detection("why")),
        kb(retrieval("fact")),
        greedy,
        solver(solution("Yes."), plugin_id="gs-b"),
        planner,
        model=ScriptedModel("never asked"),
    )
    assert greedy.asked == []
    assert "skipped-budget" in statuses(ran).values()
    assert ran.outcome.used.goal_solver == "gs-b"

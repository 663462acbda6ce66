"""Turns and plugins that exceed time limits, are stopped, or exceed a budget."""

import sys
import threading
import time
from typing import Never

import pytest

from mrpvm.contracts import PluginError
from mrpvm.errors import StorageUnavailable, TurnCancelled
from mrpvm.kernel.budget import Calls
from mrpvm.kernel.calls import CallReturn
from mrpvm.testing import ScriptedModel
from mrpvm.values import Limits
from tests.kernel.scripted import SystemClock, detection, graph_of, plan, plugin, retrieval, run, solution
from tests.kernel.test_turn import detector, kb, solver, statuses


@pytest.mark.rule("KERNEL-19")
def test_a_plugin_that_hangs_is_left_behind():
    """Its execution is an error, and the next candidate is tried."""
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


@pytest.mark.rule("KERNEL-23")
def test_a_solver_that_hung_is_not_asked_with_other_evidence():
    release = threading.Event()
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    hanging = solver(lambda request, context: release.wait(20), timeout_ms=50)
    others = kb(retrieval("another fact"), plugin_id="kb-b")
    ran = run(detector(detection("why")), kb(retrieval("fact")), others, hanging, planner, clock=SystemClock())
    release.set()
    assert len(hanging.asked) == 1
    assert ran.outcome.error["code"] == "PLUGIN_STAGE_EXHAUSTED"


@pytest.mark.rule("KERNEL-19")
def test_the_turns_time_limit_ends_it_and_closes_every_node():
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
    graph = graph_of(ran.records)
    assert {frame["status"] for frame in graph["frames"]} == {"failed"}
    assert "running" not in statuses(ran).values()


def test_a_turn_can_be_stopped_while_a_plugin_works():
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


@pytest.mark.rule("PLUGIN-25", "KERNEL-20", "GRAPH-10")
def test_a_plugin_over_budget_is_skipped():
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


def test_quick_plugins_run_on_the_turns_thread_others_do_not():
    threads = {}

    def seen(name, reply):
        def answer(request, context):
            threads[name] = threading.get_ident()
            return reply(request, context)

        return answer

    quick = kb(seen("quick", retrieval("fact")), is_quick=True)
    run(detector(detection("why")), quick, solver(seen("slow", solution("Yes."))))
    assert threads["quick"] == threading.get_ident()
    assert threads["slow"] != threading.get_ident()


@pytest.mark.rule("KERNEL-19")
@pytest.mark.parametrize("is_quick", [False, True])
def test_a_plugin_that_exits_is_an_error_of_the_plugin(is_quick: bool):
    def leave(*_: object) -> Never:
        sys.exit("enough")

    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(leave, is_quick=is_quick))
    [item] = ran.outcome.error["details"]["diagnostics"]
    assert item["code"] == "PLUGIN_EXCEPTION"


def test_a_quick_plugin_that_is_late_gives_way():
    """It is told to stop at its time limit, and its later result is ignored."""
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))

    def wait(request, context):
        while not context.stopped():
            time.sleep(0.005)
        return solution("Too late.")(request, context)

    ran = run(
        detector(detection("why")), kb(retrieval("fact")), solver(wait, timeout_ms=50, is_quick=True),
        solver(solution("Yes."), plugin_id="gs-b"), planner, clock=SystemClock(),
    )  # fmt: skip
    assert ran.outcome.used.goal_solver == "gs-b"
    assert "PLUGIN_TIMEOUT" in [item["error"]["code"] for item in ran.named("plugin.finished") if item["error"]]


def test_a_turn_of_quick_plugins_ends_at_its_time_limit():

    def wait(request, context):
        while not context.stopped():
            time.sleep(0.005)

    ran = run(
        detector(detection("why")), kb(wait, is_quick=True), solver(solution("x")),
        limits=Limits(request_timeout_ms=60), clock=SystemClock(),
    )  # fmt: skip
    assert ran.outcome.error["code"] == "ENGINE_TIMEOUT"
    assert "running" not in statuses(ran).values()


def test_a_turn_of_quick_plugins_can_be_stopped_between_calls():
    searched = []

    def tick():
        if searched:
            raise TurnCancelled("The turn was stopped.")

    def search(request, context):
        searched.append(request)
        return retrieval("fact")(request, context)

    asked = solver(solution("x"), is_quick=True)
    ran = run(detector(detection("why"), is_quick=True), kb(search, is_quick=True), asked, tick=tick)
    assert ran.outcome.status == "cancelled"
    assert asked.asked == []


def test_quick_frames_side_by_side_run_one_after_the_other():
    parts = [
        detector(detection("why", "how"), is_quick=True), kb(retrieval("fact"), is_quick=True),
        solver(solution("Yes."), is_quick=True), plugin("mrp-plan-plugin", "planner-a", plan(), is_quick=True),
    ]  # fmt: skip
    ran = run(*parts, is_validated=False)
    frames = [item["frameId"] for item in ran.named("plugin.started")][1:]
    assert frames == sorted(frames)
    assert len(set(frames)) == 2


@pytest.mark.parametrize("is_quick", [False, True])
def test_storage_that_is_gone_ends_the_turn_with_its_error(is_quick):
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    other = kb(retrieval("fact"), plugin_id="kb-b")
    gone = kb(StorageUnavailable("The database is gone."), is_quick=is_quick)
    ran = run(detector(detection("why")), gone, other, solver(solution("x")), planner)
    assert ran.outcome.error["message"] == "The database is gone."
    assert other.asked == []
    assert "running" not in statuses(ran).values()


def test_side_by_side_frames_share_all_calls_and_no_more() -> None:
    shares = Calls(5).shares(3)
    assert [share.remaining for share in shares] == [2, 2, 1]


def test_the_last_call_can_be_reserved_and_no_further_one() -> None:
    calls = Calls(2)
    assert calls.reserve(2)
    assert not calls.reserve(1)


def test_a_recorded_reply_gives_back_reserved_calls() -> None:
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))
    late = solver(solution("Late."), max_llm_calls=2)
    other = solver(solution("Yes."), plugin_id="gs-b", max_llm_calls=2)
    timeout = CallReturn(error=PluginError(code="PLUGIN_TIMEOUT", message="It did not answer in time."))
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), late, other, planner, limits=Limits(max_llm_calls=2),
        replies=lambda call: timeout if call.descriptor.id == late.descriptor.id else None,
    )  # fmt: skip
    assert (ran.outcome.status, ran.outcome.answer_text) == ("succeeded", "Yes.")

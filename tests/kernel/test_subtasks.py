"""Tasks that are split into subtasks: which plugins request it, the child frames' input, and the joined answer."""

import time
from copy import replace

import pytest

from mrpvm.contracts import CallMetadata, Detection, Solution
from mrpvm.values import Limits, Plan, Selection
from tests.kernel.scripted import ACCEPT, REJECT, detection, graph_of, plan, plugin, retrieval, run, solution

SPLIT = Solution(status="needs-decomposition")


def task(target, *goals):
    """Return a detection of one intent with subproblems."""
    return detection(target, goals=goals)


def planner(*replies):
    return plugin("mrp-plan-plugin", "planner-a", *replies)


def deciding(phase, purpose=None):
    """Return a planner's reply that decomposes in one phase of the root frame."""

    def reply(request, context):
        decompose = request.phase == phase and context.frame_depth == 0
        made = plan()(request, context)
        return replace(made, decompose=decompose, frame_purpose=purpose)

    return reply


def solver(by_target, **changes):
    """Return a solver with a reply for each task: a text, None, a solution, an exception or a function."""

    def reply(request, context):
        told = by_target.get(request.evidence[0].intent.target, "Somehow.")
        if callable(told):
            told = told()
        if isinstance(told, Exception):
            raise told
        return told if isinstance(told, Solution) else solution(told)(request, context)

    return plugin("gs-plugin", "gs-a", reply, **changes)


def turn(detected, solving, *others, **changes):
    detected = detected if isinstance(detected, (list, tuple)) else [detected]
    kb = plugin("kb-plugin", "kb-a", retrieval("fact"))
    return run(plugin("sd-plugin", "sd-a", *detected), kb, solving, *others, **changes)


def frames(ran):
    return {frame["id"]: frame for frame in graph_of(ran.records)["frames"]}


@pytest.mark.rule("LANG-22", "BUILTIN-40", "KERNEL-4", "KERNEL-6")
def test_decomposition_opens_a_child_frame_for_each_subproblem():
    """The answer group belongs to the root frame, whatever happens in the children."""
    ran = turn(task("all", "cost", "weight"), solver({"all": SPLIT, "cost": "Ten. [1]", "weight": "Two. [1]"}))
    assert [frames(ran)[child]["purpose"] for child in ("frame-0.1", "frame-0.2")] == ["subtask-decomposition"] * 2
    [group] = ran.outcome.answer.groups
    assert (group.intent_ref, group.intent, group.status) == (1, "all", "answered")
    assert group.answer_markdown == "**cost**\n\nTen. [1]\n\n**weight**\n\nTwo. [1]"
    assert group.cited_unit_ids == ("u:fact",)
    assert frames(ran)["frame-0"]["closureReason"] == "parallel_intent_aggregation"
    assert [failure["reason"] for failure in ran.named("branch.failed")] == ["needs-decomposition"]


def test_parts_come_back_in_their_order_whoever_is_first():

    def slow():
        time.sleep(0.02)
        return "Ten."

    ran = turn(task("all", "cost", "weight"), solver({"all": SPLIT, "cost": slow, "weight": "Two."}))
    assert ran.outcome.answer_text.index("Ten.") < ran.outcome.answer_text.index("Two.")


@pytest.mark.rule("KERNEL-2", "KERNEL-53")
def test_a_decomposing_plan_opens_children_before_solvers():
    """They have the purpose that the planner names."""
    solving = solver({"cost": "Ten."})
    ran = turn(task("all", "cost"), solving, planner(deciding("post-kb", "strategy-guidance")))
    assert [request.evidence[0].intent.target for request in solving.asked] == ["cost"]
    assert frames(ran)["frame-0.1"]["purpose"] == "strategy-guidance"
    assert ran.outcome.answer_text == "Ten."


@pytest.mark.rule("KERNEL-4", "KERNEL-21")
def test_decomposition_is_authorised_after_weak_results_only():
    told = {"all": None, "cost": "Ten."}
    ran = turn(task("all", "cost"), solver(told), planner(deciding("post-solve")))
    assert ran.outcome.answer_text == "Ten."
    [openings] = [event for event in ran.named("frame.opened") if event["frameId"] == "frame-0.1"]
    asked = [stage["executionId"] for stage in ran.named("plugin.started") if stage["stage"] == "planner"]
    assert openings["openedBy"] == asked[2]


def test_with_a_pinned_solver_the_planner_is_not_asked_to_split():
    told = {"all": None, "cost": "Ten."}
    pins = Selection(goal_solver="gs-a")
    ran = turn(task("all", "cost"), solver(told), planner(deciding("post-solve")), pins=pins)
    assert ran.outcome.answer_status == "no-context"


@pytest.mark.rule("DECISION-48", "KERNEL-5")
def test_a_detector_finds_parts_where_no_subproblem_is_given():
    """The units that it also finds are staged with the turn's, with ids of its frame."""
    detected = [detection("cost and weight", claims=["a"]), detection("cost", "weight", claims=["a", "b"])]
    told = {"cost and weight": SPLIT, "cost": "Ten.", "weight": "Two."}
    ran = turn(detected, solver(told))
    detecting = [stage for stage in ran.named("plugin.started") if stage["stage"] == "seed-detector"]
    assert [stage["inputSnippet"] for stage in detecting] == ["Why?", "cost and weight"]
    assert {frame["openedBy"] for frame in ran.named("frame.opened")[1:]} == {detecting[1]["executionId"]}
    assert [unit.claim for unit in ran.outcome.staged_units] == ["a", "b"]
    assert [unit.id for unit in ran.outcome.staged_units] == ["session::req-1::unit-000", "session::req-1::unit-002"]
    assert [len(event["unitIds"]) for event in ran.named("units.staged")] == [1, 1]


@pytest.mark.rule("KERNEL-8")
def test_a_task_that_splits_into_itself_is_solved_directly():
    solving = solver({"all": "Directly."})
    ran = turn([detection("all"), detection("All?")], solving, planner(deciding("post-kb")))
    assert list(frames(ran)) == ["frame-0"]
    assert ran.outcome.answer_text == "Directly."


def test_a_detector_that_finds_nothing_leaves_the_task_whole():
    detected = [detection("all"), Detection(status="unsupported")]
    ran = turn(detected, solver({"all": "Directly."}), planner(deciding("post-kb")))
    assert ran.outcome.answer_text == "Directly."


@pytest.mark.rule("KERNEL-12", "ANSWER-7")
def test_a_solver_that_cannot_be_helped_refused_honestly():
    """A split without a result does not fail the turn."""
    ran = turn([detection("all"), detection("all")], solver({"all": SPLIT}))
    assert (ran.outcome.status, ran.outcome.answer_status) == ("succeeded", "no-context")
    [result] = ran.named("result.recorded")
    assert (result["kind"], result["validationStatus"]) == ("no-context", "no-context")


@pytest.mark.rule("KERNEL-3")
def test_at_the_depth_limit_no_frame_opens_and_it_is_recorded():
    ran = turn(task("all", "cost"), solver({"all": SPLIT}), limits=Limits(max_frame_depth=0))
    assert list(frames(ran)) == ["frame-0"]
    assert "FRAME_DEPTH_EXCEEDED" in [step["reason"] for step in ran.named("backtrack.taken")]
    assert ran.outcome.answer_status == "no-context"


@pytest.mark.rule("KERNEL-3")
def test_nested_decomposition_stops_at_the_depth_limit():
    """Each level splits off a subtask; the frame at depth 3 goes on without."""
    detected = [detection("all parts")] + [detection(f"part {depth} a", f"part {depth} b") for depth in range(20)]
    splitting = plugin("gs-plugin", "gs-a", SPLIT)
    ran = turn(detected, splitting)
    assert max(frame["id"].count(".") for frame in frames(ran).values()) == 3
    assert ran.outcome.status == "succeeded"


def test_a_part_that_fails_is_warned_of_and_the_others_stand():
    told = {"all": SPLIT, "cost": RuntimeError("boom"), "weight": "Two.", "age": None}
    ran = turn(task("all", "cost", "weight", "age"), solver(told))
    [group] = ran.outcome.answer.groups
    assert group.answer_markdown == "Two."
    assert group.warnings == ("Not answered: cost", "Not answered: age")
    assert {node: frame["status"] for node, frame in frames(ran).items()} == {
        "frame-0": "succeeded", "frame-0.1": "failed", "frame-0.2": "succeeded", "frame-0.3": "succeeded",
    }  # fmt: skip


@pytest.mark.rule("TURN-16")
def test_the_joined_answer_is_validated_as_an_answer_to_the_task():
    """After a rejection, the frame tries its other candidates."""
    validator = plugin(
        "val-plugin",
        "val-a",
        lambda request, context: REJECT if request.answer.groups[0].intent == "all" else ACCEPT,
    )
    ran = turn(task("all", "cost"), solver({"all": SPLIT, "cost": "Ten."}), validator)
    assert ran.outcome.answer_status == "no-context"
    judged = [request.answer.groups[0].intent for request in validator.asked]
    assert judged == ["cost", "all"]


@pytest.mark.rule("PLUGIN-25", "KERNEL-18")
def test_children_draw_on_the_calls_of_the_turn():
    """Calls of the first child are not available to the second."""

    def paid(request, context):
        found = solution("Ten.")(request, context)
        return replace(found, metadata=CallMetadata(llm_calls=1))

    free = plugin("gs-plugin", "gs-a", SPLIT, solution("By hand."))
    costly = plugin("gs-plugin", "gs-b", SPLIT, paid, max_llm_calls=1)
    orders = planner(lambda request, context: Plan(
        planner_plugin_id="planner-a",
        kb_plugin_order=("kb-a",),
        goal_solver_order=("gs-a", "gs-b") if context.frame_depth == 0 else ("gs-b", "gs-a"),
    ))  # fmt: skip
    ran = turn(
        task("all", "cost", "weight"), free, costly, orders, limits=Limits(max_llm_calls=1, max_parallel_seeds=1)
    )
    statuses = [
        stage["status"] for stage in ran.named("plugin.finished") if stage["executionId"].startswith("exec-0.2")
    ]
    assert "skipped-budget" in statuses
    assert ran.outcome.answer_text == "**cost**\n\nTen.\n\n**weight**\n\nBy hand."


@pytest.mark.rule("KERNEL-5")
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_pins_and_level_reach_the_children(level):
    seen = []

    def noting(request, context):
        seen.append((context.frame_depth, request.pins, request.session.deliberation_level))
        return plan()(request, context)

    pins = Selection(goal_solver="gs-a")
    ran = turn(task("all", "cost"), solver({"all": SPLIT, "cost": "Ten."}), planner(noting), pins=pins, level=level)
    assert ran.outcome.answer_text == "Ten."
    assert {(depth, found) for depth, found, _ in seen} == {(0, pins), (1, pins)}


@pytest.mark.rule("TURN-11", "KERNEL-5")
def test_units_of_the_turn_reach_the_children():
    retriever = plugin("kb-plugin", "kb-a", retrieval("fact"))
    detected = [detection("all", claims=["a"]), detection("cost", "weight")]
    run(plugin("sd-plugin", "sd-a", *detected), retriever, solver({"all": SPLIT}))
    assert [[unit.claim for unit in request.current_turn_units] for request in retriever.asked] == [["a"]] * 3

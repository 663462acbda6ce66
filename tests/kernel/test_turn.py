"""One turn of the machine: success, retries and failure, with the outcome and the graph."""

import itertools
import json
from copy import replace

import pytest

from mrpvm.contracts import Detection, PluginError, Retrieval, Solution, Validation
from mrpvm.errors import InvalidInput
from mrpvm.trace.events import PluginStarted
from mrpvm.values import KnowledgeUnit, Limits, Selection
from mrpvm.wire import WireWriter, from_wire
from tests.kernel.scripted import (
    ACCEPT,
    REJECT,
    detection,
    graph_of,
    plan,
    plugin,
    retrieval,
    run,
    solution,
)


def detector(*replies, **changes):
    return plugin("sd-plugin", "sd-a", *replies, **changes)


def kb(*replies, plugin_id="kb-a", **changes):
    return plugin("kb-plugin", plugin_id, *replies, **changes)


def solver(*replies, plugin_id="gs-a", **changes):
    return plugin("gs-plugin", plugin_id, *replies, **changes)


def ok_turn(**changes):
    return run(detector(detection("why", claims=["a"])), kb(retrieval("fact")), solver(solution("Because.")), **changes)


@pytest.mark.rule("UNIT-9")
def test_a_detectors_wrong_hash_is_recorded():
    """The turn continues."""
    told = detection("why", claims=["a"])
    wrong = replace(told, context_document=f"{told.context_document}\n@h1 set $k1 hash {'0' * 64}")
    warning = "The hash given for session::turn::unit-000 does not fit the content and was ignored."
    for reply, expected in ((told, [None]), (wrong, [warning])):
        ran = run(detector(reply), kb(retrieval("fact")), solver(solution("Because.")))
        assert ran.outcome.status == "succeeded"
        details = [event.detail for event in ran.events if event.name == "plugin.finished"]
        assert list(details[0]["meta"].warnings or [None]) == expected
        assert not any(detail["meta"].warnings for detail in details[1:])


def statuses(ran):
    return {node["id"]: node["status"] for node in graph_of(ran.records)["pluginExecutions"]}


def test_a_turn_is_answered_and_names_the_plugins_that_answered():
    outcome = ok_turn().outcome
    assert outcome.status == "succeeded"
    assert outcome.answer_status == "answered"
    assert outcome.answer_text.startswith("Because.")
    assert outcome.used == Selection(planner="planner-a", seed_detector="sd-a", kb="kb-a", goal_solver="gs-a")


@pytest.mark.rule("KERNEL-9")
def test_units_are_staged_under_the_turns_ids_before_retrieval():
    ran = ok_turn()
    names = [event.name for event in ran.events]
    staged = names.index("units.staged")
    assert [unit.id for unit in ran.events[staged].units] == ["session::req-1::unit-000"]
    retrieval_start = next(
        index
        for index, event in enumerate(ran.events)
        if isinstance(event.data, PluginStarted) and event.data.stage == "kb"
    )
    assert staged < retrieval_start


@pytest.mark.rule("DECISION-23", "KERNEL-9", "GRAPH-11")
def test_stages_follow_each_other_by_recorded_edges():
    """The order is detector, planner, retriever, planner, solver, validator; each has one opener."""
    graph = graph_of(ok_turn().records)
    flows = [(edge["from"], edge["to"]) for edge in graph["edges"] if edge["kind"] == "flow"]
    ids = [node["id"] for node in graph["pluginExecutions"]]
    assert [node["stage"] for node in graph["pluginExecutions"]] == [
        "seed-detector", "planner", "kb", "planner", "goal-solver", "validation",
    ]  # fmt: skip
    assert flows == list(itertools.pairwise(ids))


def test_payloads_leave_out_only_empty_fields_of_units():
    [solve] = [event for event in ok_turn().events if event.detail_ref == "exec-0.5~1" and "output" in event.detail]
    payload = json.loads(WireWriter(brief=KnowledgeUnit).json(solve.detail))
    [entry] = payload["input"]["evidence"][0]["sessionUnits"]
    assert entry["unit"]["claim"] == "fact"
    assert all(value or value == 0 for value in entry["unit"].values())
    assert payload["input"]["systemPrompt"] is None


@pytest.mark.parametrize(
    "more", [{}, {"topic": "pump", "confidence": 0.0, "source_id": "manual", "phase_scopes": ("kb",)}]
)
def test_a_unit_is_read_from_a_payload_without_its_empty_fields(more):
    unit = KnowledgeUnit(id="u", role="Explanation", claim="fact", **more)
    assert from_wire(KnowledgeUnit, json.loads(WireWriter(brief=KnowledgeUnit).json(unit))) == unit


@pytest.mark.rule("TURN-7", "TURN-8", "LANG-4")
def test_the_next_detector_is_tried_when_a_document_is_refused():
    """The refused document is an error of its execution, with the diagnostics."""
    bad = Detection(status="success", intent_document="@i1 intnt define")
    second = plugin("sd-plugin", "sd-b", detection("why"))
    ran = run(detector(bad), second, kb(retrieval("fact")), solver(solution("Because.")))
    assert ran.outcome.used.seed_detector == "sd-b"
    refused = ran.named("plugin.finished")[0]
    assert refused["status"] == "error"
    assert "UNKNOWN_COMMAND" in refused["error"]["details"]["diagnostics"][0]
    retry = [edge for edge in graph_of(ran.records)["edges"] if edge["kind"] == "retry"]
    assert retry == [{"from": "exec-0.1~1", "to": "exec-0.1~2", "kind": "retry"}]


@pytest.mark.rule("TURN-8")
def test_no_intent_at_all_is_an_empty_result():
    ran = run(detector(Detection(status="unsupported")), kb(retrieval("fact")), solver(solution("x")))
    assert ran.outcome.status == "failed"
    assert ran.outcome.error["code"] == "DECOMPOSER_EMPTY_RESULT"
    assert ran.outcome.error["details"]["pluginsTried"] == ["sd-a"]


@pytest.mark.rule("TURN-15", "PLUGIN-13", "PLUGIN-23", "PLUGIN-24", "KERNEL-21")
@pytest.mark.parametrize(
    "reply",
    [
        RuntimeError("boom"),
        Solution(status="error", error=PluginError(code="X", message="no")),
        Solution(status="delighted"),  # type: ignore[arg-type]
        Solution(status="success", answer=None),
    ],
)
def test_a_failing_solver_is_replaced_by_the_next(reply):
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))
    second = solver(solution("Because."), plugin_id="gs-b")
    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(reply), second, planner)
    assert ran.outcome.used.goal_solver == "gs-b"
    assert [branch["reason"] for branch in ran.named("branch.failed")] == ["error"]


@pytest.mark.parametrize("is_quick", [False, True])
def test_the_stack_of_a_plugins_exception_is_logged(caplog, is_quick):
    def solve(request, context):
        raise RuntimeError("boom")

    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(solve, is_quick=is_quick))
    assert ran.outcome.status == "failed"
    assert caplog.records[0].getMessage() == "plugin gs-a failed in turn req-1: RuntimeError: boom"
    assert "in solve" in caplog.text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("401 for sk-0123456789"), {"message": "RuntimeError: 401 for [REDACTED]", "details": {}}),
        (
            InvalidInput("no sk-0123456789", details={"url": "x?key=0123", "token": "0123"}),
            {"message": "no [REDACTED]", "details": {"url": "x?key=[REDACTED]", "token": "[REDACTED]"}},
        ),
        (
            Solution(
                status="error", error=PluginError(code="X", message="no sk-0123456789", details={"token": "0123"})
            ),
            {"message": "no [REDACTED]", "details": {"token": "[REDACTED]"}},
        ),
    ],
)
def test_a_plugins_error_is_kept_without_secrets(error, told):
    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(error))
    [failed] = [item["error"] for item in ran.named("plugin.finished") if item["error"]]
    assert failed.items() >= told.items()
    assert "0123" not in f"{ran.records}{ran.outcome.error}"


@pytest.mark.rule("TURN-14", "KERNEL-22")
def test_retrieval_stops_at_the_first_sufficient_result():
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    second = kb(retrieval("other"), plugin_id="kb-b")
    run(detector(detection("why")), kb(retrieval("fact")), second, solver(solution("x")), planner)
    assert second.asked == []


@pytest.mark.rule("TURN-15", "KERNEL-21")
def test_another_view_is_taken_when_no_solver_held():
    """The next view is that of the next KB plugin."""
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    second = kb(retrieval("better"), plugin_id="kb-b")
    answers = solver(solution(None), solution("Because."))
    ran = run(detector(detection("why")), kb(retrieval("fact")), second, answers, planner)
    assert ran.outcome.answer_status == "answered"
    assert ran.outcome.used.kb == "kb-b"
    assert [step["step"] for step in ran.named("backtrack.taken")] == ["evidence"]


@pytest.mark.rule("KERNEL-23")
def test_the_same_solver_never_sees_the_same_evidence_twice():
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    stubborn = solver(solution(None))
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), kb(retrieval("fact"), plugin_id="kb-b"), stubborn, planner
    )
    assert len(stubborn.asked) == 1
    assert ran.outcome.answer_status == "no-context"


@pytest.mark.rule("KERNEL-23")
def test_a_heavier_planner_tries_only_what_is_new():
    """Evidence with which every solver failed is not retrieved or planned for again."""
    first = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    second = plugin("mrp-plan-plugin", "planner-b", plan(kbs=("kb-c", "kb-b", "kb-a")))
    kbs = [kb(retrieval(f"fact {name}"), plugin_id=f"kb-{name}") for name in "abc"]
    stubborn = solver(solution(None))
    ran = run(detector(detection("why")), *kbs, stubborn, first, second)
    assert [len(item.asked) for item in kbs] == [1, 1, 1]
    assert [request.phase for request in first.asked] == ["post-seed", "post-kb", "post-kb", "post-solve"]
    assert [request.phase for request in second.asked] == ["post-seed", "post-kb", "post-solve"]
    assert len(stubborn.asked) == 3
    assert ran.outcome.answer_status == "no-context"
    assert ran.outcome.used.planner == "planner-a"


def test_a_heavier_planner_without_anything_new_ends_quietly():
    second = plugin("mrp-plan-plugin", "planner-b", plan())
    first = plugin("mrp-plan-plugin", "planner-a", plan())
    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(solution(None)), first, second)
    assert ran.outcome.answer_status == "no-context"
    assert len(second.asked) == 1
    assert ran.named("backtrack.taken") == []
    assert {node["status"] for node in graph_of(ran.records)["pluginExecutions"]} <= {"success", "no-context"}


def test_a_skipped_view_is_used_without_a_new_call():
    """The largest insufficient view is used first; the others are kept for the next planner."""
    first = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b")))
    second = plugin("mrp-plan-plugin", "planner-b", plan(kbs=("kb-a",)))
    small, full = kb(retrieval("x", sufficient=False)), kb(retrieval("y", "z", sufficient=False), plugin_id="kb-b")
    answers = solver(solution(None), solution("Because."))
    ran = run(detector(detection("why")), small, full, answers, first, second)
    assert (len(small.asked), len(full.asked)) == (1, 1)
    assert ran.outcome.answer_status == "answered"
    assert ran.outcome.used == Selection(planner="planner-b", seed_detector="sd-a", kb="kb-a", goal_solver="gs-a")


def test_without_a_solver_the_turn_fails():
    ran = run(detector(detection("why")), kb(retrieval("fact")))
    assert ran.outcome.status == "failed"
    assert "planner" not in ran.outcome.error["message"].lower()


@pytest.mark.rule("TURN-19", "KERNEL-12")
def test_no_context_after_every_planner_is_a_success():
    second = plugin("mrp-plan-plugin", "planner-b", plan())
    first = plugin("mrp-plan-plugin", "planner-a", plan())
    ran = run(detector(detection("why")), kb(retrieval(sufficient=False)), solver(solution(None)), first, second)
    assert ran.outcome.status == "succeeded"
    assert ran.outcome.answer_status == "no-context"
    assert second.asked
    assert graph_of(ran.records)["frames"][0]["closureReason"] == "frontier_exhausted"


@pytest.mark.rule("TURN-16")
def test_a_rejected_last_answer_fails_the_turn():
    ran = run(
        detector(detection("why")),
        kb(retrieval("fact")),
        solver(solution("No.")),
        plugin("val-plugin", "val-a", REJECT),
    )
    assert ran.outcome.error["code"] == "VALIDATION_REJECTED"
    assert "it is wrong" in ran.outcome.error["message"]


@pytest.mark.rule("PLUGIN-16", "KERNEL-37")
def test_a_validator_that_cannot_judge_does_not_accept():
    unsure = plugin("val-plugin", "val-a", Validation(status="error", error=PluginError(code="X", message="?")))
    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(solution("Yes.")), unsure)
    assert ran.outcome.status == "succeeded"
    assert [result["validationStatus"] for result in ran.named("result.recorded")] == ["unjudged"]
    assert ran.named("candidate.promoted")[0]["strength"] == "sufficient"


@pytest.mark.rule("SESSION-20")
def test_a_pinned_plugin_is_the_only_one_tried():
    other = solver(solution("x"), plugin_id="gs-b")
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), solver(RuntimeError("boom")), other,
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-b", "gs-a"))),
        pins=Selection(goal_solver="gs-a"),
    )  # fmt: skip
    assert ran.outcome.status == "failed"
    assert other.asked == []
    assert ran.outcome.used.goal_solver == "gs-a"


@pytest.mark.rule("DECISION-23", "TURN-17", "INTENT-4", "KERNEL-4", "KERNEL-15", "KERNEL-16", "ANSWER-1")
def test_independent_intents_join_in_order():
    ran = run(detector(detection("one", "two", "three")), kb(retrieval("fact")), solver(solution("Because.")))
    graph = graph_of(ran.records)
    assert [frame["id"] for frame in graph["frames"]] == ["frame-0", "frame-0.1", "frame-0.2", "frame-0.3"]
    assert [group.intent for group in ran.outcome.answer.groups] == ["one", "two", "three"]
    assert graph["frames"][0]["closureReason"] == "parallel_intent_aggregation"
    openers = {edge["to"]: edge["from"] for edge in graph["edges"] if edge["kind"] == "child-frame"}
    assert openers == dict.fromkeys(["frame-0.1", "frame-0.2", "frame-0.3"], "exec-0.1~1")


@pytest.mark.rule("KERNEL-16", "ANSWER-3", "ANSWER-6", "ANSWER-8")
def test_one_failed_child_does_not_sink_the_others():

    def reply(request, context):
        if request.evidence[0].intent.target == "two":
            raise RuntimeError("boom")
        return solution("Because.")(request, context)

    ran = run(detector(detection("one", "two")), kb(retrieval("fact")), solver(reply))
    assert [group.status for group in ran.outcome.answer.groups] == ["answered", "plugin-error"]
    assert ran.outcome.answer_status == "answered"


@pytest.mark.rule("API-19")
def test_when_every_child_fails_the_error_names_what_they_tried():
    """Each is named once, in the order of the children."""
    ran = run(
        detector(detection("one", "two")), kb(retrieval("fact")), solver(RuntimeError("boom")),
        solver(RuntimeError("bang"), plugin_id="gs-b"),
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b"))),
    )  # fmt: skip
    error = ran.outcome.error
    assert (error["code"], error["message"]) == ("PLUGIN_STAGE_EXHAUSTED", "None of the questions could be worked on.")
    assert (error["details"]["stage"], error["details"]["pluginsTried"]) == ("goal-solver", ["gs-a", "gs-b"])
    assert [set(item) for item in error["details"]["diagnostics"]] == [{"code", "message"}] * 2


@pytest.mark.rule("API-19")
def test_a_planner_without_a_plan_is_named_as_tried():
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), solver(solution("Because.")),
        plugin("mrp-plan-plugin", "planner-a", RuntimeError("boom")),
    )  # fmt: skip
    assert ran.outcome.error["details"] == {
        "stage": "planner", "pluginsTried": ["planner-a"],
        "diagnostics": [{"pluginId": "planner-a", "status": "error", "code": "PLUGIN_EXCEPTION"}],
    }  # fmt: skip


def test_a_planner_without_a_plan_hides_no_earlier_error():
    ran = run(
        detector(detection("why")), kb(retrieval("fact")), solver(RuntimeError("boom")),
        plugin("mrp-plan-plugin", "planner-a", plan()),
        plugin("mrp-plan-plugin", "planner-b", RuntimeError("no plan")),
    )  # fmt: skip
    assert ran.outcome.error["details"]["stage"] == "goal-solver"
    assert [item["pluginId"] for item in ran.outcome.error["details"]["diagnostics"]] == ["gs-a"]


@pytest.mark.rule("KERNEL-3")
def test_at_the_depth_limit_the_frame_solves_all_intents_itself():
    ran = run(
        detector(detection("one", "two")), kb(retrieval("fact")), solver(solution("Because.")),
        limits=Limits(max_frame_depth=0),
    )  # fmt: skip
    assert [frame["id"] for frame in graph_of(ran.records)["frames"]] == ["frame-0"]
    assert [group.intent for group in ran.outcome.answer.groups] == ["one", "two"]
    assert ran.named("backtrack.taken")[0]["reason"] == "FRAME_DEPTH_EXCEEDED"


def test_two_runs_with_the_same_clock_give_the_same_record():
    assert ok_turn().records == ok_turn().records


@pytest.mark.rule("TURN-32")
def test_a_machine_defect_fails_the_turn_without_its_text():
    """A planner's order that is no tuple fails the turn and raises nothing to the caller."""
    broken = plugin("mrp-plan-plugin", "planner-a", lambda request, context: plan(kbs=(None,))(request, context))
    ran = run(detector(detection("why")), kb(retrieval("fact")), solver(solution("x")), broken)
    assert ran.outcome.status == "failed"
    assert ran.named("frame.closed")[-1]["status"] == "failed"


@pytest.mark.rule("KERNEL-50")
def test_without_comparison_every_level_acts_as_zero_and_says_so():
    ran = ok_turn(level=3, limits=Limits(comparison_enabled=False))
    assert ran.named("turn.started")[0]["deliberationLevel"] == 3
    assert ran.named("turn.started")[0]["effectiveLevel"] == 0
    assert ran.named("policy.set")[0]["closureMode"] == "first_valid"


@pytest.mark.rule("PLUGIN-24")
def test_a_retriever_that_says_nothing_lawful_exhausts_its_stage():
    ran = run(detector(detection("why")), kb(Retrieval(status="fine")), solver(solution("x")))  # type: ignore[arg-type]
    assert ran.outcome.error["code"] == "PLUGIN_STAGE_EXHAUSTED"
    assert ran.outcome.error["details"]["stage"] == "kb"


def test_accepting_validators_make_a_strong_candidate():
    ran = run(
        detector(detection("why")),
        kb(retrieval("fact")),
        solver(solution("Yes.")),
        plugin("val-plugin", "val-a", ACCEPT),
    )
    assert ran.named("candidate.promoted")[0]["strength"] == "strong"

"""Models in a turn: which plugins are tried, how calls are counted and recorded, and streaming."""

from typing import Any

import pytest

from mrpvm.contracts import CallContext, PluginError, Solution, SolveInput
from mrpvm.conversation.answers import MODEL_FAILED_TEXT, UNKNOWN_TEXT, answers_nothing, no_context
from mrpvm.errors import ModelFailed, ModelTimeout
from mrpvm.llm.port import Prompt
from mrpvm.testing import ScriptedModel
from mrpvm.values import HistoryMessage, Limits, Selection
from tests.kernel.scripted import REJECT, Ran, Scripted, SystemClock, detection, plan, plugin, retrieval, run, solution

LLM: dict[str, Any] = {"uses_llm": True, "model_roles": ("goal-fast",), "max_llm_calls": 1}


def ask(context: CallContext) -> str:
    """Call the model of a plugin's call."""
    said = (HistoryMessage(role="user", content="?"),)
    prompt = Prompt(plugin_id="gs-llm", role="goal-fast", system="", messages=said)
    return context.model.call(prompt, context.write).text


def asking(then: Any = None) -> Any:
    """Return a solver's reply that calls the model and does not report the call."""

    def reply(request: SolveInput, context: CallContext) -> Solution:
        text = ask(context)
        return then if then is not None else solution(text)(request, context)

    return reply


def knowing_nothing(request: SolveInput, context: CallContext) -> Solution:
    """Answer as the shipped solvers do where nothing was found."""
    return Solution(status="no-context", answer=no_context(request.evidence))


def played(*solvers: Scripted, **options: Any) -> Ran:
    """Run a turn in which these solvers are tried in order."""
    order = [item.descriptor.id for item in solvers]
    others = options.pop("others", ())
    return run(
        plugin("sd-plugin", "sd-a", options.pop("detection", detection("why"))),
        plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=order)),
        *solvers,
        *others,
        **options,
    )


def solver(reply: Any, plugin_id: str = "gs-llm", **changes: Any) -> Scripted:
    return plugin("gs-plugin", plugin_id, reply, **(LLM | changes))


def finished(ran: Ran, stage: str = "goal-solver") -> list[dict[str, Any]]:
    started = {item["executionId"]: item for item in ran.named("plugin.started")}
    return [item for item in ran.named("plugin.finished") if started[item["executionId"]]["stage"] == stage]


# --- Candidates ----------------------------------------------------------------------------------------------


@pytest.mark.rule("INTENT-6", "PLUGIN-31", "ROLE-8")
def test_without_a_model_only_plugins_that_need_none_are_tried() -> None:
    """The others are treated as not registered."""
    plain = plugin("gs-plugin", "gs-a", solution("Because."))
    bare = played(plain, is_validated=False)
    others = (
        plugin("sd-plugin", "sd-llm-fast", detection("never"), **LLM),
        plugin("kb-plugin", "kb-llm", retrieval("never"), **LLM),
        plugin("val-plugin", "val-llm", REJECT, **LLM),
        plugin("mrp-plan-plugin", "planner-llm", plan(), **LLM),
    )
    unused = solver(solution("never"))
    ran = played(unused, plain, others=others)
    assert ran.outcome.answer_text == bare.outcome.answer_text == "Because."
    assert all(item.asked == [] for item in (*others, unused))
    assert [item["pluginId"] for item in ran.named("plugin.started")] == [
        item["pluginId"] for item in bare.named("plugin.started")
    ]
    assert plugin_ids(ran, "seedDetectorCandidates") == ["sd-a"]


def plugin_ids(ran: Ran, key: str) -> list[str]:
    return list(ran.named("turn.started")[0][key])


@pytest.mark.rule("PLUGIN-18")
def test_planners_hear_of_plugins_that_can_work_only() -> None:
    planner = plugin("mrp-plan-plugin", "planner-a", plan())
    run(
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("gs-plugin", "gs-a", solution("Because.")),
        solver(solution("never")),
        planner,
    )
    assert all([item.id for item in asked.goal_solver_descriptors] == ["gs-a"] for asked in planner.asked)


@pytest.mark.parametrize("stage", ["seed_detector", "goal_solver"])
def test_a_pinned_one_is_tried_and_says_why_it_cannot(stage: str) -> None:
    ids = {"seed_detector": "sd-llm", "goal_solver": "gs-llm"}
    detector = plugin("sd-plugin", "sd-llm", lambda request, context: ask(context), **LLM)
    ran = played(solver(asking()), others=[detector], pins=Selection(**{stage: ids[stage]}))
    assert ran.outcome.error is not None
    assert (ran.outcome.status, ran.outcome.error["code"]) == ("failed", "LLM_NOT_AVAILABLE")
    assert ran.named("plugin.finished")[-1]["llmCalls"] == 0
    assert ran.named("plugin.finished")[-1]["model"] is None


def test_with_a_model_they_are_candidates_like_any_other() -> None:
    ran = played(solver(asking()), model=ScriptedModel("It is so."))
    assert ran.outcome.answer_text == "It is so."


# --- Counting and recording ------------------------------------------------------------------------------------


@pytest.mark.rule("PLUGIN-26")
def test_calls_that_a_plugin_does_not_tell_of_count_all_the_same() -> None:
    ran = played(solver(asking()), model=ScriptedModel("It is so."))
    (execution,) = finished(ran)
    assert (execution["llmCalls"], execution["model"], execution["modelRole"]) == (1, "scripted", "goal-fast")
    assert [record.llm_calls for record in ran.outcome.stages if record.stage == "goal-solver"] == [1]


def test_calls_of_a_plugin_that_raises_count() -> None:
    ran = played(
        solver(asking()), plugin("gs-plugin", "gs-b", solution("Else.")), model=ScriptedModel(ModelFailed("broken"))
    )
    failed, good = finished(ran)
    assert (failed["status"], failed["llmCalls"], failed["error"]["code"]) == ("error", 1, "LLM_PROVIDER_ERROR")
    assert (good["llmCalls"], good["model"]) == (0, None)


def test_an_answer_says_that_the_model_failed_in_vain() -> None:
    """Each reason stands once, however many solvers asked."""
    unknowing = plugin("gs-plugin", "gs-a", knowing_nothing)
    model = ScriptedModel(*[ModelFailed("The model's provider answered 401: wrong key")] * 2)
    ran = played(unknowing, solver(asking()), solver(asking(), "gs-deep"), model=model)
    assert (ran.outcome.status, ran.outcome.answer_status) == ("succeeded", "no-context")
    assert ran.outcome.answer_text == MODEL_FAILED_TEXT
    assert answers_nothing(ran.outcome.answer_text)
    assert ran.outcome.answer is not None
    (group,) = ran.outcome.answer.groups
    assert group.warnings == ("The language model failed: The model's provider answered 401: wrong key",)


def test_where_another_fails_than_the_model_it_is_not_blamed() -> None:
    broken = plugin("gs-plugin", "gs-b", RuntimeError("boom"))
    ran = played(plugin("gs-plugin", "gs-a", knowing_nothing), broken, model=ScriptedModel())
    assert ran.outcome.answer_text == UNKNOWN_TEXT
    assert ran.outcome.answer is not None
    assert ran.outcome.answer.groups[0].warnings == ()


@pytest.mark.rule("PLUGIN-26")
def test_calls_of_a_plugin_that_hangs_count() -> None:
    """The plugin calls the model and does not return."""
    import threading

    release = threading.Event()

    def hanging(request: SolveInput, context: CallContext) -> Solution:
        ask(context)
        release.wait(10)
        return solution("late")(request, context)

    ran = played(
        solver(hanging, timeout_ms=150),
        plugin("gs-plugin", "gs-b", solution("Else.")),
        model=ScriptedModel("x"),
        clock=SystemClock(),
    )
    release.set()
    assert [item["llmCalls"] for item in finished(ran)] == [1, 0]
    assert ran.outcome.answer_text == "Else."


def test_used_calls_are_gone_for_the_plugins_that_follow() -> None:
    first = solver(asking(Solution(status="error", error=PluginError(code="X", message="x"))), "gs-one")
    second = solver(asking(), "gs-two")
    third = plugin("gs-plugin", "gs-three", solution("Plain."))
    ran = played(first, second, third, model=ScriptedModel("x"), limits=Limits(max_llm_calls=1))
    assert [item["status"] for item in finished(ran)] == ["error", "skipped-budget", "success"]


@pytest.mark.rule("DECISION-7")
@pytest.mark.parametrize("failure", [ModelFailed("broken"), ModelTimeout("slow")])
@pytest.mark.parametrize("questions", [("why",), ("why", "how")])
def test_a_turn_that_fails_for_its_provider_carries_its_code(failure: ModelFailed, questions: tuple[str, ...]) -> None:
    """This includes child frames."""
    ran = played(solver(asking()), model=ScriptedModel(failure), detection=detection(*questions))
    assert ran.outcome.error is not None
    assert ran.outcome.error["code"] == failure.code


# --- Streaming -------------------------------------------------------------------------------------------------


def deltas(ran: Ran) -> str:
    return "".join(item["delta"] for item in ran.named("answer.delta"))


@pytest.mark.rule("DECISION-37")
def test_words_go_out_while_they_are_written() -> None:
    ran = played(solver(asking()), model=ScriptedModel("It is so, and so."), is_validated=False, is_streamed=True)
    assert deltas(ran) == ran.outcome.answer_text == "It is so, and so."
    assert {item["isDraft"] for item in ran.named("answer.delta")} == {False}
    assert ran.named("answer.delta")[0]["used"] == {
        "planner": "planner-a", "seedDetector": "sd-a", "kb": "kb-a", "goalSolver": "gs-llm",
    }  # fmt: skip
    names = [event.name for event in ran.events]
    assert names.index("answer.delta") < len(names) - 1 - names[::-1].index("plugin.finished")


def test_words_that_have_to_be_approved_are_drafts() -> None:
    ran = played(solver(asking()), model=ScriptedModel("It is so."), is_streamed=True)
    assert deltas(ran) == "It is so."
    assert {item["isDraft"] for item in ran.named("answer.delta")} == {True}


def test_words_of_child_frames_are_drafts() -> None:
    ran = played(
        solver(asking()),
        detection=detection("why", "how"),
        model=ScriptedModel("So."),
        is_validated=False,
        is_streamed=True,
    )
    assert {item["isDraft"] for item in ran.named("answer.delta")} == {True}


def test_nothing_goes_out_when_nobody_reads_along() -> None:
    ran = played(solver(asking()), model=ScriptedModel("It is so."), is_validated=False)
    assert ran.named("answer.delta") == []


@pytest.mark.parametrize("ending", ["error", "no-context", "raise"])
def test_no_other_answer_follows_one_that_was_begun(ending: str) -> None:
    endings: dict[str, Any] = {
        "error": asking(Solution(status="error", error=PluginError(code="LLM_TIMEOUT", message="slow"))),
        "no-context": lambda request, context: ask(context) and solution(None)(request, context),
        "raise": lambda request, context: ask(context) and 1 / 0,
    }
    spare = plugin("gs-plugin", "gs-b", solution("Another."))
    again = plugin("mrp-plan-plugin", "planner-b", plan(solvers=("gs-b",)))
    model = ScriptedModel("It is ")
    ran = played(solver(endings[ending]), spare, others=[again], model=model, is_validated=False, is_streamed=True)
    assert ran.outcome.status == "failed"
    assert spare.asked == []
    assert deltas(ran) == "It is "


def test_an_answer_that_was_not_begun_may_be_followed() -> None:
    ran = played(
        solver(asking()),
        plugin("gs-plugin", "gs-b", solution("Another.")),
        model=ScriptedModel(ModelFailed("down")),
        is_validated=False,
        is_streamed=True,
    )
    assert ran.outcome.answer_text == "Another."
    assert deltas(ran) == ""


def test_a_solver_that_writes_for_ever_is_given_up() -> None:
    """The time limit is checked while it writes."""

    def babble(request: SolveInput, context: CallContext) -> Solution:
        while not context.stopped():
            context.write("word ")
        return solution("late")(request, context)

    ran = played(
        solver(babble, timeout_ms=100),
        model=ScriptedModel("x"),
        is_validated=False,
        is_streamed=True,
        clock=SystemClock(),
    )
    assert ran.outcome.status == "failed"
    assert finished(ran)[0]["error"]["code"] == "PLUGIN_TIMEOUT"

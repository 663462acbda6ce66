"""A plugin's result of other types than its family's is an error of that plugin, and the next one is tried."""

import math
from collections.abc import Callable
from copy import replace
from typing import Any, NotRequired, TypedDict

import pytest

from mrpvm.contracts import CallMetadata, Detection, PluginError, Retrieval, Solution, Validation
from mrpvm.field_types import data_misfit, misfit
from mrpvm.kernel.calls import RESULTS
from mrpvm.values import Answer, KnowledgeUnit, LedgerEntry, Plan
from tests.kernel.scripted import ACCEPT, Ran, Scripted, detection, plan, plugin, retrieval, run, solution


def _changed(**changes: Any) -> Callable[..., Solution]:
    """Return a reply whose first group has other values."""

    def reply(request: Any, context: Any) -> Solution:
        good = solution("Because.")(request, context)
        assert good.answer
        return replace(good, answer=Answer(groups=(replace(good.answer.groups[0], **changes),)))

    return reply


def _retrieved(**changes: Any) -> Callable[..., Retrieval]:
    return lambda request, context: replace(retrieval("fact")(request, context), **changes)


def _found(**changes: Any) -> Callable[..., Retrieval]:
    """Return a reply whose first entry has other values."""

    def reply(request: Any, context: Any) -> Retrieval:
        good = retrieval("fact")(request, context)
        entry = replace(good.evidence[0].session_units[0], **changes)
        return replace(good, evidence=(replace(good.evidence[0], session_units=(entry,)),))

    return reply


def _error_of(ran: Ran, plugin_id: str) -> dict[str, Any]:
    """Return the recorded error of a plugin's first call."""
    started = next(item for item in ran.named("plugin.started") if item["pluginId"] == plugin_id)
    ended = next(item for item in ran.named("plugin.finished") if item["executionId"] == started["executionId"])
    assert ended["status"] == "error"
    error: dict[str, Any] = ended["error"]
    return error


def _blamed(family: str, reply: Any, good: Any) -> str:
    """Return the error of the plugin with this reply, after which another one must have been used."""
    others = {
        "sd-plugin": plugin("sd-plugin", "sd-b", detection("why")),
        "kb-plugin": plugin("kb-plugin", "kb-b", retrieval("fact")),
        "gs-plugin": plugin("gs-plugin", "gs-b", solution("Because.")),
    }
    others[family] = plugin(family, f"{family[:2]}-b", good)
    odd: Scripted = plugin(family, f"{family[:2]}-a", reply)
    planner = plugin("mrp-plan-plugin", "planner-a", plan(kbs=("kb-a", "kb-b"), solvers=("gs-a", "gs-b")))
    ran = run(odd, *others.values(), planner)
    assert ran.outcome.status == "succeeded", ran.outcome.error
    error = _error_of(ran, odd.descriptor.id)
    assert error["code"] == "PLUGIN_CONTRACT_VIOLATION"
    said: str = error["message"]
    return said


@pytest.mark.rule("PLUGIN-23", "PLUGIN-24")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "The value is a NoneType; it must be a Solution."),
        ("text", "The value is a str; it must be a Solution."),
        (_changed(answer_markdown=42), "answer.groups[0].answer_markdown is an int; it must be a str."),
        (_changed(answer_markdown=b"x"), "answer.groups[0].answer_markdown is a bytes; it must be a str."),
        (_changed(answer_markdown=" "), "The answer has no text in the groups [1]."),
        (_changed(basis="guess"), "answer.groups[0].basis is 'guess'; it must be"),
        (Solution(status="maybe"), "status is 'maybe'; it must be one of success, no-context,"),  # type: ignore[arg-type]
        (_changed(status="fine"), "answer.groups[0].status is 'fine'; it must be"),
        (_changed(confidence=math.nan), "answer.groups[0].confidence is nan; it must be"),
        (_changed(evidence=("x",)), "answer.groups[0].evidence[0] is a str; it must be an EvidenceEntry."),
        (_changed(warnings=(5,)), "answer.groups[0].warnings[0] is an int"),
        (_changed(warnings="text"), "answer.groups[0].warnings is a str; it must be a tuple."),
        (_changed(plugin_output="text"), "answer.groups[0].plugin_output is a str"),
        (Solution(status="success", answer=Answer(groups=("x",))), "answer.groups[0] is a str"),  # type: ignore[arg-type]
        (Solution(status="success", answer={"groups": []}), "answer is a dict"),  # type: ignore[arg-type]
        (Solution(status="no-context", metadata="x"), "metadata is a str"),  # type: ignore[arg-type]
        (Solution(status="error", error="broken"), "error is a str"),  # type: ignore[arg-type]
    ],
)
def test_a_solver_with_values_of_other_types(reply: Any, said: str) -> None:
    assert said in _blamed("gs-plugin", reply, solution("Because."))


@pytest.mark.rule("PLUGIN-24")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (_retrieved(evidence=("x",)), "evidence[0] is a str; it must be an Evidence."),
        (_retrieved(ledger=("x",)), "ledger[0] is a str; it must be a LedgerEntry."),
        (_retrieved(ledger=(LedgerEntry(unit_id="u", step="eaten", store="kb"),)), "ledger[0].step is 'eaten'"),  # type: ignore[arg-type]
        (_retrieved(considered_count="many"), "considered_count is a str; it must be an int."),
        (_retrieved(notes=(5,)), "notes[0] is an int"),
        (_found(score="high"), "evidence[0].session_units[0].score is a str; it must be a float."),
        (_found(score=math.nan), "evidence[0].session_units[0].score is nan"),
        (_found(unit=KnowledgeUnit(id="u", role="Description", claim=5)), "units[0].unit.claim is an int"),  # type: ignore[arg-type]
        (_retrieved(evidence=()), "The evidence is of the intents [] where [1] were asked for."),
        (Retrieval(status="insufficient"), "The evidence is of the intents [] where [1] were asked for."),
    ],
)
def test_a_retriever_with_values_of_other_types(reply: Any, said: str) -> None:
    assert said in _blamed("kb-plugin", reply, retrieval("fact"))


@pytest.mark.rule("PLUGIN-24")
@pytest.mark.parametrize("name", ["intent_document", "context_document"])
def test_a_detector_with_values_of_other_types(name: str) -> None:
    changes: dict[str, Any] = {name: 5}
    odd = replace(detection("why"), **changes)
    assert f"{name} is an int" in _blamed("sd-plugin", odd, detection("why"))


def test_a_validator_with_values_of_other_types_has_not_judged() -> None:
    odd = plugin("val-plugin", "val-a", Validation(status="rejected", reason=5))  # type: ignore[arg-type]
    good = (plugin("kb-plugin", "kb-a", retrieval("fact")), plugin("gs-plugin", "gs-a", solution("Yes.")))
    ran = run(plugin("sd-plugin", "sd-a", detection("why")), *good, odd)
    assert ran.outcome.status == "succeeded"
    assert [result["validationStatus"] for result in ran.named("result.recorded")] == ["unjudged"]


HELD: list[Any] = []
HELD.append(HELD)


@pytest.mark.parametrize(
    "changes", [{"answer_markdown": "Because. " * 200_000}, {"plugin_output": {"rows": HELD}}], ids=["long", "endless"]
)
def test_a_result_that_is_too_large_is_not_read(changes: dict[str, Any]) -> None:
    """Neither a validator nor the trace gets it, and the next solver is tried."""
    judge = plugin("val-plugin", "val-a", ACCEPT)
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("gs-plugin", "gs-a", _changed(**changes)),
        plugin("gs-plugin", "gs-b", solution("Yes.")),
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b"))),
        judge,
    )
    assert ran.outcome.used.goal_solver == "gs-b"
    assert _error_of(ran, "gs-a")["code"] == "PLUGIN_OUTPUT_TOO_LARGE"
    assert len(judge.asked) == 1
    assert "Because." not in repr(ran.records)


def test_a_plan_of_other_types_is_followed_by_the_next() -> None:
    said = Plan(planner_plugin_id="planner-a", kb_plugin_order=(5,), goal_solver_order=5)  # type: ignore[arg-type]
    odd = plugin("mrp-plan-plugin", "planner-a", said)
    good = (plugin("kb-plugin", "kb-a", retrieval("fact")), plugin("gs-plugin", "gs-a", solution("Yes.")))
    ran = run(plugin("sd-plugin", "sd-a", detection("why")), *good, odd, plugin("mrp-plan-plugin", "planner-b", plan()))
    assert ran.outcome.status == "succeeded"
    assert _error_of(ran, "planner-a")["code"] == "PLUGIN_CONTRACT_VIOLATION"


def test_lists_are_taken_for_tuples_and_whole_numbers_for_floats() -> None:
    group = {"answer_markdown": "Because.", "warnings": ["careful"], "confidence": 1}
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("kb-plugin", "kb-a", _retrieved(ledger=[])),
        plugin("gs-plugin", "gs-a", _changed(**group)),
    )
    assert ran.outcome.status == "succeeded"


@pytest.mark.parametrize(
    "value",
    [
        Solution(status="error", error=PluginError(code="X", message="?", details={"any": object()})),
        Detection(status="success", intent_document="x", metadata=CallMetadata(llm_calls=1, warnings=("w",))),
        Validation(status="accepted"),
    ],
)
def test_proper_results_fit(value: Any) -> None:
    assert misfit(value, type(value)) is None
    assert type(value) in RESULTS.values()


class Part(TypedDict):
    """A part of stored data."""

    name: str
    places: NotRequired[tuple[int, int]]


@pytest.mark.parametrize(
    ("value", "hint", "complaint"),
    [
        ([{"name": "a", "places": [1, 2]}, {"name": "b", "more": []}], list[Part], None),
        ({"a": ["x"], "b": []}, dict[str, list[str]], None),
        (["a", 1, None], tuple[str, int, float | None], None),
        ([], tuple[str, ...], None),
        ([{"name": "a"}, {}], list[Part], "[1].name is missing."),
        ([{"name": "a", "places": [1]}], list[Part], "[0].places is [1]; it must hold 2 values."),
        ([{"name": "a", "places": [1, "x"]}], list[Part], "[0].places[1] is a str; it must be an int."),
        ([[]], list[Part], "[0] is a list; it must be a dict."),
        ({"a": ["x", 1]}, dict[str, list[str]], "a[1] is an int; it must be a str."),
        ([], dict[str, str], " is a list; it must be a dict."),
    ],
)
def test_json_data_fits_its_type(value: Any, hint: Any, complaint: str | None) -> None:
    assert data_misfit(value, hint) == complaint

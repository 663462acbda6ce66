"""gs-llm-*: the prompt, the reading of the reply, and streaming."""

import json
from copy import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrpvm.contracts import CallContext, HelperOutput, Solution, SolveInput
from mrpvm.conversation.answers import NO_CONTEXT_TEXT
from mrpvm.errors import ModelFailed, RegistryError
from mrpvm.llm.prompts import load_prompt
from mrpvm.plugins.goal_solvers.llm import deep_solver, fast_solver
from mrpvm.plugins.goal_solvers.llm.plugin import UNGROUNDED
from mrpvm.plugins.goal_solvers.llm.question import HELPER_NOTE
from mrpvm.plugins.goal_solvers.llm.reply import AnswerReader, CitedText
from mrpvm.testing import ScriptedModel, call_context, unit
from mrpvm.testing.conformance import evidence_for, intent_of, solve_input
from mrpvm.values import EvidenceEntry, GuidanceUnits, HistoryMessage, KnowledgeUnit

REX = unit("session::req-0123::unit-000", "My dog is called Rex.", source_id="session")
CAR = unit("src-9::chunk-000::unit-000", "My car is red.", source_id="src-9")
SOLVER = fast_solver()


def solved(
    reply: Any, *units: KnowledgeUnit, shown: list[str] | None = None, message: str = "What is my dog called?",
    **changes: Any,
) -> tuple[Solution, ScriptedModel]:  # fmt: skip
    """Return the solution made of a model's reply about units, and the model."""
    model = ScriptedModel(reply)
    context = call_context(model=model)
    if shown is not None:
        context = replace(context, write=shown.append)
    return SOLVER.solve(replace(solve_input(message, units), **changes), context), model


def group(solution: Solution) -> Any:
    assert solution.answer is not None
    return solution.answer.groups[0]


@pytest.mark.rule("DECISION-12", "BUILTIN-41")
def test_sources_are_numbered_in_order_of_citation() -> None:
    solution, _ = solved("A red car [2] and Rex [1], a dog [1][2].", REX, CAR)
    assert group(solution).answer_markdown == "A red car [1] and Rex [2], a dog [2][1]."
    assert group(solution).cited_unit_ids == (CAR.id, REX.id)
    assert group(solution).grounded
    assert (solution.status, solution.metadata.llm_calls, solution.metadata.model) == ("success", 1, "scripted")


@pytest.mark.rule("BUILTIN-42")
def test_a_source_that_was_not_offered_is_dropped_with_a_warning() -> None:
    solution, _ = solved("Rex [1] [7], see [1](https://x).", REX)
    assert group(solution).answer_markdown == "Rex [1], see [1](https://x)."
    assert group(solution).cited_unit_ids == (REX.id,)
    assert "7" in group(solution).warnings[0]


@pytest.mark.rule("ANSWER-9")
def test_strict_uses_no_answer_without_a_source() -> None:
    shown: list[str] = []
    solution, _ = solved("It is surely Rex.", REX, shown=shown)
    assert solution.status == "no-context"
    assert group(solution).answer_markdown == NO_CONTEXT_TEXT
    assert group(solution).warnings
    assert shown == []


HELPED = HelperOutput(intent_ref=1, plugin="Calculator", status="success", result="It is 42.", confidence="0.9")


def test_a_programs_result_may_carry_an_answer() -> None:
    shown: list[str] = []
    solution, model = solved("The product is 42.", shown=shown, helpers=(HELPED,))
    assert (solution.status, group(solution).answer_markdown) == ("success", "The product is 42.")
    assert (group(solution).grounded, group(solution).warnings) == (True, ())
    assert group(solution).plugin_output == {"plugin": "Calculator", "confidence": "0.9", "result": "It is 42."}
    assert "".join(shown) == "The product is 42."
    asked = json.loads(model.prompts[0].messages[-1].content)["intents"][0]
    assert asked["helper"]["result"] == "It is 42."
    assert HELPER_NOTE in asked["guidance"]
    silent, _ = solved("UNANSWERABLE", helpers=(HELPED,))
    assert (silent.status, group(silent).answer_markdown) == ("success", "It is 42.")


def test_a_program_that_failed_carries_nothing() -> None:
    failed = replace(HELPED, status="error", result="", error_message="it did not answer in time.")
    solution, model = solved("The product is 42.", helpers=(failed,))
    assert (solution.status, group(solution).status, model.prompts) == ("no-context", "plugin-error", [])
    assert group(solution).answer_markdown.startswith("Calculator was asked and failed.")
    told, model = solved("Rex [1].", REX, helpers=(failed,))
    assert (group(told).status, group(told).warnings) == (
        "answered", ("Calculator failed: it did not answer in time.",)
    )  # fmt: skip
    assert "helper" not in json.loads(model.prompts[0].messages[-1].content)["intents"][0]


@pytest.mark.rule("BUILTIN-43", "ANSWER-7")
def test_strict_asks_nothing_without_evidence() -> None:
    solution, model = solved("never said")
    assert (solution.status, solution.metadata.llm_calls, model.prompts) == ("no-context", 0, [])


@pytest.mark.rule("DECISION-12", "BUILTIN-43")
def test_open_answers_without_evidence_and_says_so() -> None:
    solution, model = solved("Paris.", message="What is the capital of France?", grounding="open")
    assert solution.status == "success"
    assert (group(solution).grounded, group(solution).warnings) == (False, (UNGROUNDED,))
    assert "general knowledge" in model.prompts[0].system
    assert group(solved("Rex [1].", REX, grounding="open")[0]).grounded
    assert "general knowledge" not in solved("Rex [1].", REX)[1].prompts[0].system


@pytest.mark.parametrize("grounding", ["strict", "open"])
@pytest.mark.parametrize("reply", ["UNANSWERABLE", " UNANSWERABLE.\n", "=== GROUP 1 ===\nUNANSWERABLE"])
def test_what_the_model_cannot_answer_is_no_context(reply: str, grounding: str) -> None:
    shown: list[str] = []
    solution, _ = solved(reply, REX, grounding=grounding, shown=shown)
    assert (solution.status, group(solution).status, shown) == ("no-context", "no-context", [])


@pytest.mark.parametrize(
    ("output", "reply", "text"),
    [
        ("json", '```json\n{"names": [1]}\n```\nCITED: 1', '{"names": [1]}'),
        ("one_word", "Rex\nCITED: 1", "Rex"),
        ("yes_no", "Yes\nCITED: [1], [9]", "Yes"),
    ],
)
def test_forms_that_a_mark_would_break_cite_beside_the_text(output: str, reply: str, text: str) -> None:
    shown: list[str] = []
    evidence = replace(solve_input("x", [REX]).evidence[0], intent=intent_of("What?", output=output))
    solution, model = solved(reply, evidence=(evidence,), shown=shown)
    assert group(solution).answer_markdown == text == "".join(shown)
    assert group(solution).cited_unit_ids == (REX.id,)
    assert "CITED" in json.loads(model.prompts[0].messages[-1].content)["intents"][0]["marks"]


@pytest.mark.rule("BUILTIN-42")
def test_a_missing_group_is_no_context() -> None:
    evidence = tuple(evidence_for(intent_of(f"q{number}", number), [REX]) for number in (1, 2, 3))
    shown: list[str] = []
    reply = "=== GROUP 3 ===\nThree [1].\n=== GROUP 1 ===\nOne [1].\n=== GROUP 8 ===\nEight."
    solution, _ = solved(reply, evidence=evidence, shown=shown)
    assert solution.answer is not None
    assert [item.intent_ref for item in solution.answer.groups] == [1, 2, 3]
    assert [item.status for item in solution.answer.groups] == ["answered", "no-context", "answered"]
    assert solution.answer.groups[2].answer_markdown == "Three [1]."
    assert "8" in solution.metadata.warnings[0]
    assert shown == []


@pytest.mark.rule("PLUGIN-6", "BUILTIN-41")
def test_the_model_gets_intent_and_evidence_without_ids() -> None:
    told = EvidenceEntry(unit=unit("u-9", "Answer briefly.", phase_scopes=("gs-plugin",)), score=0, store="session")
    evidence = replace(
        evidence_for(intent_of("What is it?"), [REX, CAR, replace(REX, id="another")]),
        guidance=GuidanceUnits(goal_solver=(told,)),
    )
    session_id = "sess-" + "0123456789abcdef" * 2
    _, model = solved(
        "Rex [1].",
        evidence=(evidence,),
        history=(HistoryMessage(role="assistant", content=f"See {session_id}."),),
        system_prompt="You are a vet.",
        message=f"What is it in {session_id}?",
        requested_model="wished",
        session_model="usual",
    )
    (prompt,) = model.prompts
    said = json.loads(prompt.messages[-1].content)
    (intent,) = said["intents"]
    assert intent["prompt"] == "[identify] What is it?\nExpected output: answer"
    assert [item["number"] for item in intent["context"]] == [1, 2]
    assert set(intent["context"][0]) == {"number", "title", "sourceLink", "text"}
    assert "Claim: My dog is called Rex." in intent["context"][0]["text"]
    assert [item["sourceLink"] for item in intent["context"]] == ["source-1", "source-2"]
    assert intent["guidance"] == ["Answer briefly."]
    assert prompt.system.startswith("You are a vet.")
    assert prompt.wish == "wished"
    everything = json.dumps([item.content for item in prompt.messages])
    assert session_id not in everything
    assert not {REX.id, CAR.id, "src-9"} & set(everything.split('"'))
    assert "sess-*" in said["message"]


@pytest.mark.rule("BUILTIN-44")
def test_equal_content_gives_an_equal_prompt_whatever_the_ids() -> None:
    first = solved("Rex [1].", REX, CAR)[1].prompts
    second = solved("Rex [1].", replace(REX, id="x", source_id="s"), replace(CAR, id="y", source_id="t"))[1].prompts
    assert first == second


def test_a_provider_that_fails_is_an_error_under_its_code() -> None:
    solution, _ = solved(ModelFailed("It broke."), REX)
    assert solution.error is not None
    assert (solution.status, solution.error.code, solution.metadata.llm_calls) == ("error", "LLM_PROVIDER_ERROR", 1)


@pytest.mark.rule("BUILTIN-16")
def test_the_deep_one_differs_in_role_alone() -> None:
    model = ScriptedModel("Rex [1].")
    deep_solver().solve(solve_input("What?", [REX]), call_context(model=model))
    assert model.prompts[0].role == "goal-deep"
    assert model.prompts[0].system == solved("Rex [1].", REX)[1].prompts[0].system


@pytest.mark.rule("BUILTIN-15")
def test_a_missing_prompt_stops_the_start() -> None:
    with pytest.raises(RegistryError):
        load_prompt("mrpvm.plugins.goal_solvers.llm", "nothing")
    with pytest.raises(RegistryError):
        load_prompt("mrpvm.plugins.goal_solvers.llm", "solve")


# --- Streaming ---------------------------------------------------------------------------------------------

SCRAPS = st.sampled_from(
    ["[", "]", "[1", "[1]", "[2][9]", "[1, 3]", "(", "\\", " ", "\n", "C", "CI", "CITED", "CITED:", "CITED: 2",
     "\nCITED: 1", "UNANS", "UNANSWERABLE", "=", "=== GROUP 1 ===\n", "===", "word",
     ".", "```", "```json\n", "1", ",", "\t"]
)  # fmt: skip


@pytest.mark.rule("DECISION-1")
@example(["=== GROUP 1 ===\n", "["], True, False, 0)
@example(["=== GROUP 1 ===\n", "C"], True, False, 0)
@given(st.lists(SCRAPS | st.text(max_size=3), max_size=12), st.booleans(), st.booleans(), st.integers(0, 3))
def test_what_is_shown_early_begins_what_is_given_in_the_end(
    scraps: list[str], has_marks: bool, needs_source: bool, offered_count: int
) -> None:
    shown: list[str] = []
    reader = AnswerReader(offered_count, has_marks=has_marks, needs_source=needs_source, show=shown.append)
    for scrap in scraps:
        reader.feed(scrap)
    reading = reader.close()
    is_used = not reading.is_no_context and (bool(reading.places) or not needs_source)
    assert "".join(shown) == (reading.text if is_used else "")
    assert all(1 <= place <= offered_count for place in reading.places)
    assert reading == whole("".join(scraps), has_marks, needs_source, offered_count)


def whole(text: str, has_marks: bool, needs_source: bool, offered_count: int) -> CitedText:
    """Return the result of reading a text in one piece."""
    reader = AnswerReader(offered_count, has_marks=has_marks, needs_source=needs_source, show=lambda text: None)
    reader.feed(text)
    return reader.close()


def test_words_flow_and_only_what_is_open_is_held_back() -> None:
    shown: list[str] = []
    reader = AnswerReader(2, has_marks=True, needs_source=False, show=shown.append)
    for piece in ("Rex is", " a dog ", "[2", "]", ". CI", "A", "\nCIT", "ED: 1"):
        reader.feed(piece)
    assert shown == ["Rex is", " a dog", " [1]. CI", "A"]
    assert reader.close() == CitedText(text="Rex is a dog [1]. CIA", places=(2, 1), unknown=())


def test_strict_shows_nothing_before_the_first_source() -> None:
    shown: list[str] = []
    reader = AnswerReader(1, has_marks=True, needs_source=True, show=shown.append)
    for piece in ("Rex is a dog [1]", ". And", " four."):
        reader.feed(piece)
    assert shown == ["Rex is a dog [1]. And", " four."]


def test_a_context_of_the_wrong_kind_is_never_needed() -> None:
    """A solver may be called outside of a turn, without a stream."""
    context: CallContext = call_context(model=ScriptedModel("Rex [1]."))
    assert SOLVER.solve(SolveInput(message="x", evidence=solve_input("x", [REX]).evidence), context).status == "success"

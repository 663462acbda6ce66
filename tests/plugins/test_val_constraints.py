"""val-constraints: visible errors are rejected with a reason; everything else is accepted."""

from copy import replace

import pytest

from mrpvm.contracts import ValidateInput, Validation
from mrpvm.plugins.response_validators.constraints import ConstraintValidator
from mrpvm.testing import call_context, unit
from mrpvm.testing.conformance import evidence_for, intent_of
from mrpvm.values import Answer, AnswerGroup, Evidence, EvidenceEntry, GuidanceUnits, KnowledgeUnit

UNITS = (
    unit("a", "My dog is called Rex."),
    unit("b", "The pump weighs 85 kg."),
    unit("c", "The valve is part of the pump.", subject="The valve", relation="part_of", object="the pump"),
)


def evidence(output: str = "answer", units: tuple[KnowledgeUnit, ...] = UNITS, **guidance: str) -> Evidence:
    found = evidence_for(intent_of("What about my dog?", output=output), units)
    rules = {
        bucket: (EvidenceEntry(unit=unit("rule", text, phase_scopes=("val-plugin",)), score=0.0, store="session"),)
        for bucket, text in guidance.items()
    }
    return replace(found, guidance=GuidanceUnits(**rules))  # type: ignore[arg-type]


def group(found: Evidence, text: str, cited: tuple[str, ...] = ("a",), **fields: object) -> AnswerGroup:
    plain = AnswerGroup(
        intent_ref=1,
        act="identify",
        intent=found.intent.target,
        status="answered",
        answer_markdown=text,
        evidence=found.entries,
        cited_unit_ids=cited,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def judge(found: Evidence, *groups: AnswerGroup, message: str = "What about my dog?") -> Validation:
    request = ValidateInput(message=message, answer=Answer(groups=groups), evidence=(found,))
    return ConstraintValidator().validate(request, call_context())


def reason(text: str, found: Evidence | None = None, **fields: object) -> str:
    given = found or evidence()
    verdict = judge(given, group(given, text, **fields))  # type: ignore[arg-type]
    assert (verdict.status == "rejected") == bool(verdict.reason)
    return verdict.reason


@pytest.mark.parametrize(
    "text",
    ["My dog is called Rex. [1]", "Noted: My dog is called Rex. [1]", "Yes. The pump weighs 85 kg. [2]", "rex",
     "The valve is part of the pump.", "Dog. Valve. Pump."],
)  # fmt: skip
def test_what_the_evidence_says_is_accepted(text: str) -> None:
    assert reason(text) == ""


@pytest.mark.rule("BUILTIN-45")
def test_no_context_groups_are_accepted() -> None:
    found = evidence(output="json")
    assert judge(found, group(found, "nothing", (), status="no-context", evidence=())).status == "accepted"


@pytest.mark.rule("BUILTIN-45")
def test_every_intent_needs_its_group_and_no_other() -> None:
    found = evidence()
    good = group(found, "Rex")
    assert "Intent group 1 has no answer group" in judge(found).reason
    assert "Answer group 2 belongs to no intent" in judge(found, good, replace(good, intent_ref=2)).reason
    assert "answered twice" in judge(found, good, good).reason


@pytest.mark.rule("BUILTIN-45")
def test_an_answer_needs_evidence_or_a_helper() -> None:
    assert "without evidence" in reason("Rex.", evidence=(), cited=())
    assert reason("Rex.", evidence=(), cited=(), plugin_output={"result": "Rex."}) == ""
    assert reason("Rex.", evidence=(), cited=(), grounded=False) == ""


@pytest.mark.rule("BUILTIN-45", "ANSWER-9")
def test_foreign_sources_are_rejected() -> None:
    assert "names z" in reason("Rex.", cited=("a", "z"))
    foreign = EvidenceEntry(unit=unit("z", "Rex."), score=1.0, store="kb")
    assert "names z" in reason("Rex.", evidence=(foreign,))


@pytest.mark.rule("BUILTIN-45")
@pytest.mark.parametrize(
    ("output", "good", "bad", "named"),
    [
        ("one_word", "Rex [1]", "Called Rex", "one word"),
        ("yes_no", "No", "It is so", "yes or no"),
        ("json", '{"answer": "Rex"}', "{Rex}", "valid JSON"),
        ("bullet_list", "- Rex [1]\n- the pump", "Rex\n- the pump", "a list"),
        ("table", "| a | b |\n| --- | --- |\n| dog | Rex |", "| a | b |\n| dog | Rex |", "a table"),
        ("step_by_step", "1. Rex\n2. the pump", "1. Rex\n3. the pump", "steps numbered from 1"),
    ],
)
def test_forms(output: str, good: str, bad: str, named: str) -> None:
    assert reason(good, evidence(output)) == ""
    assert named in reason(bad, evidence(output))


def test_forms_of_guidance_count_when_the_intent_names_none() -> None:
    assert "one word" in reason("Called Rex", evidence(goal_solver="Answer in one word."))
    assert reason('{"answer": "Rex"}', evidence("json", goal_solver="Answer in one word.")) == ""
    assert reason("Noted: My dog is called Rex.", evidence("acknowledgement", goal_solver="Answer in JSON.")) == ""


@pytest.mark.rule("BUILTIN-37", "BUILTIN-45", "ANSWER-9")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("The pump weighs 90 kg.", "90"),
        ("My dog is called Bello.", "Bello"),
        ('{"answer": "The pump weighs 90 kg."}', "90"),
        ("1. The pump\n2. is Bello", "Bello"),
        ("| dog | name |\n| --- | --- |\n| the dog | called Bello |", "Bello"),
    ],
)
def test_invented_numbers_and_names_are_rejected(text: str, what: str) -> None:
    assert what in reason(text)


def test_the_question_may_be_repeated() -> None:
    found = evidence()
    assert judge(found, group(found, "Rex is not Bello, who is 7."), message="Is Rex Bello, 7?").status == "accepted"


def test_numbers_of_source_marks_and_steps_are_no_claims() -> None:
    assert reason("1. My dog [12]\n2. the pump [3]") == ""


def test_a_number_at_the_start_of_a_line_is_no_step() -> None:
    said = evidence(units=(unit("a", "2.5 litres of oil are needed."),))
    assert reason("2.5 litres of oil are needed. [1]", said) == ""
    assert "3.5" in reason("3.5 litres of oil are needed. [1]", said)


def test_ungrounded_groups_may_say_more() -> None:
    assert reason("Paris has 20 districts.", grounded=False) == ""


@pytest.mark.rule("BUILTIN-45")
def test_contradicting_an_exclusive_fact_is_rejected() -> None:
    assert "contradicts c" in reason("The valve is part of the dog.")


@pytest.mark.rule("BUILTIN-45")
@pytest.mark.parametrize(
    ("rule", "text", "broken"),
    [
        ("Answers must not mention the pump.", "The pump weighs 85 kg.", True),
        ("Never mention Rex.", "The pump weighs 85 kg.", False),
        ("Answers must mention Rex.", "The pump weighs 85 kg.", True),
        ("Answers must mention Rex.", "My dog is called Rex.", False),
        ("Do not mention pumps.", "The pump weighs 85 kg.", False),
    ],
)
def test_mention_rules(rule: str, text: str, broken: bool) -> None:
    assert bool(reason(text, evidence(validation=rule))) == broken

"""Diagnosis of planted causes: the right one is first, confirmed by its trial."""

import pytest

from bench.causes import CASES, Planted, planted, searched
from sessions_app.experiments.diagnosis.search import Bounds, Expectation
from sessions_app.queries.experiments.experiments import ranked_findings
from tests.experiments.conftest import Talk, diagnosed, stored

RIGHT_FIRST = 27


def test_the_right_cause_is_first_in_27_of_30(talk: Talk) -> None:
    found = []
    for case in CASES:
        with planted(talk, case) as turn:
            found.append(searched(stored(turn), case))
    wrong = [(each.case.kind, each.case.question, each.first) for each in found if not each.is_right]
    assert len(CASES) - len(wrong) >= RIGHT_FIRST, wrong
    assert max(each.trial_count for each in found) <= 60
    assert {each.clicks for each in found if each.is_right} <= {0, 1}


def test_every_kind_is_planted_six_times() -> None:
    kinds = [case.kind for case in CASES]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("unit", "missing-base", "cut", "plugin", "rewrite"), 6
    )


def test_an_answer_that_is_as_expected_needs_no_search(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    result = diagnosed(turn, Expectation(should_contain="rex")).result
    assert result is not None
    assert result["result"] == "met"


def test_a_passage_that_is_only_quoted_is_not_yet_the_answer(talk: Talk) -> None:
    turn = talk(
        "Anna works in Leeds. Maria works in Turin.",
        "Where does Anna work?",
        "And the town that Maria has her desk in?",
    )
    assert turn.answer_basis == "quoted"
    result = diagnosed(turn, Expectation(should_contain="Turin")).result
    assert result is not None
    assert result["result"] != "met"


def test_earlier_settings_of_the_session_are_tried(talk: Talk) -> None:
    told, asked = "Anna works in Leeds. Maria works in Turin.", "And the town that Maria has her desk in?"
    turn = talk(told, "Where does Anna work?", asked, flags={"enable_quotes": False})
    found = diagnosed(turn, Expectation(should_contain="Turin"))
    (setting,) = [finding for _, finding in ranked_findings(found) if finding["kind"] == "setting"]
    assert setting["text"].startswith("Turn 2 was asked with quotes on; so again: ")
    assert setting["meets"]


def test_without_expectation_units_that_decide_are_found(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    findings = [finding for _, finding in ranked_findings(diagnosed(turn))]
    assert [finding["kind"] for finding in findings][:1] == ["unit"]
    assert "Rex" in findings[0]["text"]


def test_what_the_bounds_leave_out_is_named(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    found = diagnosed(turn, Expectation(should_contain="nothing of that"), Bounds(max_trials=1))
    assert found.tried_count == 1
    assert found.result is not None
    assert "other plugins" in found.result["not_tried"]


@pytest.mark.parametrize("case", CASES[:1])
def test_a_finding_tells_what_comes_instead(talk: Talk, case: Planted) -> None:
    expectation = Expectation(should_contain=case.expected, should_not_contain=case.unexpected)
    with planted(talk, case) as turn:
        (proof, first), *_ = ranked_findings(diagnosed(turn, expectation))
    assert case.expected.casefold() in proof.answer.casefold()
    assert first["links"][0]["kind"] == "unit"
    assert proof.trace is not None

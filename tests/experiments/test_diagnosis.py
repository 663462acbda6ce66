"""The planted causes: the right one comes first, proved by its trial."""

import pytest

from sessions_app.experiments.diagnosis import diagnose
from sessions_app.experiments.search import Bounds, Expectation
from tests.experiments.conftest import Talk, stored
from tests.experiments.planted import CASES, Planted, planted

RIGHT_FIRST = 27


def test_the_right_cause_is_first_in_27_of_30(talk: Talk) -> None:
    wrong = []
    for case in CASES:
        expected = Expectation(should_contain=case.expected, should_not_contain=case.unexpected)
        with planted(talk, case) as turn:
            found = diagnose(stored(turn), expected)
        first = found.findings[0] if found.findings else None
        if first is None or not first.meets or first.kind != case.kind:
            wrong.append((case.kind, case.asked, found.result, first and (first.kind, first.text)))
        assert found.tried_count <= 60
    assert len(CASES) - len(wrong) >= RIGHT_FIRST, wrong


def test_every_kind_is_planted_six_times() -> None:
    kinds = [case.kind for case in CASES]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("unit", "missing-base", "cut", "plugin", "rewrite"), 6
    )


def test_an_answer_that_is_as_expected_needs_no_search(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    assert diagnose(turn, Expectation(should_contain="rex")).result == "met"


def test_without_expectation_units_that_decide_are_found(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    found = diagnose(turn, Expectation())
    assert [finding.kind for finding in found.findings][:1] == ["unit"]
    assert "Rex" in found.findings[0].text


def test_what_the_bounds_leave_out_is_named(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    found = diagnose(turn, Expectation(should_contain="nothing of that"), Bounds(max_trials=1))
    assert found.tried_count == 1
    assert "other plugins" in found.not_tried


@pytest.mark.parametrize("case", CASES[:1])
def test_a_finding_tells_what_comes_instead(talk: Talk, case: Planted) -> None:
    with planted(talk, case) as turn:
        [first, *_] = diagnose(turn, Expectation(should_contain=case.expected)).findings
    assert case.expected.casefold() in first.outcome.answer.casefold()
    assert first.links[0].kind == "unit"

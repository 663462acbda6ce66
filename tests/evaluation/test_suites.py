"""The evaluation's stories: as they are, renamed, and inverted."""

from functools import cache

import pytest

from bench.evaluation.runs import SuiteRun, by_variant, run_all, tally
from bench.evaluation.suites import DEVELOPMENT, FURTHER, HELD_OUT, VARIANTS, load_suites, renamed

DROP_MAX = 0.1
"""How much lower than the originals' pass rate a variant's may be."""


@cache
def development() -> tuple[SuiteRun, ...]:
    """Run the development suites once for all tests of a process."""
    return run_all(load_suites(DEVELOPMENT))


def failures(runs: tuple[SuiteRun, ...]) -> list[str]:
    """Return a line for every wrong answer."""
    return [
        f"{run.suite_id}/{item.question.id} {run.variant}: {item.question.input} -> {item.text} {item.reasons}"
        for run in runs
        for item in run.judgements
        if item.outcome == "wrong"
    ]


def test_there_are_sixty_questions_of_six_stories_in_each_set() -> None:
    for directory in (DEVELOPMENT, FURTHER, HELD_OUT):
        suites = load_suites(directory)
        assert len(suites) >= 6
        for variant in VARIANTS:
            assert sum(len(suite.variant(variant).questions) for suite in suites) >= 60


@pytest.mark.rule("DECISION-11")
@pytest.mark.xdist_group("evaluation")
def test_at_most_one_of_sixty_answers_is_wrong() -> None:
    counts = by_variant(development())["original"]
    assert counts.wrong <= 1, failures(development())
    assert counts.right >= 36
    assert counts.f1 >= 0.6


@pytest.mark.rule("DECISION-11")
@pytest.mark.xdist_group("evaluation")
def test_of_all_variants_five_may_be_wrong() -> None:
    counts = tally(item for run in development() for item in run.judgements)
    assert counts.count >= 180
    assert counts.wrong <= 5, failures(development())


@pytest.mark.rule("DECISION-11", "DECISION-41", "BUILTIN-39", "EVAL-15")
@pytest.mark.xdist_group("evaluation")
def test_renaming_and_inverting_cost_at_most_a_tenth() -> None:
    counts = by_variant(development())
    for variant in ("renamed", "inverted"):
        assert counts[variant].pass_rate >= counts["original"].pass_rate - DROP_MAX


@pytest.mark.rule("DECISION-11", "BUILTIN-38", "EVAL-15")
@pytest.mark.xdist_group("evaluation")
def test_every_answer_comes_out_the_same_under_other_names() -> None:
    runs = {(run.suite_id, run.variant): run for run in development()}
    for suite in load_suites(DEVELOPMENT):
        pairs = zip(
            runs[suite.suite_id, "original"].judgements, runs[suite.suite_id, "renamed"].judgements, strict=True
        )
        for plain, other in pairs:
            assert renamed(plain.text, suite.renames).lower() == other.text.lower(), plain.question.input


@pytest.mark.xdist_group("evaluation")
def test_two_runs_give_the_same_answers() -> None:
    suite = load_suites(DEVELOPMENT)[0]
    again = run_all([suite])
    first = [run for run in development() if run.suite_id == suite.suite_id]
    assert [item.text for run in again for item in run.judgements] == [
        item.text for run in first for item in run.judgements
    ]


@pytest.mark.rule("BUILTIN-37", "BUILTIN-38")
def test_a_question_of_another_story_is_answered_by_none() -> None:
    from bench.evaluation.session import EvaluatedSession

    suites = load_suites(DEVELOPMENT)
    answered = []
    for suite in suites:
        with EvaluatedSession() as session:
            session.load(suite.story, suite.story_name)
            for other in suites:
                if other is suite:
                    continue
                answered += [
                    (suite.suite_id, question.input)
                    for question in other.questions
                    if session.say(question.input).answer_status == "answered"
                ]
    assert answered == []

"""Tests of answers: kept from turns or asked of bases, run against other states, and compared between runs."""

from collections.abc import Callable
from copy import replace
from typing import Any

import pytest
from pytest_django import Settings

from mrpvm.errors import Conflict, InvalidInput
from mrpvm.values import Selection
from sessions_app.actions.experiments.experiments import delete_experiment
from sessions_app.actions.experiments.suites import (
    TestFields,
    add_test,
    change_test,
    create_suite,
    delete_suite,
    order_tests,
    remove_test,
)
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.sessions.session import create_session
from sessions_app.experiments.suites.expected import Answered, Expected, check_expected, failures_of
from sessions_app.experiments.suites.questions import AS_KEPT, Target
from sessions_app.experiments.suites.suites import check_test, kept_turn, start_base_tests, start_run
from sessions_app.experiments.trials.changes import Changes
from sessions_app.models import Experiment, ExplainabilityTurn, KnowledgeBase, Project, Session, Suite, SuiteRun
from sessions_app.queries.experiments import suites
from sessions_app.queries.sessions.lookups import listed_sessions
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.experiments.conftest import ANNA, GATE_A, Talk, ran

WHICH = "Which gate does the ferry to Nore leave from?"
ANSWERED = Answered(
    text="The ferry leaves from gate A. [1]",
    status="answered",
    basis="stated",
    cited_unit_ids=["unit-1"],
    cited_sources=["ferries.md"],
    plugins=["gs-symbolic"],
    token_count=120,
    duration_ms=30,
)


@pytest.mark.parametrize(
    ("expected", "failure"),
    [
        (Expected(contains=("GATE  a",)), ""),
        (Expected(contains=("gate B",)), "does not contain “gate B”"),
        (Expected(does_not_contain=("gate A",)), "contains “gate A”"),
        (Expected(equals="the ferry leaves from gate A."), ""),
        (Expected(equals="Gate A."), "is not “Gate A.”"),
        (Expected(matches=r"gate [A-C]\b"), ""),
        (Expected(matches=r"^gate"), "does not match ^gate"),
        (Expected(status="answered", basis="stated"), ""),
        (Expected(status="no-context"), "status is answered, not no-context"),
        (Expected(basis="quoted"), "basis is stated, not quoted"),
        (Expected(cites=("unit-1",), cites_sources=("ferries.md",), cites_nothing_else=True), ""),
        (Expected(cites=("unit-2",)), "does not cite the unit unit-2"),
        (Expected(cites_sources=("trains.md",)), "does not cite the source trains.md"),
        (Expected(cites=("unit-2",), cites_nothing_else=True), "also cites the unit unit-1"),
        (Expected(uses=("gs-symbolic",)), ""),
        (Expected(uses=("gs-llm",)), "gs-llm was not used, but gs-symbolic"),
        (Expected(max_tokens=100), "took 120 tokens, more than 100"),
        (Expected(reference_ms=10, max_times=3.0), ""),
        (Expected(reference_ms=10, max_times=2.0), "took 3.0 times the reference of 10 ms"),
    ],
)
def test_an_answer_is_held_against_what_is_expected(expected: Expected, failure: str) -> None:
    check_expected(expected)
    assert Expected.of_record(expected.as_record()) == expected
    said = " ".join(failures_of(expected, ANSWERED))
    assert failure in said if failure else not said


def test_a_pattern_that_runs_away_fails_in_time() -> None:
    runaway = Expected(matches=r"(a|aa)+$")
    [failure] = failures_of(runaway, replace(ANSWERED, text="a" * 60 + "b"))
    assert "was not found within" in failure


@pytest.mark.parametrize(
    "expected",
    [
        Expected(), Expected(reference_ms=3), Expected(matches="("), Expected(status="fine"), Expected(basis="rumour"),
        Expected(cites_nothing_else=True), Expected(max_tokens=0), Expected(contains=(" ",)),
        Expected(equals="x" * 4001), Expected(contains=("x",) * 51),
    ],
)  # fmt: skip
def test_an_expectation_that_cannot_be_held_is_refused(expected: Expected) -> None:
    with pytest.raises(InvalidInput):
        check_expected(expected)


def asks(base: KnowledgeBase, contains: str = "gate B", **more: Any) -> TestFields:
    """Return a test that asks a base about the gate."""
    expected = Expected(contains=(contains,)).as_record()
    return TestFields(**{"name": "gate", "message": WHICH, "base": base, "expected": expected, **more})


def outcomes(suite: Suite, target: Target = AS_KEPT) -> dict[str, str]:
    """Return the outcomes of the tests in a run that has ended."""
    run = start_run(suite, target, ANNA, wait_ms=30_000)
    ran(run.experiment)
    return {result.name: result.outcome for result in suites.results(run)}


def test_a_base_is_asked_as_it_was_and_as_it_is(suite: Suite, handbook: KnowledgeBase) -> None:
    now, then = asks(handbook), asks(handbook, "gate A", name="then", revision=2)
    for fields in (now, then):
        check_test(fields)
        add_test(suite, fields, ANNA)
    assert outcomes(suite) == {"gate": "passed", "then": "passed"}
    assert outcomes(suite, Target(base=handbook.kb_id, revision=2)) == {"gate": "failed", "then": "passed"}
    assert outcomes(suite, Target(heads=True)) == {"gate": "passed", "then": "failed"}
    [failed] = [each for each in suites.results(suites.runs(suite)[0]) if each.outcome == "failed"]
    assert failed.failures == ["The answer does not contain “gate A”."]
    assert failed.trial.trace is not None
    assert list(listed_sessions(suite.project)) == []


def test_a_turn_is_kept_with_what_it_answered(talk: Talk, suite: Suite, handbook: KnowledgeBase) -> None:
    turn = talk(GATE_A, WHICH)
    fields = kept_turn(turn)
    expected = Expected.of_record(fields.expected)
    assert (expected.contains, expected.status, len(expected.cites)) == ((GATE_A,), "answered", 1)
    assert (fields.message, fields.turn) == (WHICH, turn)
    add_test(suite, fields, ANNA)
    assert outcomes(suite) == {WHICH: "passed"}
    no_plugin = Target(choices=Changes(without_plugins=("gs-symbolic",)))
    assert outcomes(suite, no_plugin) == {WHICH: "failed"}


def saved_over(session: Session, base: KnowledgeBase, *messages: str) -> ExplainabilityTurn:
    """Return the last turn of a session that mounts a base and is told these messages."""
    mount_base(session, base, reason="load-api")
    for message in messages:
        turn = run_turn(Session.objects.get(pk=session.pk), TurnCall(message=message)).turn
    return turn


def test_a_save_is_tried_before_it_is_made(suite: Suite, project: Project, handbook: KnowledgeBase) -> None:
    session = create_session(project)
    turn = saved_over(
        session, handbook, "The ferry to Aska leaves from gate C.", "Which gate does the ferry to Aska use?"
    )
    other = create_base(project, "Other")
    aska = TestFields(name="Aska", message="Which gate does the ferry to Aska leave from?", base=handbook,
                      expected=Expected(contains=("gate C",)).as_record())  # fmt: skip
    kept = replace(kept_turn(turn), name="kept")
    for fields in (asks(handbook), aska, kept, asks(other, name="of another base")):
        add_test(suite, fields, ANNA)
    draft = Target(draft=session.session_id)
    assert outcomes(suite, Target(heads=True))["Aska"] == "failed"
    before_save = outcomes(suite, draft)
    assert before_save == {"gate": "passed", "Aska": "passed", "kept": "passed"}
    save_session_kb(Session.objects.get(pk=session.pk))
    saved = outcomes(suite, Target(heads=True))
    assert {name: saved[name] for name in before_save} == before_save


def test_a_save_may_have_to_be_tested_first(
    suite: Suite, project: Project, handbook: KnowledgeBase, settings: Settings
) -> None:
    settings.MRPVM_REQUIRE_TESTS = True
    add_test(suite, asks(handbook), ANNA)
    session = create_session(project)
    saved_over(session, handbook, "The ferry to Aska leaves from gate C.")

    def save() -> None:
        save_session_kb(Session.objects.get(pk=session.pk))

    draft = Target(draft=session.session_id)
    start_base_tests(handbook, draft, ANNA, wait_ms=30_000)
    run_turn(Session.objects.get(pk=session.pk), TurnCall(message="The ferry to Orm leaves from gate D."))
    with pytest.raises(Conflict) as refused:
        save()
    assert refused.value.code == "TESTS_REQUIRED"
    start_base_tests(handbook, draft, ANNA, wait_ms=30_000)
    save()
    base = KnowledgeBase.objects.get(pk=handbook.pk)
    start_base_tests(base, Target(base=base.kb_id, revision=2), ANNA, wait_ms=30_000)
    with pytest.raises(Conflict) as refused:
        restore_revision(base, 2)
    assert refused.value.code == "TESTS_REQUIRED"
    other = create_base(project, "Other")
    add_test(suite, asks(other, name="other"), ANNA)
    run_turn(Session.objects.get(pk=session.pk), TurnCall(message="The ferry to Ree leaves from gate E."))
    start_base_tests(base, draft, ANNA, wait_ms=30_000)
    with pytest.raises(Conflict) as refused:
        save_session_kb(Session.objects.get(pk=session.pk), target=other, expected_revision=other.revision)
    assert refused.value.code == "TESTS_REQUIRED"
    start_base_tests(other, draft, ANNA, wait_ms=30_000)
    save_session_kb(Session.objects.get(pk=session.pk), target=other, expected_revision=other.revision)
    settings.MRPVM_REQUIRE_TESTS = False
    assert restore_revision(base, 2).revision == base.revision + 1


def test_runs_are_compared_and_stand_in_a_matrix(suite: Suite, handbook: KnowledgeBase) -> None:
    test = add_test(suite, asks(handbook), ANNA)
    gone = add_test(suite, asks(handbook, name="gone"), ANNA)
    outcomes(suite)
    remove_test(gone)
    outcomes(suite, Target(base=handbook.kb_id, revision=2))
    later, earlier = suites.runs(suite)
    assert (later.passed_count, later.failed_count, earlier.passed_count) == (0, 1, 2)
    assert suites.earlier_run(later) == earlier
    found = suites.difference(earlier, later)
    assert (found.broken, found.fixed, found.same_count) == (["gate"], [], 0)
    assert suites.difference(later, earlier).fixed == ["gate"]
    table = suites.matrix(suite)
    shown = {name: [result and result.outcome for result in row] for name, row in table.cells.items()}
    assert shown == {"gate": ["passed", "failed"], "gone": ["passed", None]}
    change_test(test, asks(handbook, "gate C"))
    assert outcomes(suite) == {"gate": "failed"}


def test_a_test_that_cannot_be_run_is_an_error(suite: Suite, handbook: KnowledgeBase) -> None:
    test = add_test(suite, asks(handbook), ANNA)
    run = start_run(suite, Target(base="kb-nobody"), ANNA, wait_ms=30_000)
    [result] = suites.results(run)
    assert (result.outcome, result.failures) == ("error", [])
    assert (result.trial.error or {})["code"] == "KB_NOT_FOUND"
    type(test).objects.update(base=None)
    assert outcomes(suite) == {"gate": "error"}


@pytest.mark.parametrize(
    "target",
    [
        Target(revision=2), Target(base="kb-1", heads=True), Target(tags=("nobody",)),
        Target(choices=Changes(pins=Selection(goal_solver="gs-nobody"))),
    ],
)  # fmt: skip
def test_a_run_that_makes_no_sense_is_refused(suite: Suite, handbook: KnowledgeBase, target: Target) -> None:
    add_test(suite, asks(handbook), ANNA)
    with pytest.raises(InvalidInput):
        start_run(suite, target, ANNA)
    assert not SuiteRun.objects.exists()


def test_names_are_unique_and_tests_keep_their_order(suite: Suite, handbook: KnowledgeBase) -> None:
    with pytest.raises(Conflict) as refused:
        create_suite(suite.project, " Ferries ", ANNA)
    assert refused.value.code == "SUITE_EXISTS"
    first, second = (add_test(suite, asks(handbook, name=name, tags=("ferry",)), ANNA) for name in ("one", "two"))
    with pytest.raises(Conflict) as refused:
        add_test(suite, asks(handbook, name="one"), ANNA)
    assert refused.value.code == "TEST_EXISTS"
    order_tests(suite, [second.test_id])
    assert [test.name for test in suites.tests_of(suite)] == ["two", "one"]
    assert list(outcomes(suite, Target(tags=("ferry",)))) == ["two", "one"]
    assert first.tags == ["ferry"]


@pytest.mark.parametrize("removed", [delete_suite, lambda suite: delete_experiment(suite.runs.get().experiment)])
def test_what_is_removed_takes_its_traces_along(
    suite: Suite, handbook: KnowledgeBase, removed: Callable[[Suite], None]
) -> None:
    add_test(suite, asks(handbook), ANNA)
    outcomes(suite)
    assert ExplainabilityTurn.with_trials.count() == 1
    removed(Suite.objects.get(pk=suite.pk))
    assert not ExplainabilityTurn.with_trials.exists()
    assert not Experiment.objects.exists()

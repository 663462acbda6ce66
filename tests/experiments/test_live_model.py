"""Trials and tests that may call a model: the estimate, the budget and the recorded cost."""

from collections import deque
from dataclasses import asdict
from decimal import Decimal

import pytest
from pytest_django import Settings

from mrpvm.errors import Conflict, Unavailable
from mrpvm.values import Selection
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.experiments.diagnosis.search import USUAL_BOUNDS, Expectation
from sessions_app.experiments.running.experiments import (
    estimate_rest,
    estimate_trials,
    start_diagnosis,
    start_more_trials,
    start_trials,
)
from sessions_app.experiments.suites.expected import Expected
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.suites.suites import kept_turn, start_run
from sessions_app.experiments.trials.changes import Changes
from sessions_app.models import ExplainabilityTurn, FrozenContent, KnowledgeBase, Session, Trial
from sessions_app.queries.experiments import suites
from sessions_app.queries.experiments.experiments import ranked_findings, trials
from sessions_app.queries.sessions.frozen_content import personas_of
from tests.configured_model import ACCEPTED, acting
from tests.experiments.conftest import ANNA, Talk, diagnosed, ran
from tests.experiments.test_suites import asks
from tests.llm.provider import Asked, Provider, say

pytestmark = pytest.mark.django_db(transaction=True)
OTHER = Changes(message="What is the name of my dog?")


@pytest.fixture
def turn(provider: Provider, talk: Talk, settings: Settings) -> ExplainabilityTurn:
    settings.MRPVM_LLM_INPUT_PRICE, settings.MRPVM_LLM_OUTPUT_PRICE = 100, 400
    return talk("My dog is called Rex.", "What is my dog called?")


def live(turn: ExplainabilityTurn, *changes: Changes) -> list[Trial]:
    """Run trials that may call a model; return them after their end."""
    made = start_trials(turn.session, turn, changes, ANNA, allow_model=True, wait_ms=30_000)
    assert made.asks_models
    return trials(ran(made))


def test_a_model_is_asked_what_was_not_recorded(provider: Provider, turn: ExplainabilityTurn) -> None:
    asked_count = len(provider.asked)
    same, other = live(turn, Changes(), OTHER)
    assert (same.status, same.cost, other.status) == ("succeeded", Decimal(0), "succeeded")
    assert len(provider.asked) > asked_count
    assert other.cost is not None
    assert other.cost > 0
    assert other.token_count


def test_an_estimate_comes_before_and_bounds_the_trials(
    provider: Provider, turn: ExplainabilityTurn, settings: Settings
) -> None:
    found = estimate_trials(turn.session, turn, "", 2)
    assert found.is_allowed
    assert found.call_count >= 2
    assert found.cost is not None
    asked_count = len(provider.asked)
    settings.MRPVM_TRIAL_BUDGET = found.token_count - 1
    with pytest.raises(Conflict) as refused:
        start_trials(turn.session, turn, [OTHER, OTHER], ANNA, allow_model=True)
    assert refused.value.code == "TRIAL_BUDGET"
    assert len(provider.asked) == asked_count
    assert not Trial.objects.exists()


def test_nothing_is_asked_once_the_budget_is_spent(
    provider: Provider, turn: ExplainabilityTurn, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MRPVM_TRIAL_BUDGET = 1
    monkeypatch.setattr("sessions_app.experiments.running.experiments.check_allowed", lambda found, project: None)
    first, second = live(turn, OTHER, Changes(message="How is my dog called, please?"))
    assert second.status == "needs-model"
    assert second.missing_request is not None
    made = first.experiment
    again = ran(start_more_trials(made, [Changes(message="Who is Rex?")], wait_ms=30_000))
    assert again.asks_models


def test_a_search_asks_a_model_only_where_it_was_allowed(provider: Provider, turn: ExplainabilityTurn) -> None:
    asked_count = len(provider.asked)
    expected = Expectation(should_contain="Bello")
    found = diagnosed(turn, expected)
    assert (found.result or {})["result"] == "nothing-found"
    rest = estimate_rest(found)
    assert rest is not None
    assert rest.cost is not None
    assert rest.call_count >= (found.result or {})["needing_model_count"] > 0
    assert len(provider.asked) == asked_count
    provider.otherwise = acting(say("It is Bello [1]."))
    found = ran(start_diagnosis(turn, expected, USUAL_BOUNDS, ANNA, allow_model=True, wait_ms=30_000))
    assert len(provider.asked) > asked_count
    [(proof, first), *_] = ranked_findings(found)
    assert (first["meets"], "Bello" in proof.answer) == (True, True)
    assert proof.cost


def test_settings_that_the_session_has_no_more_are_not_tried(provider: Provider, talk: Talk) -> None:
    asked = "What is my dog called?"
    turn = talk("My dog is called Rex.", "/persona use analyst", asked, "/persona use coach", asked)
    session = turn.session
    others = [persona for persona in personas_of(session).personas if persona.id != "analyst"]
    row = FrozenContent.objects.create(
        key="others", project=session.project, kind="personas",
        content={"personas": [asdict(persona) for persona in others], "diagnostics": []},
    )  # fmt: skip
    Session.objects.filter(pk=session.pk).update(personas=row)
    turn.session.refresh_from_db()
    found = diagnosed(turn, Expectation(should_contain="Bello"))
    assert found.result is not None
    assert "earlier settings of the session" in found.result["not_tried"]


def test_a_search_may_ask_no_more_than_is_allowed(
    provider: Provider, turn: ExplainabilityTurn, settings: Settings
) -> None:
    settings.MRPVM_TRIAL_BUDGET = 1
    with pytest.raises(Conflict) as refused:
        start_diagnosis(turn, Expectation(should_contain="Bello"), USUAL_BOUNDS, ANNA, allow_model=True)
    assert refused.value.code == "TRIAL_BUDGET"


def test_without_a_model_none_may_be_asked(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    with pytest.raises(Unavailable) as refused:
        start_trials(turn.session, turn, [OTHER], ANNA, allow_model=True)
    assert refused.value.code == "LLM_NOT_AVAILABLE"


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("YES, it names the dog.", "passed"), ("**No**: no dog.", "failed"), ("Well.", "error"),
        ("None is wrong: YES.", "error"), ("Yesterday it did.", "error"),
    ],
)  # fmt: skip
def test_a_model_judges_an_answer(provider: Provider, turn: ExplainabilityTurn, words: str, outcome: str) -> None:
    suite = create_suite(turn.session.project, "Judged", ANNA)
    kept = kept_turn(turn)
    expected = Expected(judged="It names the dog.").as_record()
    add_test(suite, type(kept)(name="dog", message=kept.message, turn=turn, expected=expected), ANNA)
    [result] = suites.results(start_run(suite, Target(), ANNA, wait_ms=30_000))
    assert (result.outcome, (result.trial.error or {})["code"]) == ("error", "MODEL_NOT_RECORDED")
    provider.script.append(say(words))
    run = start_run(suite, Target(allow_model=True), ANNA, wait_ms=30_000)
    [result] = suites.results(run)
    assert result.outcome == outcome
    assert result.verdict == (words if outcome != "error" else "")


def test_what_a_model_judges_alike_now_breaks_nothing(provider: Provider, handbook: KnowledgeBase) -> None:
    suite = create_suite(handbook.project, "Judged", ANNA)
    expected, symbolic = Expected(judged="It is polite."), Changes(pins=Selection(goal_solver="gs-symbolic"))
    add_test(suite, asks(handbook, expected=expected.as_record(), choices=symbolic.as_record()), ANNA)
    for present, breaks in (("No.", False), ("Yes.", True)):
        verdicts = deque(("No.", present))

        def answer(asked: Asked) -> None:
            is_judge = "You judge an answer" in asked.body["messages"][0]["content"]
            say(verdicts.popleft() if is_judge else ACCEPTED)(asked)  # noqa: B023

        provider.otherwise = answer
        target = Target(base=handbook.kb_id, revision=2, allow_model=True)
        [result] = suites.results(start_run(suite, target, ANNA, wait_ms=30_000))
        assert (result.outcome, result.breaks) == ("failed", breaks)

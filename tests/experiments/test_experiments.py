"""Experiments are stored apart from the conversation, can be cancelled, and are removed with all their rows."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from pytest_django import Settings

from mrpvm.errors import InvalidInput
from mrpvm.llm.port import Sampling
from sessions_app.actions.experiments.experiments import (
    begin_experiment,
    cancel_experiment,
    close_abandoned_experiments,
    delete_experiment,
    remove_lost_traces,
)
from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.experiments.diagnosis.search import Expectation
from sessions_app.experiments.running import work
from sessions_app.experiments.running.experiments import start_bisect, start_more_trials, start_trials
from sessions_app.experiments.trials.changes import Changes
from sessions_app.models import (
    Experiment,
    ExplainabilityTurn,
    KnowledgeLayer,
    LayerUnit,
    Message,
    PluginStatistics,
    Session,
    TurnEvents,
)
from sessions_app.queries.experiments.dependence import dependences
from sessions_app.queries.experiments.experiments import trials
from sessions_app.queries.turns.registry import cited_unit_ids, events
from sessions_app.running_turns import running_turns
from tests.experiments.conftest import ANNA, Talk, diagnosed, ran, tried

ASKED = ("My dog is called Rex.", "I like tea.", "What is my dog called?")


def conversation(session: Session) -> Any:
    """Return the rows of a session's conversation."""
    statistics = list(PluginStatistics.objects.order_by("pk").values())
    messages = list(Message.objects.filter(session=session).values())
    return Session.objects.values().get(pk=session.pk), messages, list(session.turns.values()), statistics


def test_trials_stand_side_by_side_beside_the_conversation(talk: Talk) -> None:
    turn = talk(*ASKED)
    before = conversation(turn.session)
    same, other = tried(turn, Changes(), Changes(message="What do I like?"))
    assert (same.answer, same.has_effect) == ("My dog is called Rex. [1]", False)
    assert (other.answer, other.has_effect, other.changes) == ("I like tea. [1]", True, {"message": "What do I like?"})
    assert conversation(turn.session) == before


def test_a_trace_of_a_trial_has_the_form_of_a_turn_s(talk: Talk) -> None:
    turn = talk(*ASKED)
    [trial] = tried(turn, Changes())
    assert trial.trace is not None
    assert [event.name for event in events(trial.trace)] == [event.name for event in events(turn)]
    assert (trial.trace.response_document or {})["groups"] == (turn.response_document or {})["groups"]


def test_a_message_that_was_never_sent_is_tried(talk: Talk) -> None:
    session = talk(*ASKED).session
    made = ran(start_trials(session, None, [Changes()], ANNA, message="What do I like?", wait_ms=30_000))
    assert [trial.answer for trial in trials(made)] == ["I like tea. [1]"]
    with pytest.raises(InvalidInput):
        start_trials(session, None, [Changes()], ANNA, message=" ")


def test_what_cannot_be_tried_is_refused_and_the_others_run(talk: Talk) -> None:
    turn = talk(*ASKED)
    refused, other = tried(turn, Changes(base="kb-nobody"), Changes(deliberation_level=1))
    assert (refused.status, (refused.error or {})["code"]) == ("refused", "KB_NOT_FOUND")
    assert other.status == "succeeded"


def test_a_trial_with_some_units_alone_finds_no_others(talk: Talk) -> None:
    turn = talk(*ASKED)
    told = turn.session.context_units.order_by("pk")
    dog, tea = (unit.unit_id for unit in told)
    alone, without = tried(turn, Changes(only_units=(dog,)), Changes(only_units=(tea,)))
    assert alone.answer == "My dog is called Rex. [1]"
    assert without.answer_status == "no-context"


def test_what_a_trial_supposes_is_found_and_leaves_nothing(talk: Talk) -> None:
    turn = talk(*ASKED)
    layers, units = KnowledgeLayer.objects.count(), LayerUnit.objects.count()
    supposed = Changes(message="What is my cat called?", with_units=("My cat is called Tom.",))
    with_it, without, again = tried(turn, supposed, Changes(message=supposed.message), Changes())
    assert with_it.answer == "My cat is called Tom. [1]"
    assert without.answer_status == "no-context"
    assert again.answer == "My dog is called Rex. [1]"
    assert (KnowledgeLayer.objects.count(), LayerUnit.objects.count()) == (layers, units)


def test_what_reaches_models_alone_has_no_effect_without_one(talk: Talk) -> None:
    changes = (Changes(style="focus"), Changes(persona="nobody"), Changes(sampling=Sampling(temperature=0.5)))
    assert [(trial.status, trial.has_effect) for trial in tried(talk(*ASKED), *changes)] == [("succeeded", False)] * 3


def test_a_diagnosis_shows_what_the_answer_depends_on(talk: Talk) -> None:
    turn = talk(*ASKED)
    assert dependences(turn) == {}
    diagnosed(turn)
    [cited] = cited_unit_ids(turn)
    assert dependences(turn)[cited] == "needed"


def test_trials_are_added_beside_those_that_are_there(talk: Talk) -> None:
    turn = talk(*ASKED)
    made = ran(start_trials(turn.session, turn, [Changes()], ANNA, wait_ms=30_000))
    again = ran(start_more_trials(made, [Changes(deliberation_level=2)], wait_ms=30_000))
    assert [(trial.position, trial.status) for trial in trials(again)] == [(1, "succeeded"), (2, "succeeded")]
    assert again.tried_count == 2


@pytest.fixture
def long_search(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    """Return an experiment of many slow trials."""
    turn = talk(*ASKED)
    run = work.run_trial

    def slowly(*arguments: Any) -> Any:
        time.sleep(0.05)
        return run(*arguments)

    monkeypatch.setattr(work, "run_trial", slowly)
    changes = [Changes(message=f"What is my dog called, {number}?").as_record() for number in range(200)]
    return begin_experiment(turn.session, turn, Experiment.Kind.TRIALS, ANNA, changes=changes)


def test_cancel_keeps_what_was_tried(long_search: Experiment) -> None:
    asked = threading.Timer(0.5, cancel_experiment, [long_search])
    asked.start()
    work.run_experiment(long_search)
    asked.join()
    long_search.refresh_from_db()
    by_status = {status: long_search.trials.filter(status=status).count() for status in ("succeeded", "cancelled")}
    assert long_search.status == "cancelled"
    assert by_status["succeeded"] == long_search.tried_count > 0
    assert by_status["cancelled"] == 200 - long_search.tried_count > 0


def test_an_abandoned_experiment_is_closed_as_interrupted(long_search: Experiment) -> None:
    assert close_abandoned_experiments() == 0
    Experiment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert close_abandoned_experiments() == 1
    long_search.refresh_from_db()
    assert (long_search.status, (long_search.error or {})["code"]) == ("interrupted", "TURN_INTERRUPTED")
    assert set(long_search.trials.values_list("status", flat=True)) == {"interrupted"}


def test_why_an_experiment_could_not_be_closed_is_in_the_log(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise OperationalError("the disk is full")

    monkeypatch.setattr(work, "end_experiment", fail)
    start_trials(talk(*ASKED).session, None, [Changes()], ANNA, message="What do I like?", wait_ms=30_000)
    assert "the disk is full" in caplog.text


def test_trials_wait_for_a_place_among_running_turns(talk: Talk, settings: Settings) -> None:
    turn = talk(*ASKED)
    settings.MRPVM_MAX_RUNNING_TURNS = 1
    with running_turns.place(turn.session.project_id) as take_place:
        take_place()
        made = start_trials(turn.session, turn, [Changes()], ANNA, wait_ms=300)
        assert made.status == "running"
    ran(until(made, lambda: not made.is_running))


def test_a_waiting_experiment_keeps_its_lease_and_is_stoppable(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = talk(*ASKED)
    held, release = threading.Semaphore(0), threading.Event()

    def hold(*_: object) -> dict[str, Any]:
        held.release()
        return {"waited": release.wait(90)}

    monkeypatch.setattr("sessions_app.experiments.running.pool.LOOK_SECONDS", 0.1)
    with monkeypatch.context() as patch:
        patch.setitem(work._RUNS, Experiment.Kind.BISECT, hold)
        for _ in range(settings.MRPVM_MAX_RUNNING_EXPERIMENTS):
            start_bisect(turn, Expectation(), ANNA)
            assert held.acquire(timeout=30)
        waiting, stopped = (start_trials(turn.session, turn, [Changes()], ANNA) for _ in range(2))
        first = waiting.lease_until
        assert until(waiting, lambda: waiting.lease_until != first).is_running
        cancel_experiment(stopped)
        assert until(stopped, lambda: not stopped.is_running).status == "cancelled"
        release.set()
    ran(until(waiting, lambda: not waiting.is_running))


def until(experiment: Experiment, holds: Callable[[], bool]) -> Experiment:
    """Return the experiment as it is stored once the condition holds, which takes some seconds at most."""
    given_up_at = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < given_up_at
        time.sleep(0.05)
        experiment.refresh_from_db()
    return experiment


def test_removing_an_experiment_removes_its_traces(talk: Talk) -> None:
    turn = talk(*ASKED)
    batches = TurnEvents.objects.count()
    found = diagnosed(turn)
    assert ExplainabilityTurn.with_trials.filter(trial_number__gt=0).exists()
    delete_experiment(found)
    assert not ExplainabilityTurn.with_trials.filter(trial_number__gt=0).exists()
    assert TurnEvents.objects.count() == batches


def test_old_experiments_are_removed_and_lost_traces(talk: Talk, settings: Settings) -> None:
    turn = talk(*ASKED)
    old, young = (ran(start_trials(turn.session, turn, [Changes()], ANNA, wait_ms=30_000)) for _ in range(2))
    Experiment.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))
    lost = trials(young)[0].trace
    young.trials.all().delete()
    assert (carry_out_retention(), remove_lost_traces()) == (1, 1)
    assert list(Experiment.objects.all()) == [young]
    assert lost is not None
    assert not ExplainabilityTurn.with_trials.filter(trial_number__gt=0).exists()


def test_the_turn_since_which_an_answer_is_so_is_found(talk: Talk) -> None:
    chat = [f"The door {number} is red." for number in range(6)]
    turn = talk(*chat, "My dog is called Rex.", "I like tea.", "I like jam.", "What is my dog called?")
    found = ran(start_bisect(turn, Expectation(), ANNA, wait_ms=30_000))
    assert found.result is not None
    assert (found.result["result"], found.result["number"]) == ("found", 7)
    assert found.result["told"] == ["My dog is called Rex."]
    assert found.tried_count <= 2 + 4  # ten moments
    assert found.result["is_monotonous"]


def test_an_answer_that_was_always_so_is_said_to_be(talk: Talk) -> None:
    turn = talk("I like tea.", "I like jam.", "Who wrote the opera?")
    result = ran(start_bisect(turn, Expectation(), ANNA, wait_ms=30_000)).result
    assert result is not None
    assert (result["result"], result["number"]) == ("always", None)

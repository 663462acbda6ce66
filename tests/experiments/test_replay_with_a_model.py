"""Turns that called a model replay with its recorded answers; the provider gets no request."""

import pytest

from sessions_app.experiments.replays.replay import replay
from sessions_app.experiments.trials.changes import Changes
from tests.experiments.conftest import Talk, stored, tried
from tests.llm.provider import Provider

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_replay_takes_the_recorded_answers(provider: Provider, talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "My cat is called Tom.", "What is my dog called?")
    asked_count = len(provider.asked)
    assert asked_count > 0
    for each in turn.session.turns.order_by("turn_index"):
        assert replay(stored(each)).divergence is None
    assert len(provider.asked) == asked_count


def test_a_trial_that_would_ask_something_new_needs_a_model(provider: Provider, talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    asked_count = len(provider.asked)
    [trial] = tried(turn, Changes(message="What is the name of my dog?"))
    assert trial.status == "needs-model"
    assert trial.missing_request is not None
    assert len(provider.asked) == asked_count

"""Turns that called a model replay with its recorded answers; the provider gets no request."""

from threading import Event
from typing import Any

import pytest

from mrpvm import registry
from mrpvm.llm.port import Prompt
from mrpvm.values import HistoryMessage
from sessions_app.actions.sessions.session import Choices
from sessions_app.experiments.replays.replay import replay
from sessions_app.experiments.trials.changes import Changes
from sessions_app.turns.close import TurnError
from tests.experiments.conftest import Talk, stored, tried
from tests.kernel.scripted import plugin, solution
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


@pytest.mark.parametrize("behaviour", ["late", "raises", "answers"])
def test_a_call_that_is_not_repeated_has_asked_what_it_asked(
    provider: Provider, talk: Talk, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    release = Event()

    def ask(request: Any, context: Any) -> Any:
        said = (HistoryMessage(role="user", content=request.message),)
        reply = context.model.call(Prompt(plugin_id="gs-once", role="goal-fast", system="", messages=said))
        if behaviour == "raises":
            raise RuntimeError
        if behaviour == "late":
            release.wait(20)
        return solution(reply.text)(request, context)

    once = plugin(
        "gs-plugin", "gs-once", ask, uses_llm=True, model_roles=("goal-fast",), max_llm_calls=1,
        timeout_ms=600 if behaviour == "late" else 20_000, is_deterministic=behaviour == "late",
    )  # fmt: skip
    plugins = {**registry.installed._plugins, ("gs-plugin", "gs-once"): once}
    monkeypatch.setattr(registry.installed, "_plugins", plugins)
    try:
        turn = talk("What is my dog called?", choices=Choices(goal_solver="gs-once"))
    except TurnError as failed:
        turn = stored(failed.turn)
    release.set()
    assert turn.model_usage is not None
    assert replay(turn).divergence is None
    assert len(once.asked) == 1

"""A configured language model for tests over rows: the scripted provider behind the process's own endpoint."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from mrpvm import registry
from sessions_app import language_model
from tests.llm.provider import KEY, Asked, Behaviour, Provider, say

ACCEPTED = '{"verdict": "accepted", "reason": ""}'


def acting(solver: Behaviour) -> Behaviour:
    """Return a provider's behaviour: what a test says to solvers, acceptance to the validator."""

    def answer(asked: Asked) -> None:
        told = asked.body.get("instructions") or asked.body["messages"][0]["content"]
        is_validator = "You check answers" in told
        (say(ACCEPTED) if is_validator else solver)(asked)

    return answer


@pytest.fixture
def provider(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """Return the configured provider; waits between attempts take no time."""
    with Provider(otherwise=acting(say("It is Rex [1]."))) as made:
        settings.MRPVM_LLM_BASE_URL, settings.MRPVM_LLM_MODEL = made.url, "some-model"
        settings.MRPVM_LLM_API_KEY = KEY
        endpoint = language_model.endpoint()
        assert endpoint is not None
        monkeypatch.setattr(endpoint, "pause", lambda seconds: None)
        yield made


@pytest.fixture
def unvalidated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the validators out, as MRPVM_DISABLED_PLUGINS does."""
    kept = {key: item for key, item in registry.installed._plugins.items() if key[0] != "val-plugin"}
    monkeypatch.setattr(registry.installed, "_plugins", kept)

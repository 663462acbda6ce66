"""The parameters of the model configuration in a request, in both APIs."""

from typing import Any

import pytest

from mrpvm.errors import InvalidInput
from mrpvm.llm.dialect import DIALECTS
from mrpvm.llm.port import Prompt
from mrpvm.llm.roles import ModelConfig, model_config_of
from mrpvm.values import HistoryMessage

PROMPT = Prompt(plugin_id="p", role="r", system="s", messages=(HistoryMessage(role="user", content="m"),))


def sent(api: str, config: ModelConfig) -> dict[str, Any]:
    """Return the fields of a request without its text."""
    body = DIALECTS[api].body("model", PROMPT, config, streams=False)
    return {key: value for key, value in body.items() if key not in ("model", "messages", "instructions", "input")}


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        ("chat", {"temperature": 0.1, "reasoning_effort": "low", "verbosity": "high"}),
        ("responses", {"temperature": 0.1, "reasoning": {"effort": "low"}, "text": {"verbosity": "high"},
                       "store": False}),
    ],
)  # fmt: skip
def test_thinking_and_verbosity_are_put_as_each_api_wants(api: str, expected: dict[str, Any]) -> None:
    assert sent(api, ModelConfig(thinking_level="low", verbosity="high")) == expected


@pytest.mark.parametrize(("api", "expected"), [("chat", {}), ("responses", {"store": False})])
def test_what_is_left_to_the_provider_is_not_sent(api: str, expected: dict[str, Any]) -> None:
    assert sent(api, ModelConfig(temperature=None)) == expected


def test_a_stored_table_gives_the_same_again() -> None:
    config = ModelConfig(thinking_level="high", verbosity="low")
    assert model_config_of(config.as_record()) == config


@pytest.mark.parametrize("body", [{"thinkingLevel": "much"}, {"verbosity": True}, {"verbosity": ["low"]}])
def test_an_unknown_level_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        model_config_of(body)

"""The provider's thread of responses: which response a request follows, and what happens when that is lost."""

from typing import Any

import pytest

from mrpvm.errors import ModelFailed
from mrpvm.llm.bridge import ConfiguredModel
from mrpvm.llm.endpoint import Endpoint, EndpointConfig
from mrpvm.llm.port import CallScope, Prompt
from mrpvm.llm.provider_thread import ProviderThread, stand_in
from mrpvm.llm.recorder import Recorder
from mrpvm.llm.roles import ModelConfig
from mrpvm.values import HistoryMessage
from tests.llm.provider import KEY, Asked, Behaviour, Provider, refuse, say

READ_ALONG = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


def ask(
    provider: Provider, thread: ProviderThread | None, api: str = "responses", *, streams: bool = False,
    role: str = "goal-fast", endpoint: Endpoint | None = None,
) -> Recorder:  # fmt: skip
    """Call the model once; return the record of the call."""
    config: dict[str, Any] = {"base_url": provider.url, "model": "m", "api_key": KEY, "api": api}
    made = endpoint or Endpoint(EndpointConfig(**config), pause=lambda seconds: None)
    recorder = Recorder()
    scope = CallScope(timeout_ms=20_000, max_calls=5, stopped=lambda: False, recorder=recorder)
    said = HistoryMessage(role="user", content="Who is Rex?")
    prompt = Prompt(plugin_id="gs-llm-fast", role=role, system="Be honest.", messages=(said,))
    ConfiguredModel(made, ModelConfig(), provider_thread=thread).bind(scope).call(
        prompt, (lambda text: None) if streams else None
    )
    return recorder


@READ_ALONG
def test_each_answer_is_what_the_next_request_follows(streams: bool) -> None:
    with Provider() as provider:
        first = ProviderThread()
        ask(provider, first, streams=streams)
        second = ProviderThread(previous_id=first.next_id)
        record = ask(provider, second, streams=streams).as_records()[0]
    assert "previous_response_id" not in provider.bodies[0]
    assert provider.bodies[1]["previous_response_id"] == first.next_id != second.next_id
    assert [body["store"] for body in provider.bodies] == [True, True]
    assert record["body"]["previous_response_id"] == stand_in(str(first.next_id))
    assert not any(str(found) in str(record) for found in (first.next_id, second.next_id))
    assert provider.bodies[1]["input"] == provider.bodies[0]["input"]


def test_who_does_not_write_the_answer_is_in_no_thread() -> None:
    thread = ProviderThread(previous_id="r-0")
    with Provider() as provider:
        ask(provider, thread, role="seed-fast")
        ask(provider, None)
    assert all("previous_response_id" not in body and body["store"] is False for body in provider.bodies)
    assert thread.next_id == "r-0"


def test_the_chat_api_has_no_threads() -> None:
    thread = ProviderThread(previous_id="r-0")
    with Provider() as provider:
        ask(provider, thread, "chat")
    assert not {"previous_response_id", "store"} & set(provider.bodies[0])
    assert thread.next_id == "r-0"


@pytest.mark.parametrize("is_named", [True, False], ids=["by its code", "by its words"])
def test_a_lost_response_is_left_out_once_and_said(is_named: bool) -> None:
    def lost(asked: Asked) -> None:
        if is_named:
            refuse(400, "not found", param="previous_response_id", code="previous_response_not_found")(asked)
        else:
            refuse(400, f"Previous response with id '{asked.body['previous_response_id']}' not found.", code=None)(
                asked
            )

    thread = ProviderThread(previous_id="r-gone")
    with Provider(lost) as provider:
        records = ask(provider, thread).as_records()
        ask(provider, ProviderThread(previous_id=thread.next_id))
    assert ["previous_response_id" in body for body in provider.bodies] == [True, False, True]
    assert thread.is_broken
    assert [record["attempt"] for record in records] == [1, 2]
    assert records[0]["response"]["status"] == 400
    assert "r-gone" not in str(records)


@pytest.mark.parametrize(
    "refusal",
    [
        refuse(400, "Unknown parameter.", param="previous_response_id"),
        refuse(400, "This server does not support 'previous_response_id'.", code=None),
    ],
    ids=["in its field", "in its words"],
)
def test_a_provider_without_threads_is_asked_for_none_again(refusal: Behaviour) -> None:
    with Provider(refusal) as provider:
        endpoint = Endpoint(EndpointConfig(base_url=provider.url, model="m", api="responses"), pause=lambda wait: None)
        for _ in range(2):
            ask(provider, ProviderThread(previous_id="r-0"), endpoint=endpoint)
    assert ["previous_response_id" in body for body in provider.bodies] == [True, False, False]


def test_a_failed_request_moves_nothing() -> None:
    thread = ProviderThread(previous_id="r-0")
    with Provider(refuse(400)) as provider, pytest.raises(ModelFailed):
        ask(provider, thread)
    assert (thread.next_id, thread.is_broken) == ("r-0", False)


@pytest.mark.rule("WINDOW-18")
def test_an_answer_without_an_id_leaves_the_thread_where_it_was() -> None:
    thread = ProviderThread(previous_id="r-0")
    thread.answered(None)
    assert thread.next_id == "r-0"
    with Provider(say("Yes.")) as provider:
        ask(provider, thread)
    assert thread.next_id != "r-0"

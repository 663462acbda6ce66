"""The bridge: the real SDK over real HTTP, with a scripted provider."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from copy import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest

from mrpvm.errors import BudgetExceeded, ModelFailed, ModelTimeout, Unavailable
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.bridge import LAST_WORDS_MS, ConfiguredModel
from mrpvm.llm.dialect import ResponsesDialect
from mrpvm.llm.endpoint import Endpoint, EndpointConfig
from mrpvm.llm.port import CallScope, Prompt
from mrpvm.llm.recorder import Recorder, estimated_tokens
from mrpvm.llm.roles import ModelConfig, Override
from mrpvm.values import HistoryMessage
from tests.llm.provider import (
    KEY,
    Behaviour,
    Provider,
    break_off,
    cut,
    end_early,
    hang,
    refuse,
    reset,
    say,
    send,
    stall,
)

PROMPT = Prompt(
    plugin_id="gs-llm-fast",
    role="goal-fast",
    system="Be honest.",
    messages=(HistoryMessage(role="user", content="Who is Rex?"),),
)
DIALECTS = pytest.mark.parametrize("api", ["chat", "responses"])
READ_ALONG = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


class Bench:
    """A provider and a model bound to it for one plugin call."""

    def __init__(self, provider: Provider, roles: ModelConfig | None = None, **config: Any) -> None:
        self.provider = provider
        self.waited: list[float] = []
        self.recorder = Recorder()
        self.stopped = threading.Event()
        self.heard: list[str] = []
        self.scope_ms = config.pop("scope_ms", 20_000)
        self.max_calls = config.pop("max_calls", 5)
        settings = {"base_url": provider.url, "model": "default-model", "api_key": KEY, "timeout_ms": 5_000, **config}
        self.endpoint = Endpoint(EndpointConfig(**settings), pause=self.waited.append)
        self.source = ConfiguredModel(self.endpoint, roles or ModelConfig())

    def ask(self, streams: bool = False, prompt: Prompt = PROMPT) -> Any:
        """Return the reply to a prompt."""
        scope = CallScope(
            timeout_ms=self.scope_ms,
            max_calls=self.max_calls,
            stopped=self.stopped.is_set,
            recorder=self.recorder,
        )
        return self.source.bind(scope).call(prompt, self.heard.append if streams else None)

    @property
    def records(self) -> list[dict[str, Any]]:
        """Return the recorded calls."""
        return self.recorder.as_records()


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    """Return a function that creates a bench with a script."""
    opened: list[Provider] = []

    def make(*script: Behaviour, **options: Any) -> Bench:
        provider = Provider(*script)
        opened.append(provider.__enter__())
        return Bench(provider, **options)

    yield make
    for provider in opened:
        provider.__exit__()


@pytest.mark.rule("DECISION-28")
@DIALECTS
@READ_ALONG
def test_a_call_and_its_record(bench: Callable[..., Bench], api: str, streams: bool) -> None:
    """The record holds exactly the request that the provider got, without the key."""
    made = bench(say("Rex is a dog.", usage={"input": 11, "output": 4}), api=api)
    reply = made.ask(streams)
    assert (reply.text, reply.model, reply.role) == ("Rex is a dog.", "default-model", "goal-fast")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.is_estimated) == (11, 4, False)
    assert "".join(made.heard) == ("Rex is a dog." if streams else "")
    assert len(made.heard) != 1
    (asked,) = made.provider.asked
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.path == {"chat": "/v1/chat/completions", "responses": "/v1/responses"}[api]
    (record,) = made.records
    assert record["body"] == asked.body
    assert record["url"] == made.provider.url + asked.path.removeprefix("/v1")
    assert record["response"]["text"] == "Rex is a dog."
    assert record["response"]["status"] == 200
    assert asked.body["temperature"] == 0.1
    assert KEY not in json.dumps(made.records)


@DIALECTS
def test_the_conversation_arrives_whole_and_in_order(bench: Callable[..., Bench], api: str) -> None:
    told = [("user", "One \ud83d?"), ("assistant", "Two."), ("user", "Three?")]
    messages = tuple(HistoryMessage(role=role, content=text) for role, text in told)
    made = bench(api=api)
    made.ask(prompt=Prompt(plugin_id="x", role="goal-fast", system="S", messages=messages))
    body = made.provider.bodies[0]
    said = body["messages"][1:] if api == "chat" else body["input"]
    assert [item["role"] for item in said] == ["user", "assistant", "user"]
    assert [item["content"] for item in said] == ["One ??", "Two.", "Three?"]
    assert (body["messages"][0]["content"] if api == "chat" else body["instructions"]) == "S"


@DIALECTS
@READ_ALONG
def test_text_that_cannot_be_stored_is_replaced(bench: Callable[..., Bench], api: str, streams: bool) -> None:
    """A surrogate pair may arrive in two pieces; a lone surrogate or NUL cannot be stored."""
    made = bench(say("Rex 😀 is\ud83d a\0 dog.\udc00", piece_chars=1), api=api)
    reply = made.ask(streams)
    assert reply.text == "Rex 😀 is\ufffd a\ufffd dog.\ufffd"
    assert "".join(made.heard) == (reply.text if streams else "")
    assert made.records[0]["response"]["text"] == reply.text
    assert [warning.partition(" ")[0] for warning in made.recorder.warnings] == ["3"]
    assert bench(say("\ufffd is stored."), api=api).ask(streams).text == "\ufffd is stored."


def test_a_refusal_in_words_that_cannot_be_stored(bench: Callable[..., Bench]) -> None:
    with pytest.raises(ModelFailed) as failed:
        bench(refuse(400, "no\ud83d\0")).ask()
    assert failed.value.message.endswith("no\ufffd\ufffd")


@pytest.mark.rule("DECISION-32")
def test_tokens_are_estimated_where_nobody_counts(bench: Callable[..., Bench]) -> None:
    usage = bench(say("12345")).ask().usage
    assert (usage.output_tokens, usage.is_estimated) == (2, True)
    assert usage.input_tokens == estimated_tokens(len(PROMPT.system + PROMPT.messages[0].content))


@pytest.mark.rule("ROLE-6")
@READ_ALONG
@pytest.mark.parametrize("trouble", [reset, refuse(429), refuse(408)], ids=["reset", "429", "408"])
def test_passing_trouble_is_waited_out(bench: Callable[..., Bench], trouble: Behaviour, streams: bool) -> None:
    """There are two more attempts, after 1 s and 2 s."""
    made = bench(trouble, trouble, say("At last."))
    assert made.ask(streams).text == "At last."
    assert [record["attempt"] for record in made.records] == [1, 2, 3]
    assert round(sum(made.waited), 2) == 3.0
    assert made.recorder.call_count == 1  # transport retries do not count as calls


@READ_ALONG
def test_a_model_that_is_loading_is_waited_for(bench: Callable[..., Bench], streams: bool) -> None:
    made = bench(*[refuse(503, "Loading model")] * 6, refuse(429), refuse(429), say("At last."))
    assert made.ask(streams).text == "At last."
    assert round(sum(made.waited), 2) == 9.0


def test_a_model_that_loads_too_long_is_given_up(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(*[refuse(503, "Loading model")] * 60, scope_ms=2_500)
    clock = SimpleNamespace(monotonic=lambda: sum(made.waited))
    monkeypatch.setattr("mrpvm.llm.bridge.time", clock)
    with pytest.raises(ModelFailed, match="Loading model"):
        made.ask()
    assert 1 < len(made.provider.asked) <= 3


@pytest.mark.rule("ROLE-6")
def test_the_third_attempt_is_the_last(bench: Callable[..., Bench]) -> None:
    made = bench(*[refuse(429, "slow down")] * 9)
    with pytest.raises(ModelFailed, match="slow down") as failed:
        made.ask()
    assert failed.value.code == "LLM_PROVIDER_ERROR"
    assert failed.value.details == {"status": 429}
    assert len(made.provider.asked) == 3


def test_a_call_without_an_answer_is_a_line_of_the_log(
    bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture
) -> None:
    """Several attempts are one call, and one that waited in the end for an answer is none."""
    made = bench(refuse(429, "slow down"), say("Yes."), *[refuse(429, "slow down")] * 3, refuse(401, f"Wrong: {KEY}"))
    made.ask()
    for _ in range(2):
        with pytest.raises(ModelFailed):
            made.ask()
    told = "the model default-model failed gs-llm-fast: The model's provider answered"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert caplog.messages == [f"{told} 429: slow down", f"{told} 401: Wrong: [REDACTED]"]


def test_a_provider_may_ask_for_more_patience(bench: Callable[..., Bench]) -> None:
    made = bench(refuse(429, retry_after="4"), refuse(429, retry_after="10"), say("Yes."))
    assert made.ask().text == "Yes."
    assert round(sum(made.waited), 2) == 14.0


@pytest.mark.parametrize("asked", ["3600", "3599.5", "a date"])
def test_a_wait_beyond_the_longest_is_not_begun(bench: Callable[..., Bench], asked: str) -> None:
    """The error says until when; asking again before that could only be refused."""
    if asked == "a date":
        asked = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    made = bench(refuse(429, "slow down", retry_after=asked), say("Too early."))
    with pytest.raises(ModelFailed, match=r"answered 429 \(rate limited until .*\): slow down") as failed:
        made.ask()
    assert (made.waited, len(made.provider.asked)) == ([], 1)
    wait = failed.value.details["retry_after_seconds"]
    assert 3_500 < wait <= 3_600
    until = datetime.strptime(failed.value.message.split("until ")[1][:23], "%Y-%m-%d %H:%M:%S %Z")
    assert abs(until - datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=wait)) < timedelta(seconds=60)


@pytest.mark.parametrize("asked", ["soon", "-3600", "", "²", "Fri, 31 Dec 1999 23:59:59 GMT", "nan", "1e999"])
def test_a_wait_that_cannot_be_read_is_not_one(bench: Callable[..., Bench], asked: str) -> None:
    made = bench(refuse(429, retry_after=asked), say("Yes."))
    if asked == "1e999":
        with pytest.raises(ModelFailed, match="rate limited until"):
            made.ask()
    else:
        assert made.ask().text == "Yes."
        assert round(sum(made.waited), 2) == 1.0


def test_no_wait_outlasts_the_plugin(bench: Callable[..., Bench]) -> None:
    made = bench(refuse(429), say("Too late."), scope_ms=1_000)
    with pytest.raises(ModelFailed):
        made.ask()
    assert made.waited == []
    assert len(made.provider.asked) == 1


def test_a_stopped_turn_waits_no_longer(bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture) -> None:
    made = bench(refuse(429), say("Too late."))
    made.endpoint.pause = lambda seconds: made.stopped.set()
    with pytest.raises(ModelFailed):
        made.ask()
    assert caplog.messages == []
    assert len(made.provider.asked) == 1


@pytest.mark.rule("ROLE-6")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 500, 503])
def test_other_refusals_are_final(bench: Callable[..., Bench], status: int) -> None:
    made = bench(refuse(status, f"Bad key {KEY} given."), say("Never."))
    with pytest.raises(ModelFailed) as failed:
        made.ask()
    assert failed.value.details["status"] == status
    assert KEY not in failed.value.message
    assert len(made.provider.asked) == 1
    assert made.records[0]["response"]["status"] == status
    assert KEY not in json.dumps(made.records)


@READ_ALONG
def test_a_silent_provider_is_a_timeout(bench: Callable[..., Bench], streams: bool) -> None:
    made = bench(hang, hang, hang, timeout_ms=50)
    with pytest.raises(ModelTimeout) as failed:
        made.ask(streams)
    assert failed.value.code == "LLM_TIMEOUT"
    assert len(made.provider.asked) == 3
    assert all(record["response"]["error"]["code"] == "LLM_TIMEOUT" for record in made.records)


def test_the_call_ends_before_its_plugin_is_given_up(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []
    real = Endpoint.send

    def sent(self: Endpoint, body: Any, timeout_ms: float, *given: Any) -> Any:
        limits.append(timeout_ms)
        return real(self, body, timeout_ms, *given)

    monkeypatch.setattr(Endpoint, "send", sent)
    with pytest.raises(ModelTimeout):
        bench(hang, scope_ms=1_000, max_retries=0).ask()
    assert len(limits) == 1
    assert 0 < limits[0] <= 1_000 - LAST_WORDS_MS


def test_a_request_under_way_is_on_record_before_it_is_answered(bench: Callable[..., Bench]) -> None:
    made = bench(hang, max_retries=0)

    def ask() -> None:
        with pytest.raises(ModelFailed):
            made.ask()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    while not made.provider.asked:
        threading.Event().wait(0.005)
    (record,) = made.records
    assert (record["response"], record["body"]) == (None, made.provider.bodies[0])
    made.provider.released.set()
    thread.join(10)


@pytest.mark.parametrize(
    "content",
    [b"<html>oops</html>", b'{"hello": 1}', b"[]", b"null", b'"text"', b'{"choices": []}', b'{"choices": [{}]}',
     b'{"choices": [{"message": {"content": 7}}]}', b'{"choices"', b"", b'{"output": 3}', b"\xff\xfe"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
@DIALECTS
def test_answers_that_are_none(bench: Callable[..., Bench], api: str, kind: str, content: bytes) -> None:
    made = bench(send(content, kind), api=api)
    with pytest.raises(ModelFailed):
        made.ask()
    assert made.records[0]["response"]["error"]["code"] == "LLM_PROVIDER_ERROR"


@pytest.mark.parametrize(
    "content", [b"data: {nonsense\n\n", b"<html></html>", b"data: [1]\n\n", b'data: {"choices": 3}\n\n', b""]
)
@DIALECTS
def test_streams_that_are_none(bench: Callable[..., Bench], api: str, content: bytes) -> None:
    made = bench(*[send(content, "text/event-stream")] * 3, api=api)
    with pytest.raises(ModelFailed):
        made.ask(streams=True)


@DIALECTS
@READ_ALONG
@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_answer_is_none(bench: Callable[..., Bench], api: str, streams: bool, text: str) -> None:
    with pytest.raises(ModelFailed, match="empty"):
        bench(say(text), api=api).ask(streams)


@DIALECTS
@pytest.mark.parametrize("broken", [cut, end_early, break_off])
def test_a_broken_stream_is_not_begun_again(bench: Callable[..., Bench], api: str, broken: Any) -> None:
    """Text that was already streamed to a reader cannot be withdrawn."""
    made = bench(broken("Rex is ", "a "), say("Another answer."), api=api)
    with pytest.raises(ModelFailed):
        made.ask(streams=True)
    assert "".join(made.heard) == "Rex is a "
    assert len(made.provider.asked) == 1


def test_a_stream_that_broke_before_its_first_word_is(bench: Callable[..., Bench]) -> None:
    made = bench(cut(), say("Rex is a dog."))
    assert made.ask(streams=True).text == "Rex is a dog." == "".join(made.heard)


def test_a_stream_that_falls_silent_is_a_timeout(bench: Callable[..., Bench]) -> None:
    made = bench(stall("Rex "), timeout_ms=200)
    with pytest.raises(ModelTimeout):
        made.ask(streams=True)


def test_a_stream_ends_when_nobody_wants_it_any_more(bench: Callable[..., Bench]) -> None:
    made = bench(say("word " * 200))
    made.heard = type("Stopping", (list,), {"append": lambda self, text: made.stopped.set()})()
    with pytest.raises(ModelTimeout):
        made.ask(streams=True)


def test_a_parameter_that_the_provider_does_not_know_is_left_out(bench: Callable[..., Bench]) -> None:
    made = bench(refuse(400, "unsupported", param="temperature"), say("One."), say("Two."))
    assert made.ask().text == "One."
    assert made.ask().text == "Two."
    assert ["temperature" in body for body in made.provider.bodies] == [True, False, False]


def test_what_one_model_refuses_others_are_still_sent(bench: Callable[..., Bench]) -> None:
    """The record names the parameter that was left out."""
    made = bench(
        refuse(400, "unsupported", param="temperature"), say("One."), say("Two."), say("Three."),
        roles=ModelConfig(roles={"seed-fast": "steady"}),
    )  # fmt: skip
    made.ask()
    made.ask(prompt=replace(PROMPT, plugin_id="x", role="seed-fast"))
    made.ask()
    bodies = made.provider.bodies
    assert [(body["model"], "temperature" in body) for body in bodies][1:] == [
        (bodies[0]["model"], False), ("steady", True), (bodies[0]["model"], False),
    ]  # fmt: skip
    assert [record.get("leftOut") for record in made.records] == [None, ["temperature"], None, ["temperature"]]


def test_a_parameter_that_is_needed_is_not_left_out(bench: Callable[..., Bench]) -> None:
    made = bench(refuse(400, "bad", param="model"))
    with pytest.raises(ModelFailed):
        made.ask()
    assert len(made.provider.asked) == 1


@pytest.mark.rule("PLUGIN-26", "ROLE-7")
def test_the_cache_answers_the_same_question_once_it_is_on(bench: Callable[..., Bench]) -> None:
    """A cache hit counts as a call."""
    made = bench(refuse(500), say("One."), say("Two."), say("Three."), keeps_answers=True)
    with pytest.raises(ModelFailed):
        made.ask()
    assert [made.ask().text, made.ask().text, made.ask(streams=True).text] == ["One."] * 3
    assert made.heard == ["One."]
    assert made.recorder.call_count == 4
    assert [record["response"].get("fromCache") for record in made.records] == [None, None, True, True]


@pytest.mark.rule("ROLE-7")
def test_the_cache_is_off_unless_asked_for(bench: Callable[..., Bench]) -> None:
    made = bench(say("One."), say("Two."))
    assert [made.ask().text, made.ask().text] == ["One.", "Two."]


def test_a_plugin_may_not_ask_more_often_than_it_declared(bench: Callable[..., Bench]) -> None:
    made = bench(max_calls=1)
    made.ask()
    with pytest.raises(BudgetExceeded):
        made.ask()
    assert len(made.provider.asked) == 1


@pytest.mark.rule("DECISION-28", "ROLE-3")
def test_the_model_is_that_of_the_roles(bench: Callable[..., Bench]) -> None:
    roles = ModelConfig(
        roles={"goal-fast": "small", "goal-deep": ""},
        overrides={"gs-llm-deep": Override(model="large")},
        temperature=None,
    )
    made = bench(roles=roles)
    made.ask()
    made.ask(prompt=Prompt(plugin_id="gs-llm-deep", role="goal-deep", system="", messages=PROMPT.messages))
    assert [body["model"] for body in made.provider.bodies] == ["small", "large"]
    assert [record["modelBasis"] for record in made.records] == ["role goal-fast", "override of gs-llm-deep"]
    assert all("temperature" not in body for body in made.provider.bodies)


def test_a_provider_that_is_not_there(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.provider.__exit__()
    with pytest.raises(ModelFailed, match="cannot be reached"):
        made.ask()


def test_models_are_the_configured_and_the_providers(bench: Callable[..., Bench]) -> None:
    made = bench()
    assert made.endpoint.model_names() == ("default-model", "other", "served")
    made.provider.models = ()
    assert made.endpoint.model_names() == ("default-model", "other", "served"), "kept for a while"


def test_a_provider_that_lists_nothing(bench: Callable[..., Bench]) -> None:
    made = bench()
    made.provider.__exit__()
    assert made.endpoint.model_names() == ("default-model",)


@pytest.mark.rule("ROLE-8")
def test_no_model_refuses_at_once() -> None:
    model = AbsentModel()
    assert not model.available
    with pytest.raises(Unavailable) as refusal:
        model.call(PROMPT)
    assert refusal.value.code == "LLM_NOT_AVAILABLE"


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    """A server without a model spends neither time nor memory on it."""
    code = "import sys, mrpvm.plugins.builtin, mrpvm.llm.bridge; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("why", "reason"), [("max_output_tokens", "length"), ("content_filter", "content_filter")])
def test_an_incomplete_response_says_why(why: str, reason: str) -> None:
    cut = SimpleNamespace(
        output_text="So", status="incomplete", incomplete_details=SimpleNamespace(reason=why), id="r-1", usage=None
    )
    assert ResponsesDialect().completion(cut).finish_reason == reason

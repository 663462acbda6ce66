"""The official OpenAI SDK as the client of a live server: every method, streamed and not."""

import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import OpenAI
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from tests.api.conftest import Caller
from tests.api.doubles import HeldSolver, WaitingSolver, registered
from tests.api.openai.conftest import PATIENCE_SECONDS, key_of
from tests.live import LiveServer
from tests.llm.provider import Provider

TOLD = {"role": "user", "content": "My dog is called Rex."}
ASKED = {"role": "user", "content": "What is my dog called?"}


def test_a_chat_completion_is_the_sdks_own_type_whole(sdk: OpenAI) -> None:
    raw = sdk.chat.completions.with_raw_response.create(model="mrpvm", messages=[TOLD], metadata={"app": "walk"})
    answer = raw.parse()
    type(answer).model_validate(answer.model_dump(), strict=True)
    assert answer.object == "chat.completion"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    turn = ExplainabilityTurn.objects.get()
    assert answer.id == f"chatcmpl-{turn.request_id.removeprefix('req-')}"
    assert answer._request_id == turn.request_id
    assert raw.headers["x-session-id"] == turn.session.session_id
    assert turn.client_request["metadata"] == {"app": "walk"}


@pytest.mark.rule("DECISION-21", "DECISION-30")
def test_a_streamed_chat_comes_as_chunks_with_usage_at_the_end(sdk: OpenAI) -> None:
    sdk.chat.completions.create(model="mrpvm", messages=[TOLD], extra_headers={"X-Session-Id": "walk"})
    chunks = list(
        sdk.chat.completions.create(
            model="mrpvm", messages=[ASKED], stream=True, stream_options={"include_usage": True},
            extra_headers={"X-Session-Id": "walk"},
        )
    )  # fmt: skip
    for chunk in chunks:
        type(chunk).model_validate(chunk.model_dump(), strict=True)
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == Message.objects.filter(role="assistant").latest("pk").content
    assert "Rex" in text
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage
    assert chunks[-1].usage.total_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_include_usage_no_chunk_counts(sdk: OpenAI) -> None:
    chunks = list(sdk.chat.completions.create(model="mrpvm", messages=[TOLD], stream=True))
    assert all(chunk.choices for chunk in chunks)


@pytest.mark.rule("DECISION-29")
def test_models_are_listed_and_read(sdk: OpenAI) -> None:
    assert [model.id for model in sdk.models.list()] == ["mrpvm"]
    assert sdk.models.retrieve("mrpvm").owned_by == "mrpvm"
    with pytest.raises(openai.NotFoundError) as raised:
        sdk.models.retrieve("gpt-99")
    assert raised.value.code == "model_not_found"


def test_base_is_chosen_by_the_name_of_a_model(sdk: OpenAI, project: Project) -> None:
    handbook, other = create_base(project, "Handbook"), create_base(project, "Letters")
    load_source(handbook, Upload(data=b"The office is in Lund.", name="office.txt", declared_type="text/plain"))
    named = f"mrpvm:{handbook.kb_id}"
    assert [model.id for model in sdk.models.list()] == ["mrpvm", named, f"mrpvm:{other.kb_id}"]
    assert sdk.models.retrieve(named).model_extra == {"name": "mrpvm: Handbook"}
    conversation = [{"role": "user", "content": "Where is the office?"}]

    def ask(model: str) -> str:
        answer = sdk.chat.completions.create(model=model, messages=conversation)  # type: ignore[arg-type]
        assert answer.model == model
        return str(answer.choices[0].message.content)

    for model in (named, "mrpvm:Handbook"):
        assert "Lund" in ask(model)
    refused = ask(f"mrpvm:{other.kb_id}")
    assert "Lund" not in refused
    conversation += [{"role": "assistant", "content": refused}, {"role": "user", "content": "Where is the office?"}]
    assert "Lund" in ask(named)  # the conversation goes on with another base
    assert Session.objects.get(turn_sequence=2).mounted_kb == handbook


def test_model_that_names_no_base_is_refused(sdk: OpenAI, project: Project, other_project: Project) -> None:
    theirs = create_base(other_project, "Theirs")
    for _ in range(2):
        create_base(project, "Twice")
    for named in ("nothing", "Theirs", theirs.kb_id, ""):
        for ask in (sdk.models.retrieve, lambda model: sdk.chat.completions.create(model=model, messages=[TOLD])):
            with pytest.raises(openai.NotFoundError) as raised:
                ask(f"mrpvm:{named}")
            assert (raised.value.code, raised.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError, match="Several knowledge bases have the name 'Twice'"):
        sdk.models.retrieve("mrpvm:Twice")


def test_a_response_is_created_read_listed_and_deleted(sdk: OpenAI) -> None:
    made = sdk.responses.create(
        model="mrpvm", input="My dog is called Rex.", instructions="Be brief.", metadata={"a": "b"}
    )
    type(made).model_validate(made.model_dump(), strict=True)
    assert made.status == "completed"
    assert made.output_text == Message.objects.get(role="assistant").content
    assert made.usage
    assert made.usage.total_tokens > 0
    read = sdk.responses.retrieve(made.id)
    assert read == made
    assert (read.instructions, read.metadata) == ("Be brief.", {"a": "b"})
    (item,) = sdk.responses.input_items.list(made.id)
    assert item.content[0].text == "My dog is called Rex."
    sdk.responses.delete(made.id)
    for gone in (lambda: sdk.responses.retrieve(made.id), lambda: sdk.responses.input_items.list(made.id)):
        with pytest.raises(openai.NotFoundError):
            gone()
    assert Message.objects.count() == 2


def test_a_streamed_response_numbers_its_events(sdk: OpenAI) -> None:
    with sdk.responses.stream(model="mrpvm", input="My dog is called Rex.") as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert kinds[4 + len(deltas) :] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (
        "".join(event.delta for event in deltas) == final.output_text == Message.objects.get(role="assistant").content
    )
    assert sdk.responses.retrieve(final.id).output_text == final.output_text


def test_the_latest_response_continues_an_older_one_forks(sdk: OpenAI) -> None:
    first = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    second = sdk.responses.create(model="mrpvm", input="My cat is called Tom.", previous_response_id=first.id)
    assert second.conversation == first.conversation
    assert second.previous_response_id == first.id
    third = sdk.responses.create(model="mrpvm", input="What is my cat called?", previous_response_id=second.id)
    assert "Tom" in third.output_text
    forked = sdk.responses.create(model="mrpvm", input="What is my cat called?", previous_response_id=first.id)
    assert forked.conversation != first.conversation
    assert "Tom" not in forked.output_text
    dog = sdk.responses.create(model="mrpvm", input="What is my dog called?", previous_response_id=forked.id)
    assert "Rex" in dog.output_text
    fork = Session.objects.get(forked_from__isnull=False)
    assert (fork.forked_at, fork.fork_reason, fork.messages.count()) == (2, "edited", 6)
    assert Session.objects.get(forked_from=None).messages.count() == 6


def test_a_stored_response_is_not_streamed(sdk: OpenAI) -> None:
    made = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    assert sdk.responses.retrieve(made.id, stream=False) == made
    with pytest.raises(openai.BadRequestError, match="ask for it again until it is completed") as raised:
        list(sdk.responses.retrieve(made.id, stream=True))
    assert (raised.value.code, raised.value.param) == ("unsupported_parameter", "stream")


def test_an_unknown_previous_response_is_refused_as_by_openai(sdk: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        sdk.responses.create(model="mrpvm", input="Hi", previous_response_id="resp_0123")
    assert (raised.value.code, raised.value.param) == ("previous_response_not_found", "previous_response_id")
    assert not Session.objects.exists()


def test_an_answer_in_an_input_is_named_by_its_item(sdk: OpenAI) -> None:
    """The AI SDK sends earlier answers so, instead of their texts."""
    told = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    reference = {"type": "item_reference", "id": told.output[0].id}
    asked = sdk.responses.create(model="mrpvm", input=[TOLD, reference, ASKED])  # type: ignore[list-item]
    assert "Rex" in asked.output_text
    assert asked.conversation == told.conversation  # the input is recognised as if it held the answer


def test_an_unknown_item_in_an_input_is_refused(sdk: OpenAI, stranger: Caller, site: Caller) -> None:
    told = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    for asking, item in (
        (sdk, f"msg_{'0' * 32}"),
        (sdk, "msg_1"),
        (sdk, None),
        (sdk.with_options(api_key=key_of(stranger)), told.output[0].id),
        (sdk.with_options(api_key=key_of(site)), told.output[0].id),
    ):
        with pytest.raises(openai.NotFoundError) as raised:
            asking.responses.create(model="mrpvm", input=[{"type": "item_reference", "id": item}, ASKED])
        assert (raised.value.code, raised.value.param) == ("item_not_found", "input[0]")
    sdk.responses.delete(told.id)
    with pytest.raises(openai.NotFoundError):
        sdk.responses.create(model="mrpvm", input=[{"type": "item_reference", "id": told.output[0].id}, ASKED])
    many = [{"type": "item_reference", "id": told.output[0].id}] * 1001
    with pytest.raises(openai.BadRequestError, match="up to 1000 answers"):
        sdk.responses.create(model="mrpvm", input=[*many, ASKED])  # type: ignore[list-item]
    assert Session.objects.count() == 1


def test_what_a_model_thought_and_called_in_an_input_is_left_out(sdk: OpenAI) -> None:
    told = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    called = {"type": "function_call", "call_id": "call-1", "name": "weather", "arguments": "{}"}
    given = {"type": "function_call_output", "call_id": "call-1", "output": "7 degrees"}
    answer = {"role": "assistant", "content": told.output_text}
    same = sdk.responses.create(model="mrpvm", input=[TOLD, thought, answer, ASKED])  # type: ignore[list-item]
    assert same.conversation == told.conversation
    other = sdk.responses.create(model="mrpvm", input=[TOLD, called, given, answer, ASKED])  # type: ignore[list-item]
    assert "Rex" in other.output_text
    assert other.conversation is not None
    session = Session.objects.get(session_id=f"sess-{other.conversation.id.removeprefix('conv_')}")
    assert list(session.messages.order_by("sequence").values_list("role", flat=True)) == [
        "user", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    with pytest.raises(openai.BadRequestError, match="'web_search_call' are not taken"):
        sdk.responses.create(model="mrpvm", input=[{"type": "web_search_call", "id": "ws_1", "status": "completed"}])  # type: ignore[list-item]


def test_a_background_response_is_cancelled(sdk: OpenAI) -> None:
    with registered(HeldSolver()) as solver:
        made = sdk.responses.create(
            model="mrpvm", input="My dog is called Rex.", background=True,
            extra_body={"goal_solver_plugin": "gs-held"},
        )  # fmt: skip
        assert made.status == "in_progress"
        assert solver.started.wait(PATIENCE_SECONDS)
        cancelled = sdk.responses.cancel(made.id)
        solver.go_on.set()
    assert cancelled.status == "cancelled"
    assert not Message.objects.exists()
    with pytest.raises(openai.ConflictError):
        sdk.responses.cancel(made.id)


def test_a_conversation_lives_from_creation_to_deletion(sdk: OpenAI) -> None:
    made = sdk.conversations.create(
        metadata={"topic": "pets"},
        items=[{"type": "message", "role": "user", "content": "Good morning."},
               {"type": "message", "role": "assistant", "content": "Good morning."}],
    )  # fmt: skip
    assert sdk.conversations.retrieve(made.id) == made
    assert sdk.conversations.update(made.id, metadata={"topic": "dogs"}).metadata == {"topic": "dogs"}
    told = sdk.responses.create(model="mrpvm", input="My dog is called Rex.", conversation=made.id)
    asked = sdk.responses.create(model="mrpvm", input="What is my dog called?", conversation={"id": made.id})
    assert told.conversation
    assert told.conversation.id == made.id
    assert "Rex" in asked.output_text
    roles = [item.role for item in sdk.conversations.items.list(made.id, order="asc")]
    assert roles == ["user", "assistant"] * 3
    (added,) = sdk.conversations.items.create(
        made.id, items=[{"type": "message", "role": "user", "content": "Well then."}]
    ).data
    assert sdk.conversations.items.retrieve(added.id, conversation_id=made.id).content[0].text == "Well then."
    assert sdk.conversations.items.retrieve(asked.output[0].id, conversation_id=made.id).role == "assistant"
    sdk.conversations.items.delete(added.id, conversation_id=made.id)
    with pytest.raises(openai.NotFoundError):
        sdk.conversations.items.retrieve(added.id, conversation_id=made.id)
    assert sdk.conversations.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        sdk.conversations.retrieve(made.id)


def test_items_are_paged(sdk: OpenAI) -> None:
    made = sdk.conversations.create(items=[{"role": "user", "content": f"Number {place}"} for place in range(7)])
    first = sdk.conversations.items.list(made.id, limit=3, order="asc")
    assert [item.content[0].text for item in first.data] == ["Number 0", "Number 1", "Number 2"]
    assert first.has_more
    assert [item.content[0].text for item in first] == [f"Number {place}" for place in range(7)]
    assert [item.content[0].text for item in sdk.conversations.items.list(made.id, limit=2).data] == [
        "Number 6", "Number 5",
    ]  # fmt: skip


def test_a_response_is_streamed_without_the_sdks_helper(sdk: OpenAI) -> None:
    events = list(sdk.responses.create(model="mrpvm", input="My dog is called Rex.", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.output_text == Message.objects.get(role="assistant").content


@pytest.mark.rule("POLICY-50")
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_policies_are_chosen_by_a_request(sdk: OpenAI, api: str) -> None:
    """The names of the seed and of KTS are accepted beside OpenAI's own fields; an error names the invalid flag."""

    def ask(session_id: str, **flags: object) -> dict[str, object]:
        more = {"extra_body": flags, "extra_headers": {"X-Session-Id": session_id}}
        if api == "chat":
            sdk.chat.completions.create(model="mrpvm", messages=[ASKED], **more)  # type: ignore[arg-type]
        else:
            sdk.responses.create(model="mrpvm", input="What is my dog called?", **more)  # type: ignore[arg-type]
        return dict(ExplainabilityTurn.objects.latest("pk").context_report or {})

    on = ask("a")
    assert {"rewriting", "memory"} <= on.keys()
    off = ask("b", enable_query_rewriting=False, session_memory_enabled=False)
    assert not {"rewriting", "memory"} & off.keys()
    for _ in range(3):
        ask("b")
    cut = ask("b", enable_history_summarization=False, history_max_turns=1)
    kept = [item.get("kept_count") for item in cut["sections"] if item["name"] == "conversation"]  # type: ignore[attr-defined]
    assert kept == [2]
    with pytest.raises(openai.BadRequestError) as raised:
        ask("b", history_max_turns=0)
    assert "history_max_turns" in raised.value.message


@pytest.mark.rule("DECISION-30")
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n", 2),
        ("tool_choice", "required"),
        ("logprobs", True),
        ("audio", {"voice": "alloy", "format": "wav"}),
        ("response_format", {"type": "json_object"}),
        (
            "messages",
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a"}}]}],
        ),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(sdk: OpenAI, parameter: str, value: object) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        sdk.chat.completions.create(**{"model": "mrpvm", "messages": [TOLD], parameter: value})  # type: ignore[call-overload]
    assert raised.value.code == "unsupported_parameter"
    assert raised.value.param is not None
    assert raised.value.param.startswith(parameter)
    assert not Session.objects.exists()


@pytest.mark.parametrize("kind", ["json_object", "json_schema"])
def test_who_wants_json_is_told_how_to_get_it(sdk: OpenAI, kind: str) -> None:
    wanted: Any = {"type": kind, "json_schema": {"name": "a", "schema": {"type": "object"}}}
    with pytest.raises(openai.BadRequestError, match="ask for the form in the message") as raised:
        sdk.chat.completions.create(model="mrpvm", messages=[TOLD], response_format=wanted)
    assert raised.value.type == "invalid_request_error"
    assert (raised.value.code, raised.value.param) == ("unsupported_parameter", "response_format")
    with pytest.raises(openai.BadRequestError, match="ask for the form in the message") as raised:
        sdk.responses.create(model="mrpvm", input="Hi", text={"format": {"name": "a", "schema": {}, **wanted}})
    assert (raised.value.code, raised.value.param) == ("unsupported_parameter", "text.format")
    headers = {"X-Session-Id": "json"}
    sdk.chat.completions.create(model="mrpvm", messages=[TOLD], response_format={"type": "text"}, extra_headers=headers)
    words: Any = {"role": "user", "content": f"{ASKED['content']} Answer in JSON."}
    answer = sdk.chat.completions.create(model="mrpvm", messages=[words], extra_headers=headers)
    assert "Rex" in json.dumps(json.loads(answer.choices[0].message.content or ""))


def test_tools_that_are_not_to_be_called_change_nothing(sdk: OpenAI) -> None:
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    for choice, warned in (("none", []), ("auto", ["tools has no effect here."])):
        chosen: Any = choice
        answer = sdk.chat.completions.create(model="mrpvm", messages=[TOLD], tools=tools, tool_choice=chosen)
        assert (answer.model_extra or {})["warnings"] == warned
        assert answer.choices[0].message.content == "Noted: My dog is called Rex. [1]"
        assert answer.choices[0].message.tool_calls is None


def test_what_is_not_served_is_refused_in_the_clients_terms(sdk: OpenAI) -> None:
    asked: list[Callable[[], object]] = [
        lambda: sdk.embeddings.create(model="mrpvm", input="Rex"),
        lambda: sdk.completions.create(model="mrpvm", prompt="Rex"),
        lambda: sdk.images.generate(model="mrpvm", prompt="Rex"),
        lambda: sdk.moderations.create(input="Rex"),
        lambda: sdk.files.list(),
        lambda: sdk.responses.compact(model="mrpvm", input="Rex"),
        lambda: sdk.responses.input_tokens.count(model="mrpvm", input="Rex"),
    ]
    for ask in asked:
        with pytest.raises(openai.NotFoundError, match="what this server answers below /v1") as raised:
            ask()
        assert (raised.value.type, raised.value.code, raised.value.param) == (
            "invalid_request_error", "unknown_url", None,
        )  # fmt: skip


@pytest.mark.rule("DECISION-29")
def test_models_of_a_provider_are_listed_and_others_refused(sdk: OpenAI, provider: Provider) -> None:
    listed = [model.id for model in sdk.models.list()]
    assert listed[:2] == ["mrpvm", "some-model"]
    for name in listed:
        assert sdk.models.retrieve(name).id == name
    for refused in (
        lambda: sdk.models.retrieve("gpt-9"),
        lambda: sdk.chat.completions.create(model="gpt-9", messages=[TOLD]),
        lambda: sdk.responses.create(model="gpt-9", input="Hi"),
    ):
        with pytest.raises(openai.NotFoundError, match="Ask 'mrpvm', or another that GET /v1/models lists") as raised:
            refused()
        assert (raised.value.type, raised.value.code, raised.value.param) == (
            "invalid_request_error", "model_not_found", "model",
        )  # fmt: skip


@pytest.mark.rule("DECISION-30")
def test_what_has_no_effect_is_said(sdk: OpenAI) -> None:
    answer = sdk.chat.completions.create(
        model="mrpvm", messages=[TOLD], top_p=0.5, seed=7, presence_penalty=1, store=False, service_tier="flex",
        parallel_tool_calls=False, reasoning_effort="low", n=1, extra_body={"invented": 1},
    )  # fmt: skip
    warnings = ExplainabilityTurn.objects.get().client_request["warnings"]
    assert answer.model_extra
    assert answer.model_extra["warnings"] == warnings
    named = {warning.split()[0] for warning in warnings}
    assert named == {
        "top_p", "seed", "presence_penalty", "store", "service_tier", "parallel_tool_calls", "reasoning_effort",
        "invented",
    }  # fmt: skip


@pytest.mark.rule("DECISION-30")
def test_what_asks_for_nothing_else_is_not_warned_of(sdk: OpenAI) -> None:
    answer = sdk.chat.completions.create(
        model="mrpvm", messages=[TOLD], n=1, top_p=1, store=True, service_tier="default", logit_bias={}, tools=[],
        tool_choice="auto", functions=[], function_call="auto", presence_penalty=0, logprobs=False,
    )  # fmt: skip
    assert (answer.model_extra or {})["warnings"] == []


@pytest.mark.rule("DECISION-30")
def test_the_length_and_the_stop_of_an_answer_are_the_clients(sdk: OpenAI) -> None:
    headers = {"X-Session-Id": "limits"}
    sdk.chat.completions.create(model="mrpvm", messages=[TOLD], extra_headers=headers)
    whole = sdk.chat.completions.create(model="mrpvm", messages=[ASKED], extra_headers=headers)
    text = whole.choices[0].message.content or ""
    cut = sdk.chat.completions.create(model="mrpvm", messages=[ASKED], max_tokens=2, extra_headers=headers)
    assert (cut.choices[0].message.content, cut.choices[0].finish_reason) == (text[:8], "length")
    assert Message.objects.latest("pk").content == text[:8]
    ended = sdk.chat.completions.create(model="mrpvm", messages=[ASKED], stop=["Rex"], extra_headers=headers)
    assert ended.choices[0].message.content == text.split("Rex")[0]
    made = sdk.responses.create(model="mrpvm", input="What is my dog called?", max_output_tokens=2,
                                conversation="limits")  # fmt: skip
    assert made.status == "incomplete"
    assert made.incomplete_details
    assert made.incomplete_details.reason == "max_output_tokens"
    assert sdk.responses.retrieve(made.id) == made


@pytest.mark.rule("DECISION-29")
def test_an_unknown_model_is_refused_where_models_are_named(sdk: OpenAI, settings: Settings) -> None:
    answer = sdk.chat.completions.create(model="gpt-4o", messages=[TOLD])
    assert answer.model == "gpt-4o"
    assert "gpt-4o" in ExplainabilityTurn.objects.get().client_request["warnings"][0]
    settings.MRPVM_OPENAI_ANY_MODEL = "0"
    with pytest.raises(openai.NotFoundError) as raised:
        sdk.chat.completions.create(model="gpt-4o", messages=[TOLD])
    assert (raised.value.code, raised.value.param) == ("model_not_found", "model")


def test_a_message_that_is_too_long_is_too_much_context(sdk: OpenAI) -> None:
    """Agents shorten their conversation on this code of OpenAI's, in this class of the SDK."""
    long = "x" * 8_001
    for ask, param in (
        (lambda: sdk.chat.completions.create(model="mrpvm", messages=[{"role": "user", "content": long}]), "messages"),
        (lambda: sdk.responses.create(model="mrpvm", input=long), "input"),
    ):
        with pytest.raises(openai.BadRequestError, match="8001 characters; 8000 are allowed") as raised:
            ask()
        assert (raised.value.code, raised.value.param) == ("context_length_exceeded", param)


def test_what_is_wrong_with_a_message_names_where_it_was_sent(sdk: OpenAI) -> None:
    system: Any = [{"role": "system", "content": "Be brief."}]
    for ask, code, param in (
        (lambda: sdk.chat.completions.create(model="mrpvm", messages=system), "NO_USER_MESSAGE", "messages"),
        (lambda: sdk.responses.create(model="mrpvm", input=system), "NO_USER_MESSAGE", "input"),
        (lambda: sdk.chat.completions.create(model="mrpvm", messages=[{"role": "user", "content": " "}]),
         "INVALID_CONTENT", "messages"),
        (lambda: sdk.responses.create(model="mrpvm", input=" "), "INVALID_CONTENT", "input"),
    ):  # fmt: skip
        with pytest.raises(openai.BadRequestError) as raised:
            ask()
        assert (raised.value.code, raised.value.param) == (code, param)


def test_a_body_that_is_too_large_is_an_error_of_openais_shape(sdk: OpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as raised:
        sdk.responses.create(model="mrpvm", input="x" * 3_000_000)
    error = raised.value
    assert (error.status_code, error.code, error.type) == (413, "BODY_TOO_LARGE", "invalid_request_error")
    assert isinstance(error.body, dict)
    assert set(error.body) == {"message", "type", "param", "code", "details", "request_id", "session_id"}


@pytest.mark.parametrize("path", ["", "/openai"])
def test_a_base_url_of_another_path_is_told_the_right_one(sdk: OpenAI, live_asgi: LiveServer, path: str) -> None:
    elsewhere = sdk.with_options(base_url=f"{live_asgi.url}{path}")
    asked: list[Callable[[], object]] = [
        elsewhere.models.list,
        lambda: elsewhere.chat.completions.create(model="mrpvm", messages=[TOLD]),
        lambda: elsewhere.responses.create(model="mrpvm", input="Hi"),
    ]
    for ask in asked:
        with pytest.raises(openai.NotFoundError, match="OpenAI's API below /v1") as raised:
            ask()
        assert raised.value.code == "NOT_FOUND"


def test_a_wrong_key_a_viewer_and_a_stranger_are_told_so(
    sdk: OpenAI, live_asgi: LiveServer, caller: object, stranger: Caller
) -> None:
    with pytest.raises(openai.AuthenticationError) as raised:
        sdk.with_options(api_key="mrp_" + "x" * 40).models.list()
    assert raised.value.code == "invalid_api_key"
    viewer = sdk.with_options(api_key=key_of(caller("viewer")))  # type: ignore[operator]
    assert viewer.models.list().data
    with pytest.raises(openai.PermissionDeniedError):
        viewer.responses.create(model="mrpvm", input="Hi")
    made = sdk.responses.create(model="mrpvm", input="My dog is called Rex.")
    foreign = sdk.with_options(api_key=key_of(stranger))
    assert made.conversation is not None
    for read in (
        lambda: foreign.responses.retrieve(made.id),
        lambda: foreign.responses.delete(made.id),
        lambda: foreign.conversations.retrieve(made.conversation.id),
        lambda: foreign.conversations.items.list(made.conversation.id),
        lambda: foreign.responses.create(model="mrpvm", input="Hi", previous_response_id=made.id),
        lambda: foreign.responses.create(model="mrpvm", input="Hi", conversation=made.conversation.id),
    ):
        with pytest.raises(openai.NotFoundError):
            read()


@pytest.mark.rule("DECISION-19")
def test_a_busy_session_is_said_and_not_tried_again(sdk: OpenAI) -> None:
    with registered(HeldSolver()) as solver:
        made = sdk.responses.create(
            model="mrpvm", input="My dog is called Rex.", background=True, conversation="busy",
            extra_body={"goal_solver_plugin": "gs-held"},
        )  # fmt: skip
        assert solver.started.wait(PATIENCE_SECONDS)
        with pytest.raises(openai.ConflictError) as raised:
            sdk.with_options(max_retries=2).responses.create(model="mrpvm", input="And now?", conversation="busy")
        assert raised.value.response.headers["x-should-retry"] == "false"
        assert raised.value.code == "TURN_IN_PROGRESS"
        sdk.responses.cancel(made.id)
        solver.go_on.set()


def test_a_turn_that_fails_says_why_whole_and_streamed(sdk: OpenAI) -> None:
    with registered(WaitingSolver()) as solver:
        solver.go_on.set()
        pinned = {"goal_solver_plugin": "gs-waiting"}
        with pytest.raises(openai.UnprocessableEntityError) as raised:
            sdk.chat.completions.create(model="mrpvm", messages=[ASKED], extra_body=pinned)
        assert raised.value.code == "PLUGIN_STAGE_EXHAUSTED"
        with pytest.raises(openai.APIError, match="solver"):
            list(sdk.chat.completions.create(model="mrpvm", messages=[ASKED], stream=True, extra_body=pinned))
        events = list(sdk.responses.create(model="mrpvm", input="Who?", stream=True, extra_body=pinned))
    failed = events[-1]
    assert failed.type == "response.failed"
    assert failed.response.error
    assert "PLUGIN_STAGE_EXHAUSTED" in failed.response.error.message
    assert sdk.responses.retrieve(failed.response.id).status == "failed"
    with pytest.raises(openai.NotFoundError):
        sdk.responses.create(model="mrpvm", input="And?", previous_response_id=failed.response.id)

"""HAL's chat endpoint under our names: requests, answers, errors, and continuation."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from sessions_app.actions.settings.projects import create_project
from sessions_app.api.turns import chat, turn_stream
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from sessions_app.models.named_sql import select_conversation
from sessions_app.provider_threads import forget_provider_threads
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnResult, run_turn
from tests.api.conftest import Caller
from tests.api.test_chat_stream import Streamed
from tests.api.test_context import CHAT, PLAIN, begun, section
from tests.configured_model import acting
from tests.live import LiveServer
from tests.llm.provider import KEY, Provider, refuse, say

LLM = {"seed_detector_plugin": "sd-symbolic", "goal_solver_plugin": "gs-llm-fast", **PLAIN}


@pytest.fixture
def responses(provider: Provider, unvalidated: None, settings: Settings) -> Provider:
    """Return the configured provider, called by its Responses API."""
    settings.MRPVM_LLM_API = "responses"
    forget_provider_threads()
    return provider


def contents(request: dict[str, Any]) -> list[str]:
    """Return the texts of the conversation in a request."""
    return [item["content"] for item in request.get("input") or request["messages"]]


@pytest.mark.rule("WINDOW-1", "WINDOW-3")
def test_a_first_message_is_sent_alone(editor: Caller, responses: Provider) -> None:
    sent = editor.chat("My dog is called Rex.", **LLM).json()["outbound_request"]
    assert "previous_response_id" not in sent
    assert sum("My dog is called Rex." in text for text in contents(sent)) == 1
    assert contents(sent)[:-1] == []


@pytest.mark.rule("CONTEXT-4", "WINDOW-4", "WINDOW-6")
@pytest.mark.parametrize(("prior", "kept", "has_note"), [(20, 20, False), (45, 20, True)])
def test_the_last_20_are_sent_with_one_note_if_there_were_more(
    editor: Caller, provider: Provider, unvalidated: None, prior: int, kept: int, has_note: bool
) -> None:
    session = begun(editor, prior)
    answer = editor.chat("What is my dog called?", session.session_id, **LLM).json()
    *said, asked = contents(answer["outbound_request"])
    noted = [text for text in said if "(older messages omitted; showing last 20 messages)" in text]
    assert len(noted) == has_note
    assert [text for text in said if text.startswith("Thing")] == [
        f"Thing {place} costs ${place}00." for place in range(prior - kept, prior)
    ]
    assert "What is my dog called?" in asked
    assert not any("What is my dog called?" in text for text in said)


@pytest.mark.rule("DECISION-17", "CONTEXT-11", "CONTEXT-13", "WINDOW-10", "WINDOW-13")
def test_the_budget_of_characters_names_itself(editor: Caller, settings: Settings) -> None:
    """The endpoint has HAL's limit of 12,000 characters, and no lower limit of messages."""
    settings.MRPVM_MAX_HISTORY_CHARS = 12_000
    session_id = editor.post("/api/sessions", {}).json()["session_id"]
    history = [{"role": ("user", "assistant")[place % 2], "content": "ab"} for place in range(1000)]
    body = {"history_max_turns": 500, **PLAIN}
    answer = editor.chat("Hello there.", session_id, conversation_history=history, **body)
    report = ExplainabilityTurn.objects.get(request_id=answer.json()["request_id"]).context_report
    cut = section(report, "conversation")
    assert (cut["kept_count"], cut["omitted_count"], cut["rule"]) == (585, 415, "characters")
    assert cut["note"] == "(older messages omitted; showing recent conversation within 12,000 characters)"
    long = [{"role": "user", "content": "x" * 13_000}]
    answer = editor.chat("Hello there.", session_id, conversation_history=long, **body)
    report = ExplainabilityTurn.objects.get(request_id=answer.json()["request_id"]).context_report
    assert section(report, "conversation")["kept_count"] == 1


@pytest.mark.rule("CONTEXT-21", "WINDOW-15", "WINDOW-16", "POLICY-10")
def test_a_history_with_nothing_in_it_gives_way(editor: Caller) -> None:
    """The first field that is not empty is used alone; without one, the stored history is."""
    session = begun(editor, 3)
    own, other = ([{"role": "user", "content": text}] for text in ("Mine.", "Other."))
    for body, source, said in (
        ({"conversation_history": own, "conversation_context": other}, "request", "Mine."),
        ({"conversation_history": [], "conversation_context": other}, "request", "Other."),
        ({"conversation_history": []}, "stored", None),
        ({"conversationHistory": "no list", "previous_response_id": 7}, "stored", None),
        ({"conversation_history": {"role": "user"}, "conversation_context": other}, "request", "Other."),
    ):
        answer = editor.chat("Hello there.", session.session_id, **body, **PLAIN).json()
        report = ExplainabilityTurn.objects.get(request_id=answer["request_id"]).context_report
        assert report["conversationSource"] == source
        if said is not None:
            assert section(report, "conversation")["text"] == f"**user**: {said}"


@pytest.mark.rule("DECISION-44", "CONTEXT-6", "CONTEXT-33")
def test_three_answers_make_one_thread_and_the_request_says_so(editor: Caller, responses: Provider) -> None:
    """The provider's ids are not returned; ours identify the turns."""
    session_id, followed, ids = None, [], []
    for message in ("My dog is called Rex.", "What is my dog called?", "And why?"):
        answer = editor.chat(message, session_id, **LLM).json()
        session_id = answer["session_id"]
        followed.append(answer["outbound_request"].get("previous_response_id"))
        ids.append(answer["response_id"])
        assert answer["outbound_request"] == next(body for body in responses.bodies[::-1] if body["store"])
        assert (answer["tool_calls"], answer["error_phase"]) == ([], None)
    assert followed[0] is None
    assert None not in followed[1:]
    assert len(set(ids)) == 3
    assert not set(ids) & set(followed)
    assert KEY not in str(responses.bodies)


@pytest.mark.rule("DECISION-44", "CONTEXT-30", "CONTEXT-34")
def test_an_answer_is_gone_on_from_by_its_id(editor: Caller) -> None:
    """The latest answer is continued in its session, an older one in a fork; an empty id counts as none."""
    first = editor.chat("My dog is called Rex.").json()
    second = editor.chat("My cat is called Tom.", previous_response_id=first["response_id"]).json()
    assert second["session_id"] == first["session_id"]
    third = editor.chat("What is my cat called?", previous_response_id=first["response_id"]).json()
    assert third["session_id"] not in (first["session_id"], "")
    fork = Session.objects.get(session_id=third["session_id"])
    assert fork.forked_from.session_id == first["session_id"]
    assert "Tom" not in third["choices"][0]["message"]["content"]
    again = editor.chat("What is my cat called?", second["session_id"], previous_response_id="").json()
    assert "Tom" in again["choices"][0]["message"]["content"]


@pytest.mark.parametrize("streams", [False, True])
def test_a_concurrent_turn_is_not_continued_from(
    streams: bool, editor: Caller, live_asgi: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another turn runs first, the named answer is no longer the latest, and is continued in a fork."""
    first = editor.chat("My dog is called Rex.").json()

    def overtaken(session: Session, call: TurnCall, **options: Any) -> TurnResult:
        run_turn(session, TurnCall(message="My cat is called Tom."))
        return run_turn(session, call, **options)

    monkeypatch.setattr(turn_stream if streams else chat, "answer_message", overtaken)
    named = {"previous_response_id": first["response_id"]}
    if streams:
        *_, (_, answer) = Streamed(live_asgi, editor, message="What is my cat called?", **named).events()
    else:
        answer = editor.chat("What is my cat called?", **named).json()
    fork = Session.objects.get(session_id=answer["session_id"])
    assert fork.forked_from is not None
    assert (fork.forked_from.session_id, fork.forked_at) == (first["session_id"], 2)
    assert "Tom" not in answer["choices"][0]["message"]["content"]


@pytest.mark.rule("CONTEXT-30")
def test_an_id_that_cannot_be_gone_on_from_is_refused(editor: Caller, caller: Any, project: Project) -> None:
    first, other = editor.chat("My dog is called Rex.").json(), editor.chat("My cat is called Tom.").json()
    count = Session.objects.count()
    for body, status, code in (
        ({"previous_response_id": "resp_unknown"}, 404, "RESPONSE_NOT_FOUND"),
        ({"previous_response_id": first["session_id"]}, 404, "RESPONSE_NOT_FOUND"),
        ({"previous_response_id": first["response_id"], "session_id": other["session_id"]}, 400, "INVALID_INPUT"),
    ):
        answer = editor.post(CHAT, {"messages": [{"role": "user", "content": "Hello there."}], **body})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert Session.objects.count() == count


@pytest.mark.rule("DECISION-44", "CONTEXT-33")
def test_what_a_commands_tool_did_is_told(editor: Caller) -> None:
    answer = editor.chat("/calc 20+22").json()
    assert answer["tool_calls"] == [{"name": "builtin:calculate", "input": "20+22", "output": "42"}]
    assert (answer["response_id"], answer["outbound_request"]) == (None, None)


@pytest.mark.rule("DECISION-44", "CONTEXT-32", "CONTEXT-35", "WINDOW-19", "WINDOW-31")
def test_a_model_that_is_missing_or_fails_is_named_as_the_phase(
    editor: Caller, responses: Provider, settings: Settings
) -> None:
    """The error holds the failed request, and the thread is not changed."""
    first = editor.chat("My dog is called Rex.", **LLM).json()
    responses.otherwise = acting(refuse(500, "overloaded"))
    failed = editor.chat("What is my dog called?", first["session_id"], **LLM)
    details = failed.json()["error"]["details"]
    assert (failed.status_code, details["error_phase"], details["tool_calls"]) == (502, "openai", [])
    followed = details["outbound_request"]["previous_response_id"]
    responses.otherwise = acting(say("It is Rex [1]."))
    again = editor.chat("What is my dog called?", first["session_id"], **LLM).json()
    assert again["outbound_request"]["previous_response_id"] == followed
    settings.MRPVM_LLM_BASE_URL = ""
    missing = editor.chat("What is my dog called?", first["session_id"], **LLM)
    details = missing.json()["error"]["details"]
    assert missing.status_code == 503
    assert (details["error_phase"], details["outbound_request"], details["tool_calls"]) == ("openai", None, [])


@pytest.mark.rule("WINDOW-21")
def test_sessions_and_projects_have_their_own_threads(
    editor: Caller, caller: Callable[..., Caller], responses: Provider
) -> None:
    first = editor.chat("My dog is called Rex.", **LLM).json()
    assert editor.chat("Hello there.", first["session_id"], **LLM).json()["outbound_request"]["previous_response_id"]
    stranger = caller("editor", create_project("Elsewhere"))
    for who in (editor, stranger):
        sent = who.chat("What is my dog called?", **LLM).json()["outbound_request"]
        assert "previous_response_id" not in sent
        assert "Rex" not in str(sent["input"])
    body = {"messages": [{"role": "user", "content": "Hello there."}], "previous_response_id": first["response_id"]}
    assert stranger.post(CHAT, body).status_code == 404


@pytest.mark.rule("CONTEXT-73", "WINDOW-34", "POLICY-4")
def test_a_summary_that_reaches_far_enough_is_taken_as_it_is(
    editor: Caller, provider: Provider, unvalidated: None
) -> None:
    """One request makes the summary; turns that add less than a batch make none."""
    session = begun(editor, 10)
    summarising = []
    for _ in range(2):
        answer = editor.chat("What is my dog called?", session.session_id, seed_detector_plugin="sd-symbolic",
                             goal_solver_plugin="gs-symbolic", enable_query_rewriting=False)  # fmt: skip
        report = ExplainabilityTurn.objects.get(request_id=answer.json()["request_id"]).context_report
        assert section(report, "summary")["places"] == [1, 4]
        summarising.append(len(report.get("requests", ())))
    assert summarising == [1, 0]


@pytest.mark.rule("CONTEXT-26", "WINDOW-33")
def test_a_context_that_cannot_be_built_asks_no_model(
    editor: Caller, provider: Provider, unvalidated: None, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("mrpvm.conversation.preparation.build_context", broken)
    answer = editor.chat("My dog is called Rex.", **LLM)
    assert (answer.status_code, answer.json()["error"]["details"]["error_phase"]) == (500, "context-pack")
    assert provider.bodies == []
    assert not Message.objects.exists()


@pytest.mark.rule("DECISION-44", "WINDOW-37")
def test_a_clients_own_history_needs_no_stored_one(editor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begun(editor, 4)

    def without_messages(session: Session, limit: int, *, with_memory: bool) -> object:
        assert limit == 0
        return select_conversation(session, limit, with_memory=with_memory)

    monkeypatch.setattr("sessions_app.turns.state.select_conversation", without_messages)
    history = [{"role": "user", "content": "My dog is called Rex."}]
    answer = editor.chat("And my cat is Tom.", session.session_id, conversation_history=history)
    assert answer.status_code == 200


@pytest.mark.rule("SESSION-36")
def test_numbers_of_turns_are_never_given_twice(editor: Caller) -> None:
    """The number after a gap is the highest plus one."""
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    editor.chat("My cat is called Tom.", session_id)
    editor.chat("My bird is called Pip.", session_id)
    ExplainabilityTurn.objects.filter(turn_index=2).delete()
    editor.chat("My fish is called Bob.", session_id)
    assert list(ExplainabilityTurn.objects.order_by("turn_index").values_list("turn_index", flat=True)) == [1, 3, 4]

"""POST /api/chat/completions as JSON: valid requests, the answer, and the session that is used."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import CallContext, Solution, SolveInput
from sessions_app import shutdown
from sessions_app.actions.sessions.session import delete_session
from sessions_app.api.turns import chat_sessions
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from tests.api.conftest import Caller
from tests.api.doubles import HeldSolver, RaisingDetector, WaitingSolver, descriptor, registered

CHAT = "/api/chat/completions"
USER = {"role": "user", "content": "My dog is called Rex."}


def code_of(answer: Any) -> tuple[int, str]:
    """Return status and error code."""
    return answer.status_code, answer.json()["error"]["code"]


def test_a_new_conversation_remembers(editor: Caller) -> None:
    first = editor.chat("My dog is called Rex.")
    assert first.status_code == 200
    session_id = first.json()["session_id"]
    for told in ("My cat is called Tom.", "My car is red."):
        editor.chat(told, session_id)
    answer = editor.chat("What is my dog called?", session_id).json()
    assert answer["session_id"] == session_id
    assert "Rex" in answer["choices"][0]["message"]["content"]
    assert "Tom" not in answer["choices"][0]["message"]["content"]


@pytest.mark.rule("API-4", "API-11")
def test_one_turn_has_one_request_id_everywhere(editor: Caller) -> None:
    answer = editor.chat("My dog is called Rex.")
    body = answer.json()
    turn = ExplainabilityTurn.objects.get()
    assert {
        body["request_id"],
        body["id"].removeprefix("mrp-"),
        body["execution_trace"]["requestId"],
        answer.headers["X-Request-Id"],
        turn.request_id,
    } == {turn.request_id}


@pytest.mark.rule("API-11")
def test_an_answer_says_who_gave_it(editor: Caller) -> None:
    """OpenAI's fields and ours name the plugin and model; without a model, no tokens are counted."""
    body = editor.chat("My dog is called Rex.", deliberation_level=2).json()
    assert (body["object"], body["choices"][0]["index"], body["choices"][0]["finish_reason"]) == (
        "chat.completion", 0, "stop",
    )  # fmt: skip
    assert body["choices"][0]["message"]["role"] == "assistant"
    assert body["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    used = ("planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "deliberation_level")
    assert [body[name] for name in used] == ["planner-default", "sd-symbolic", "kb-fast", "gs-symbolic", 2]
    assert (body["kb_name"], body["workspace_dirty"], body["expires_at"]) == ("Default KB", False, None)
    assert body["response_document"]["groups"]
    assert body["created"] == int(ExplainabilityTurn.objects.get().created_at.timestamp())


@pytest.mark.rule("DECISION-13", "DECISION-22")
def test_the_trace_has_details_when_asked_for(editor: Caller) -> None:
    plain = editor.chat("My dog is called Rex.").json()
    graph = plain["execution_trace"]["graph"]
    assert graph["details"] == {}
    assert "response_markdown" not in plain
    assert graph["pluginExecutions"]
    full = editor.chat("My dog is called Rex.", include=["details", "response_markdown"]).json()
    graph = full["execution_trace"]["graph"]
    nodes = [*graph["frames"], *graph["pluginExecutions"], *graph["controlNodes"]]
    assert {node["detailRef"] for node in nodes} <= set(graph["details"])
    assert full["response_markdown"].startswith("# MRP Response")


@pytest.mark.rule("SESSION-6", "SESSION-16", "SESSION-26", "SESSION-27", "SESSION-31", "TURN-1", "API-10", "API-18")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "NO_USER_MESSAGE"),
        ({"messages": []}, 400, "NO_USER_MESSAGE"),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, "NO_USER_MESSAGE"),
        ({"messages": "hi"}, 400, "INVALID_INPUT"),
        ({"messages": ["hi"]}, 400, "INVALID_INPUT"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "INVALID_ROLE"),
        ({"messages": [{"role": "tool", "content": "x"}, USER]}, 400, "INVALID_ROLE"),
        ({"messages": [{"role": "user"}]}, 400, "INVALID_CONTENT"),
        ({"messages": [{"role": "user", "content": "  "}]}, 400, "INVALID_CONTENT"),
        ({"messages": [{"role": "user", "content": 5}]}, 400, "INVALID_CONTENT"),
        ({"messages": [{"role": "user", "content": None}]}, 400, "INVALID_CONTENT"),
        ({"messages": [{"role": "user", "content": "x" * 8_001}]}, 413, "NORMALIZER_INPUT_TOO_LARGE"),
        ({"messages": [USER], "deliberation_level": 4}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"messages": [USER], "deliberation_level": -1}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"messages": [USER], "deliberation_level": "2"}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"messages": [USER], "deliberation_level": True}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"messages": [USER], "deliberation_level": 1.5}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"messages": [USER], "planner_plugin": "nope"}, 400, "INVALID_PLANNER_PLUGIN"),
        ({"messages": [USER], "seed_detector_plugin": "nope"}, 400, "INVALID_SEED_DETECTOR_PLUGIN"),
        ({"messages": [USER], "kb_plugin": 7}, 400, "INVALID_KB_PLUGIN"),
        ({"messages": [USER], "goal_solver_plugin": ""}, 400, "INVALID_GOAL_SOLVER_PLUGIN"),
        ({"messages": [USER], "stream": "yes"}, 400, "INVALID_INPUT"),
        ({"messages": [USER], "wait_ms": 60_001}, 400, "INVALID_INPUT"),
        ({"messages": [USER], "include": ["all"]}, 400, "INVALID_INPUT"),
        ({"messages": [USER], "session_id": 5}, 400, "INVALID_INPUT"),
        ({"messages": [USER], "kb_id": "kb-none"}, 404, "KB_NOT_FOUND"),
        ({"messages": [USER], "session_id": "sess-none"}, 404, "SESSION_NOT_FOUND"),
        ({"messages": [USER], "session_id": "my-own"}, 404, "SESSION_NOT_FOUND"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(editor: Caller, body: Any, status: int, code: str) -> None:
    assert code_of(editor.post(CHAT, body)) == (status, code)
    assert not Session.objects.exists()
    assert not ExplainabilityTurn.objects.exists()


@pytest.mark.rule("SESSION-6")
@pytest.mark.parametrize("session_id", [None, "", " ", "null", "undefined"])
def test_no_usable_id_makes_a_session(editor: Caller, session_id: str | None) -> None:
    answer = editor.post(CHAT, {"messages": [USER], "session_id": session_id})
    assert answer.status_code == 200
    assert answer.json()["session_id"].startswith("sess-")


@pytest.mark.rule("SESSION-1", "SESSION-28", "TURN-20", "API-10")
def test_only_the_last_message_of_each_role_counts(editor: Caller) -> None:
    messages = [
        {"role": "system", "content": "first"},
        {"role": "user", "content": "My cat is called Tom."},
        {"role": "system", "content": "second"},
        {"role": "user", "content": "My dog is called Rex."},
    ]
    assert editor.post(CHAT, {"messages": messages}).status_code == 200
    assert list(Message.objects.filter(role="user").values_list("content", flat=True)) == ["My dog is called Rex."]
    assert Session.objects.get().system_prompt == "second"


@pytest.mark.rule("SESSION-2", "API-1", "API-8")
def test_unknown_and_retired_keys_are_ignored(editor: Caller) -> None:
    body = {"messages": [USER], "processing_mode": 5, "retrieval_profile": "x", "temperature": 1, "foo": []}
    assert editor.post(CHAT, body).status_code == 200


@pytest.mark.rule("DECISION-42")
def test_a_client_may_name_its_session_by_header(editor: Caller) -> None:
    name = "3f2b 77/"[:-1]
    first = editor.post(CHAT, {"messages": [USER]}, X_Session_Id=name).json()
    assert first["session_id"] == name
    question = {"messages": [{"role": "user", "content": "What is my dog called?"}]}
    again = editor.post(CHAT, question, X_Session_Id=name).json()
    assert "Rex" in again["choices"][0]["message"]["content"]
    assert editor.get(f"/api/sessions/{name}").json()["message_count"] == 4
    assert Session.objects.count() == 1


@pytest.mark.rule("DECISION-17", "DECISION-42", "DECISION-44")
@pytest.mark.parametrize("key", ["conversation_history", "conversation_context", "conversationHistory"])
def test_a_history_names_a_session_and_begins_it(editor: Caller, key: str) -> None:
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]
    body = {"messages": [USER], "session_id": "client-7", key: history}
    assert editor.post(CHAT, body).status_code == 200
    assert editor.post(CHAT, body).status_code == 200
    said = list(Message.objects.order_by("sequence").values_list("role", "content"))
    assert said[:2] == [("user", "Hello"), ("assistant", "Good day.")]
    assert len(said) == 6


@pytest.mark.rule("DECISION-45")
def test_a_history_keeps_its_roles_and_its_order(editor: Caller) -> None:
    """Messages of every role keep their position."""
    roles = ("system", "user", "tool", "assistant", "user")
    history = [{"role": role, "content": f"Thing {place}."} for place, role in enumerate(roles)]
    body = {"messages": [USER], "session_id": "client-8", "conversation_history": history}
    assert editor.post(CHAT, body).status_code == 200
    kept = editor.get("/api/sessions/client-8/messages").json()["messages"]
    assert [{"role": item["role"], "content": item["content"]} for item in kept[:5]] == history
    assert [item["role"] for item in kept[5:]] == ["user", "assistant"]


@pytest.mark.rule("DECISION-42")
@pytest.mark.parametrize("name", ["a/b", "..", "x" * 129, "sess-mine"])
def test_not_every_name_will_do(editor: Caller, name: str) -> None:
    answer = editor.post(CHAT, {"messages": [USER], "conversation_history": [], "session_id": name})
    assert answer.status_code in {400, 404}
    assert not Session.objects.exists()


def test_a_deleted_session_is_gone_for_its_client_too(editor: Caller) -> None:
    editor.post(CHAT, {"messages": [USER]}, X_Session_Id="mine")
    delete_session(Session.objects.get())
    assert code_of(editor.post(CHAT, {"messages": [USER]}, X_Session_Id="mine")) == (404, "SESSION_NOT_FOUND")


def test_a_database_refusal_is_no_unknown_session(editor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise IntegrityError("a row that is referred to is gone")

    monkeypatch.setattr(chat_sessions, "begin_session", refuse)
    editor.client.raise_request_exception = False
    assert code_of(editor.post(CHAT, {"messages": [USER]})) == (500, "SERVER_INTERNAL_ERROR")


@pytest.mark.rule("DECISION-15", "DECISION-43", "SESSION-16")
def test_an_expired_session_answers_410_and_stays_readable(editor: Caller, settings: Settings) -> None:
    settings.MRPVM_SESSION_IDLE_TTL_MINUTES = 30
    first = editor.chat("My dog is called Rex.").json()
    assert first["expires_at"].endswith("Z")
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for _ in range(2):
        answer = editor.chat("What is my dog called?", first["session_id"])
        assert code_of(answer) == (410, "SESSION_EXPIRED")
        assert answer.json()["error"]["sessionId"] == first["session_id"]
    assert editor.get(f"/api/sessions/{first['session_id']}").json()["status"] == "expired"


@pytest.mark.rule("TURN-5", "API-10")
def test_the_mounted_base_can_be_changed_by_a_chat(editor: Caller, project: Project) -> None:
    kb_id = editor.post("/api/kbs", {"name": "Handbook"}).json()["kb_id"]
    assert editor.chat("My dog is called Rex.", kb_id=kb_id).json()["kb_name"] == "Handbook"
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    assert editor.chat("What is my dog called?", session_id, kb_id=kb_id).json()["kb_id"] == kb_id


@pytest.mark.rule("TURN-31", "API-4", "API-19")
def test_a_failed_turn_says_which_and_keeps_only_its_entry(editor: Caller) -> None:
    with registered(RaisingDetector()):
        answer = editor.chat("My dog is called Rex.", seed_detector_plugin="sd-raising")
    error = answer.json()["error"]
    turn = ExplainabilityTurn.objects.get()
    assert (answer.status_code, error["code"]) == (422, "PLUGIN_STAGE_EXHAUSTED")
    assert error["type"] == "processing_error"
    assert error["requestId"] == turn.request_id
    assert error["sessionId"] == turn.session.session_id
    assert error["details"]["pluginsTried"] == ["sd-raising"]
    assert not Message.objects.exists()
    entry = editor.get(f"/api/sessions/{turn.session.session_id}/turns/{turn.request_id}").json()
    assert entry["status"] == "failed"
    assert entry["executionTrace"]["graph"]["rootFrameId"] == "frame-0"


@pytest.mark.rule("DECISION-19")
def test_a_busy_session_answers_409_or_waits(editor: Caller, talked: Session) -> None:
    with registered(HeldSolver()) as solver:
        results: list[Any] = []

        def ask() -> None:
            results.append(editor.chat("What is my dog called?", talked.session_id, goal_solver_plugin="gs-held"))

        asking = threading.Thread(target=ask)
        asking.start()
        assert solver.started.wait(10)
        running = ExplainabilityTurn.objects.get(status="running")
        refused = editor.chat("What is my dog called?", talked.session_id)
        assert code_of(refused) == (409, "TURN_IN_PROGRESS")
        assert refused.json()["error"]["details"] == {"running_request_id": running.request_id}
        assert refused.headers["Retry-After"] == "1"
        waiting = threading.Thread(
            target=lambda: results.append(editor.chat("My car is red.", talked.session_id, wait_ms=20_000))
        )
        waiting.start()
        solver.go_on.set()
        asking.join(20)
        waiting.join(20)
    assert [answer.status_code for answer in results] == [200, 200]


@pytest.mark.rule("DECISION-18")
def test_a_cancelled_turn_answers_409_and_keeps_only_its_entry(editor: Caller, talked: Session) -> None:
    with registered(WaitingSolver()) as solver:
        results: list[Any] = []

        def ask() -> None:
            results.append(editor.chat("My pig is called Pat.", talked.session_id, goal_solver_plugin="gs-waiting"))

        asking = threading.Thread(target=ask)
        asking.start()
        assert solver.started.wait(10)
        path = f"/api/sessions/{talked.session_id}/turns/{ExplainabilityTurn.objects.get(status='running').request_id}"
        assert editor.post(f"{path}/cancel").status_code == 202
        asking.join(20)
        solver.go_on.set()
    assert code_of(results[0]) == (409, "TURN_CANCELLED")
    assert editor.get(path).json()["status"] == "cancelled"
    assert editor.get(f"/api/sessions/{talked.session_id}/units").json()["units"][-1]["text"] != "My pig is called Pat."
    assert code_of(editor.post(f"{path}/cancel")) == (409, "TURN_NOT_RUNNING")


def test_a_full_server_refuses_and_makes_no_session(editor: Caller, talked: Session, settings: Settings) -> None:
    settings.MRPVM_MAX_RUNNING_TURNS = 0
    for stream in (False, True):
        refused = editor.chat("My car is red.", stream=stream)
        assert code_of(refused) == (503, "SERVER_BUSY")
        assert refused.headers["Retry-After"] == "1"
    assert Session.objects.count() == 1


def test_a_stopping_server_refuses(editor: Caller) -> None:
    shutdown.begin()
    try:
        assert code_of(editor.chat("My car is red.")) == (503, "SERVER_SHUTTING_DOWN")
    finally:
        shutdown.reset()
    assert not Session.objects.exists()


def test_a_turn_that_takes_too_long_is_504(editor: Caller, settings: Settings) -> None:
    settings.MRPVM_REQUEST_TIMEOUT_MS = 200
    with registered(WaitingSolver()) as solver:
        answer = editor.chat("What is my dog called?", goal_solver_plugin="gs-waiting")
        solver.go_on.set()
    assert code_of(answer) == (504, "ENGINE_TIMEOUT")


@pytest.mark.rule("DECISION-17")
def test_an_explicit_history_comes_before_the_stored_one(editor: Caller) -> None:
    """The window is that of the request; the stored history is not changed."""
    seen: list[list[str]] = []

    class Reader(HeldSolver):
        descriptor = descriptor("gs-reader", "gs-plugin")

        def solve(self, request: SolveInput, context: CallContext) -> Solution:
            seen.append([item.content for item in request.history])
            return registry.installed.goal_solver("gs-symbolic").solve(request, context)

    with registered(Reader()):
        pinned = {"goal_solver_plugin": "gs-reader"}
        session_id = editor.chat("My dog is called Rex.").json()["session_id"]
        editor.chat("What is my dog called?", session_id, **pinned)
        told = [{"role": "user", "content": "Mine."}, {"role": "tool", "content": "{}"}]
        editor.chat("What is my dog called?", session_id, conversation_history=told, **pinned)
        editor.chat("What is my dog called?", session_id, conversation_history=[], **pinned)
    assert seen[0][0] == "My dog is called Rex."
    assert seen[1] == ["Mine.", "{}"]
    assert seen[2][0] == "My dog is called Rex."


@pytest.mark.rule("DECISION-43")
def test_an_expired_session_under_the_clients_own_name_goes_on(editor: Caller) -> None:
    editor.post(CHAT, {"messages": [USER]}, X_Session_Id="mine")
    Session.objects.update(expired_at=timezone.now())
    question = {"messages": [{"role": "user", "content": "What is my dog called?"}]}
    answer = editor.post(CHAT, question, X_Session_Id="mine").json()
    assert "Rex" in answer["choices"][0]["message"]["content"]
    assert answer["session_id"] == Session.objects.get(fork_reason="expired").session_id
    assert answer["warnings"] == ["session_expired_restarted"]
    told = ExplainabilityTurn.objects.get(request_id=answer["request_id"]).client_request
    assert told == {"session": "restarted", "warnings": ["session_expired_restarted"]}
    assert editor.chat("My cat is called Tom.").json()["warnings"] == []
    assert editor.post(CHAT, {"messages": [{"role": "user", "content": "/help"}]}, X_Session_Id="mine").json()[
        "warnings"
    ] == ["session_expired_restarted"]


def test_the_operator_says_how_long_may_be_waited(editor: Caller, settings: Settings) -> None:
    settings.MRPVM_MAX_WAIT_MS = 90_000
    assert editor.chat("My dog is called Rex.", wait_ms=90_000).status_code == 200
    assert code_of(editor.chat("My dog is called Rex.", wait_ms=90_001)) == (400, "INVALID_INPUT")

"""Common features of REST APIs: repeated writes, links between pages, conditional requests."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx2 as httpx
import pytest
from django.test import Client
from django.utils import timezone
from openai import OpenAI

from sessions_app.actions.settings import kept_answers
from sessions_app.models import ExplainabilityTurn, KeptAnswer, Message, Project, Session
from tests.api.conftest import Caller
from tests.live import LiveServer

KEY = {"Idempotency_Key": "order-1"}
TOLD = {"messages": [{"role": "user", "content": "My dog is called Rex."}]}


def code_of(answer: Any) -> str:
    """Return the code of an error."""
    return str(answer.json()["error"]["code"])


# --- Idempotency-Key ------------------------------------------------------------------------------------


def test_a_repeated_chat_gets_the_same_answer_and_one_turn(editor: Caller) -> None:
    first, second = (editor.post("/api/chat/completions", TOLD, **KEY) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert second.headers["Idempotency-Replayed"] == "true"
    assert first.headers["X-Request-Id"] == second.headers["X-Request-Id"]
    assert "Idempotency-Replayed" not in first.headers
    assert ExplainabilityTurn.objects.count() == 1
    assert Message.objects.count() == 2


def test_the_order_of_fields_does_not_make_another_request(editor: Caller) -> None:
    editor.post("/api/sessions", '{"title": "Pets", "kb_id": "default"}', **KEY)
    again = editor.post("/api/sessions", '{"kb_id":"default","title":"Pets"}', **KEY)
    assert again.status_code == 201
    assert Session.objects.count() == 1


@pytest.mark.parametrize("path", ["/api/sessions", "/api/kbs"])
def test_a_key_with_another_request_is_refused(editor: Caller, path: str) -> None:
    editor.post("/api/sessions", {"title": "Pets"}, **KEY)
    refused = editor.post(path, {"title": "Cars"}, **KEY)
    assert (refused.status_code, code_of(refused)) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert Session.objects.count() == 1


def test_a_key_is_its_callers_own(
    editor: Caller, stranger: Caller, caller: Callable[..., Caller], project: Project
) -> None:
    made = {who.post("/api/sessions", {}, **KEY).json()["session_id"] for who in (editor, stranger, caller("admin"))}
    assert len(made) == 3


def test_a_repeated_upload_is_known_by_its_content(editor: Caller) -> None:
    editor.headers["Idempotency-Key"] = "upload-1"
    path = "/api/kbs/default/sources"
    first = editor.upload(path, "pump.txt", b"The pump is blue.")
    again = editor.upload(path, "pump.txt", b"The pump is blue.")
    other = editor.upload(path, "pump.txt", b"The pump is red.")
    assert (first.status_code, again.content == first.content, other.status_code) == (201, True, 422)


def test_a_refused_request_may_be_sent_again(editor: Caller) -> None:
    refused = editor.post("/api/chat/completions", {"messages": []}, **KEY)
    assert refused.status_code == 400
    assert editor.post("/api/chat/completions", TOLD, **KEY).status_code == 200


def test_a_failed_turn_is_answered_the_same_and_runs_once(editor: Caller, settings: Any) -> None:
    settings.MRPVM_REQUEST_TIMEOUT_MS = 1
    first = editor.post("/api/chat/completions", TOLD, **KEY)
    settings.MRPVM_REQUEST_TIMEOUT_MS = 60_000
    second = editor.post("/api/chat/completions", TOLD, **KEY)
    assert first.status_code >= 422
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert ExplainabilityTurn.objects.count() == 1


def test_a_key_in_use_is_told_to_wait(editor: Caller, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    from sessions_app.api.turns import chat

    run = chat.answer_message

    def slow(*arguments: Any, **options: Any) -> Any:
        begun.set()
        goes_on.wait(20)
        return run(*arguments, **options)

    monkeypatch.setattr(chat, "answer_message", slow)
    answers: list[Any] = []
    other = Caller(dict(editor.headers))
    thread = threading.Thread(target=lambda: answers.append(other.post("/api/chat/completions", TOLD, **KEY)))
    thread.start()
    assert begun.wait(20)
    waiting = editor.post("/api/chat/completions", TOLD, **KEY)
    goes_on.set()
    thread.join(30)
    assert (waiting.status_code, code_of(waiting)) == (409, "IDEMPOTENCY_KEY_IN_USE")
    assert waiting.headers["Retry-After"] == "1"
    assert editor.post("/api/chat/completions", TOLD, **KEY).content == answers[0].content
    assert ExplainabilityTurn.objects.count() == 1


def test_a_request_without_an_answer_is_not_run_again(editor: Caller) -> None:
    editor.post("/api/sessions", {}, **KEY)
    long_ago = timezone.now() - timedelta(hours=1)
    KeptAnswer.objects.update(status=None, created_at=long_ago)
    refused = editor.post("/api/sessions", {}, **KEY)
    assert (refused.status_code, code_of(refused)) == (409, "IDEMPOTENCY_KEY_UNFINISHED")
    assert "Retry-After" not in refused.headers


def test_a_kept_answer_is_gone_after_a_day(editor: Caller) -> None:
    editor.post("/api/sessions", {}, **KEY)
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert "Idempotency-Replayed" not in editor.post("/api/sessions", {}, **KEY).headers
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert kept_answers.sweep_kept_answers() == 1
    assert not KeptAnswer.objects.exists()


def test_a_key_that_is_too_long_is_refused(editor: Caller) -> None:
    refused = editor.post("/api/sessions", {}, Idempotency_Key="x" * 256)
    assert (refused.status_code, code_of(refused)) == (400, "INVALID_INPUT")


def test_reading_ignores_the_key(editor: Caller) -> None:
    editor.headers["Idempotency-Key"] = "read"
    editor.get("/api/sessions")
    assert not KeptAnswer.objects.exists()


def test_a_streamed_turn_is_streamed_again_from_what_was_kept(live_asgi: LiveServer, editor: Caller) -> None:
    streamed = [
        httpx.post(
            f"{live_asgi.url}/api/chat/completions",
            json={**TOLD, "stream": True},
            headers={**editor.headers, "Idempotency-Key": "stream-1"},
            timeout=30,
        )
        for _ in range(2)
    ]
    assert streamed[0].text == streamed[1].text
    assert "event: response.completed" in streamed[1].text
    assert streamed[1].headers["Content-Type"].startswith("text/event-stream")
    assert streamed[1].headers["Idempotency-Replayed"] == "true"
    assert ExplainabilityTurn.objects.count() == 1


def test_a_stream_that_nobody_read_to_its_end_is_kept(live_asgi: LiveServer, editor: Caller) -> None:
    headers = {**editor.headers, "Idempotency-Key": "left"}
    asked = {"url": f"{live_asgi.url}/api/chat/completions", "json": {**TOLD, "stream": True}, "headers": headers}
    with httpx.stream("POST", **asked, timeout=30) as left:
        next(left.iter_raw())
    for _ in range(100):
        again = httpx.post(**asked, timeout=30)
        if again.status_code == 200:
            break
        assert again.json()["error"]["code"] == "IDEMPOTENCY_KEY_IN_USE"
    assert "event: response.completed" in again.text
    assert ExplainabilityTurn.objects.count() == 1


def test_the_openai_sdk_repeats_a_response_safely(live_asgi: LiveServer, editor: Caller) -> None:
    key = editor.headers["Authorization"].removeprefix("Bearer ")
    client = OpenAI(base_url=f"{live_asgi.url}/v1", api_key=key, max_retries=0)
    told = [
        client.responses.create(
            model="mrpvm", input="My dog is called Rex.", extra_headers={"Idempotency-Key": "response-1"}
        )
        for _ in range(2)
    ]
    assert told[0].id == told[1].id
    assert ExplainabilityTurn.objects.count() == 1


# --- Problem details ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/sessions/nowhere", 404, "SESSION_NOT_FOUND"),
        ("/api/nothing", 404, "NOT_FOUND"),
        ("/v1/responses/nowhere", 404, "response_not_found"),
    ],
)
def test_errors_are_problem_details_if_asked_for(editor: Caller, path: str, status: int, code: str) -> None:
    editor.headers["Accept"] = "application/problem+json, application/json"
    answer = editor.get(path)
    problem = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert problem["type"] == f"urn:mrpvm:error:{code.lower()}"
    assert problem["detail"]
    assert problem["title"]
    assert "error" not in problem


def test_a_body_that_is_too_large_is_a_problem_too(live_asgi: LiveServer, editor: Caller) -> None:
    headers = {**editor.headers, "Accept": "application/problem+json"}
    answer = httpx.post(f"{live_asgi.url}/api/sessions", content=b" " * 3_000_000, headers=headers, timeout=30)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "BODY_TOO_LARGE"


# --- Links between pages, and conditional requests -----------------------------------------------------------


def followed(caller: Caller, address: str, relation: str) -> Iterator[Any]:
    """Yield the pages of a list, following the links with this relation."""
    seen: str | None = address
    while seen:
        answer = caller.get(seen)
        yield answer
        links = httpx.Response(200, headers={"Link": answer.headers["Link"]}).links
        seen = links[relation]["url"] if relation in links else None


def test_links_lead_through_a_list_and_back(editor: Caller) -> None:
    made = [editor.post("/api/sessions", {"title": f"Session {n}"}).json()["session_id"] for n in range(7)]
    pages = list(followed(editor, "/api/sessions?limit=3&q=Session", "next"))
    forwards = [[row["session_id"] for row in page.json()["sessions"]] for page in pages]
    assert forwards == [made[:3:-1], made[3:0:-1], made[:1]]
    last = editor.get(f"/api/sessions?limit=3&q=Session&cursor={pages[1].json()['next_cursor']}")
    back = [
        [row["session_id"] for row in page.json()["sessions"]]
        for page in followed(editor, last.request["PATH_INFO"] + "?" + last.request["QUERY_STRING"], "prev")
    ]
    assert back == forwards[::-1]


def test_stored_counts_are_told_as_totals(editor: Caller, manuals: Project, talked: Session) -> None:
    for address, name in (
        (f"/api/sessions/{talked.session_id}/messages", "messages"),
        (f"/api/sessions/{talked.session_id}/explainability", "turns"),
        ("/api/kbs/default/sources", "sources"),
    ):
        whole = editor.get(address)
        first = editor.get(f"{address}?limit=1")
        assert first.headers["X-Total-Count"] == str(len(whole.json()[name])), address
        assert 'rel="next"' in first.headers["Link"]


def test_an_unchanged_turn_is_not_sent_again(editor: Caller, talked: Session) -> None:
    turn = talked.turns.get(turn_index=1)
    address = f"/api/sessions/{talked.session_id}/turns/{turn.request_id}"
    tag = editor.get(address).headers["ETag"]
    editor.headers["If-None-Match"] = tag
    unchanged = editor.get(address)
    assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(assistant_preview="Something else.")
    assert editor.get(address).status_code == 200


def test_a_turns_tag_opens_nothing_to_strangers(editor: Caller, stranger: Caller, talked: Session) -> None:
    turn = talked.turns.get(turn_index=1)
    address = f"/api/sessions/{talked.session_id}/turns/{turn.request_id}"
    stranger.headers["If-None-Match"] = editor.get(address).headers["ETag"]
    assert stranger.get(address).status_code == 404
    assert Client().get(address, headers={"If-None-Match": "*"}).status_code == 401

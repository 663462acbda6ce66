"""Text that looks like a key or password is stored in no record of a conversation, however it was sent."""

import io
import json
import logging
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import async_to_sync
from django.db import connection

from mrpvm.llm.redaction import REDACTED
from sessions_app.actions.sessions.histories import append_turn_message, write_turn_messages
from sessions_app.actions.settings.projects import change_project
from sessions_app.logs import PlainFormatter
from sessions_app.models import ContextUnit, ExplainabilityTurn, Project, Session
from tests.api.conftest import Caller
from tests.interchange.test_traces_in import request_of, span
from tests.llm.provider import Provider
from tests.planted import Planted, planted_secrets
from tests.stored import CONVERSATION, assert_nowhere, finder, stored_texts
from tests.walks import WALKS
from tests.web.page_scene import member_client

PAGES = (
    "/", "/turns", "/overview", "/review", "/audit", "/tests", "/knowledge", "/members", "/experiments", "/forget",
)  # fmt: skip


@pytest.fixture
def log_lines() -> Iterator[list[str]]:
    """Return the lines of the server's log."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(PlainFormatter("%(message)s"))
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)


def tell(editor: Caller, planted: list[Planted]) -> list[str]:
    """Send each sentence to one of the addresses in turn; return the sessions."""
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    sessions = [session_id]
    api = f"/api/sessions/{session_id}"
    for place, item in enumerate(planted):
        door = (place + place // 20) % 10  # each form of secret is sent to another address each time
        if door == 0:
            editor.chat(item.text, session_id)
        elif door == 1:
            editor.chat(f"/remember {item.text}", session_id)
        elif door == 2:
            editor.chat(f"/arithmetic {item.text}", session_id)
        elif door == 3:
            editor.upload(f"{api}/context", f"notes-{place}.txt", item.text.encode())
        elif door == 4:
            said = [{"role": "user", "content": item.text}, {"role": "assistant", "content": "I see."}]
            body = {"model": "mrpvm", "messages": [*said, {"role": "user", "content": f"Again: {item.text}"}]}
            answer = editor.post("/v1/chat/completions", body)
            sessions.append(answer.headers["x-session-id"])
        elif door == 5:
            editor.patch(api, {"title": item.text[:200]})
        elif door == 6:
            editor.post("/v1/responses", {"model": "mrpvm", "input": item.text, "instructions": item.text})
        elif door == 7:
            editor.chat("What is my dog called?", session_id, system_prompt=item.text)
        elif door == 8:
            editor.chat(f"/summarise {item.text}", session_id)
        else:
            conversation = editor.post("/v1/conversations", {"metadata": {"note": item.text[:500]}}).json()["id"]
            editor.post(
                f"/v1/conversations/{conversation}/items",
                {"items": [{"type": "message", "role": "user", "content": item.text}]},
            )
    return sessions


def tell_elsewhere(editor: Caller, planted: list[Planted], session_id: str) -> None:
    """Send the sentences to the addresses of conversations, and to those for other applications."""
    turn = ExplainabilityTurn.objects.filter(session__session_id=session_id).earliest("pk").request_id
    suite = editor.post("/api/suites", {"name": "Robots"}).json()["suite_id"]
    api = f"/api/sessions/{session_id}"
    doors: list[Callable[[Planted], Any]] = [
        lambda item: editor.put(f"{api}/turns/{turn}/scores", {"value": "up", "note": item.text}),
        lambda item: editor.post("/api/turns/filters", {"name": f"{item.form}: {item.text}"[:80], "q": item.form}),
        lambda item: editor.post(f"/api/suites/{suite}/tests", asked_in_a_test(item)),
        lambda item: editor.post("/v1/traces", request_of(told_span(item))),
        lambda item: editor.post("/api/chat/completions", {**said(item), "session_id": session_id, "stream": True}),
        lambda item: editor.post("/v1/chat/completions", {"model": "mrpvm", **said(item)}, Idempotency_Key=item.form),
        lambda item: editor.upload(f"{api}/workspace/sources", f"{item.form}.txt", noted(item), "text/plain"),
        lambda item: editor.get(f"/api/turns?q={quote(item.secret)}"),
        lambda item: editor.post("/api/chat/completions", said(item), X_Request_Id=item.secret),
    ]
    for place, item in enumerate(planted):
        answer = doors[place % len(doors)](item)
        assert answer.status_code < 400, answer.content
        assert read(answer)


def tell_as_an_admin(admin: Caller, planted: list[Planted], session_id: str) -> None:
    """Send the sentences to the addresses that change knowledge, run trials and administer a project."""
    turn = ExplainabilityTurn.objects.filter(session__session_id=session_id).earliest("pk").request_id
    units = ContextUnit.objects.filter(session__session_id=session_id)
    of_turn = {"session_id": session_id, "request_id": turn, "wait_ms": 30_000}
    api = f"/api/sessions/{session_id}"
    doors: list[Callable[[Planted], Any]] = [
        lambda item: admin.post("/api/kbs", {"name": f"{token_hex(4)} {item.text}"}),
        lambda item: admin.upload("/api/kbs/default/sources", f"{item.form}.txt", noted(item), "text/plain"),
        lambda item: admin.post(f"{api}/units/{quote(units.latest('pk').unit_id)}/correct", {"text": item.text}),
        lambda item: admin.post("/api/experiments", {**of_turn, "trials": [{"message": item.text}]}),
        lambda item: admin.post("/api/experiments", {**of_turn, "trials": [{"system_prompt": item.text}]}),
        lambda item: admin.post("/api/experiments", {**of_turn, "trials": [{"with_units": [item.text]}]}),
        lambda item: admin.post(f"{api}/turns/{turn}/diagnosis", {"should_contain": item.text, "wait_ms": 30_000}),
        lambda item: admin.post("/api/forget/plan", {"kind": "text", "text": item.text}),
        lambda item: admin.post("/api/suites", {"name": f"{token_hex(4)} {item.text}"}),
        lambda item: admin.post("/api/suites/import", {"content": json.dumps(suite_with(item))}),
        lambda item: admin.post("/api/invitations", {"role": "viewer", "note": item.text[:120]}),
        lambda item: admin.get(f"/api/sessions?q={quote(item.text)}"),
        lambda item: admin.get(f"/api/audit?subject={quote(item.text)}"),
        lambda item: admin.client.post("/login", {"username": item.text, "password": item.secret}),
        lambda item: admin.post("/v1/traces", told_everywhere(item)),
    ]
    for place, item in enumerate(planted):
        answer = doors[place % len(doors)](item)
        assert answer.status_code < 400, answer.content


def suite_with(item: Planted) -> dict[str, Any]:
    """Return a suite's file as JSON, which is valid YAML."""
    return {"suite": f"Suite {token_hex(4)}", "tests": [asked_in_a_test(item)]}


def told_everywhere(item: Planted) -> dict[str, Any]:
    """Return a trace with the sentence in its resource, scope, event and link."""
    named = [{"key": "note", "value": {"stringValue": item.text}}]
    event = {"name": item.text, "timeUnixNano": "1", "attributes": named}
    link = {"traceId": token_hex(16), "spanId": token_hex(8), "attributes": named}
    told = {**told_span(item), "events": [event], "links": [link]}
    scope = {"scope": {"name": item.text, "attributes": named}, "spans": [told]}
    return {"resourceSpans": [{"resource": {"attributes": named}, "scopeSpans": [scope]}]}


def read(answer: Any) -> bytes:
    """Return the body of an answer, streamed or not."""
    if not getattr(answer, "is_async", False):
        return bytes(answer.getvalue())

    async def joined() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(joined)()


def asked_in_a_test(item: Planted) -> dict[str, Any]:
    return {
        "name": f"{token_hex(4)} {item.text}"[:200],
        "kb_id": "default",
        "message": item.text,
        "expect": {"contains": [item.text]},
    }


def told_span(item: Planted) -> dict[str, Any]:
    """Return another application's span with the sentence in every field."""
    given = {"gen_ai.input.messages": item.text, "http.request.header.authorization": item.text}
    return span(1, traceId=token_hex(16), name=item.text, attributes=given, status={"code": 2, "message": item.text})


def noted(item: Planted) -> bytes:
    """Return a text that is unique even after secrets are redacted."""
    return f"Note {token_hex(4)}: {item.text}".encode()


def said(item: Planted) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": item.text}]}


def exports(editor: Caller, sessions: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield all exports; the files of a bundle are yielded one by one."""
    for session_id in sessions:
        for form in ("json", "markdown"):
            yield f"export as {form}", editor.get(f"/api/sessions/{session_id}/export?format={form}").content
        answer = editor.get(f"/api/sessions/{session_id}/bundle")
        with zipfile.ZipFile(io.BytesIO(read(answer))) as bundle:
            yield from ((f"bundle's {name}", bundle.read(name)) for name in bundle.namelist())
    for form in ("jsonl", "csv"):
        yield f"turns as {form}", read(editor.get(f"/api/turns/export?format={form}"))
    for suite in editor.get("/api/suites").json()["suites"]:
        yield "suite", editor.get(f"/api/suites/{suite['suite_id']}/file").content


def test_secrets_are_stored_in_no_log_trace_or_export(
    editor: Caller, caller: Callable[..., Caller], project: Project, log_lines: list[str]
) -> None:
    planted = planted_secrets(seed=1, a_form=WALKS)
    secrets = finder(planted)
    assert len({item.form for item in planted}) == 20
    sessions = tell(editor, planted)
    elsewhere = planted_secrets(seed=4, a_form=2)
    secrets = finder([*planted, *elsewhere])
    tell_elsewhere(editor, elsewhere, sessions[0])
    redacted_count = 0
    for place, text in stored_texts(CONVERSATION):
        assert_nowhere(secrets, place, text)
        redacted_count += text.count(REDACTED.encode())
    assert redacted_count > len(planted)
    for place, text in exports(editor, sessions[:4]):
        assert_nowhere(secrets, place, text)
    browser = member_client(project)
    for session_id in sessions[:4]:
        diagnostics = browser.get(f"/sessions/{session_id}/diagnostics").content
        assert_nowhere(secrets, "diagnostics", diagnostics)
    for page in PAGES:
        assert_nowhere(secrets, page, browser.get(page).content)
    for turn in ExplainabilityTurn.objects.order_by("pk")[:40]:
        assert_nowhere(secrets, "a turn", browser.get(f"/turns/{turn.request_id}", follow=True).content)
    for line in log_lines:
        assert_nowhere(secrets, "the log", line.encode())


def test_a_conversation_keeps_what_was_said_and_answers_from_it(editor: Caller) -> None:
    session_id = editor.chat("The password of the robot is k9-tiger-77.").json()["session_id"]
    answer = editor.chat("What is the password of the robot?", session_id).json()
    assert "k9-tiger-77" in answer["choices"][0]["message"]["content"]
    session = Session.objects.get(session_id=session_id)
    assert [REDACTED in turn.user_message for turn in session.turns.order_by("turn_index")] == [True, False]
    assert "k9-tiger-77" in session.messages.order_by("sequence")[0].content


def test_model_requests_and_answers_keep_no_secrets(
    editor: Caller,
    provider: Provider,
) -> None:
    planted = planted_secrets(seed=2, a_form=1)
    secrets = finder(planted)
    for item in planted[:4]:
        editor.chat(f"Why is that? {item.text}", goal_solver_plugin="gs-llm-fast")
    assert any(item.secret in str(asked.body) for item in planted for asked in provider.asked)
    for place, text in stored_texts(CONVERSATION):
        assert_nowhere(secrets, place, text)


def test_a_project_may_black_them_out_in_its_conversations_too(
    editor: Caller, project: Project, log_lines: list[str]
) -> None:
    change_project(project, project.name, project.slug, "", redacts_conversations=True)
    planted = planted_secrets(seed=3, a_form=2)
    secrets = finder(planted)
    sessions = tell(editor, planted)
    elsewhere = planted_secrets(seed=5, a_form=2)
    secrets = finder([*planted, *elsewhere])
    tell_elsewhere(editor, elsewhere, sessions[0])
    for place, text in stored_texts({}):
        assert_nowhere(secrets, place, text)
    browser = member_client(project)
    for page in ("", "/state", "/messages"):
        assert_nowhere(secrets, "a page", browser.get(f"/sessions/{sessions[0]}{page}").content)
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        for path in (file, file.with_name(f"{file.name}-wal")):
            content = path.read_bytes()
            assert not [item.form for item in planted if item.secret.encode() in content]


def test_no_message_is_stored_with_them_whoever_writes_it(editor: Caller, project: Project) -> None:
    """A tool may produce a secret, or read one that was stored before the project chose this."""
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    change_project(project, project.name, project.slug, "", redacts_conversations=True)
    turn = ExplainabilityTurn.objects.get(session__session_id=session_id)
    session = Session.objects.get(pk=turn.session_id)
    planted = planted_secrets(seed=6, a_form=1)
    for item in planted:
        append_turn_message(session, turn, "tool", item.text, {"tool": "some:tool", "output": item.text})
        write_turn_messages(session, turn, {"user": item.text, "system": item.text})
    secrets = finder(planted)
    for place, text in stored_texts({}):
        assert_nowhere(secrets, place, text)


def test_a_conversation_is_recognised_by_what_the_client_sent(editor: Caller, project: Project) -> None:
    change_project(project, project.name, project.slug, "", redacts_conversations=True)
    said = [{"role": "user", "content": "The password of the robot is k9-tiger-77."}]
    first = editor.post("/v1/chat/completions", {"model": "mrpvm", "messages": said})
    answer = first.json()["choices"][0]["message"]
    said += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "And now?"}]
    again = editor.post("/v1/chat/completions", {"model": "mrpvm", "messages": said})
    assert again.headers["x-session-id"] == first.headers["x-session-id"]
    assert "k9-tiger-77" not in str(list(Session.objects.get().messages.values_list("content", flat=True)))

"""Turns with a language model, end to end: server, SDK, and a scripted provider."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from mrpvm.conversation.answers import MODEL_FAILED_TEXT
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import ContextUnit, ExplainabilityTurn, KnowledgeSource, Message, Project, Session, TurnEvents
from tests.api.conftest import Caller
from tests.api.test_chat_stream import Streamed
from tests.configured_model import ACCEPTED, acting
from tests.live import LiveServer
from tests.llm.provider import KEY, Asked, Behaviour, Provider, break_off, cut, hang, refuse, say, send
from tests.web.page_scene import member_client, texts_of, visible_text

QUESTION = "What is my dog called?"


@pytest.fixture
def stream(project: Project, live_asgi: LiveServer, editor: Caller) -> Callable[..., Streamed]:
    """Return a function that starts a stream."""
    return lambda message, **body: Streamed(live_asgi, editor, message=message, **body)


def told(editor: Caller) -> str:
    """Return a session that was told a fact."""
    answer = editor.chat("My dog is called Rex.", seed_detector_plugin="sd-symbolic", goal_solver_plugin="gs-symbolic")
    return str(answer.json()["session_id"])


def requests_of(editor: Caller, answer: Any, plugin_id: str) -> list[dict[str, Any]]:
    """Return the model requests of a plugin's call on the turn's page."""
    return list(meta_of(editor, answer, plugin_id)["requests"])


def meta_of(editor: Caller, answer: Any, plugin_id: str) -> dict[str, Any]:
    """Return the data that the turn's page shows beside the input and output of a plugin's call."""
    body = answer.json()
    executions = body["execution_trace"]["graph"]["pluginExecutions"]
    ref = next(item["detailRef"] for item in executions if item["pluginId"] == plugin_id)
    path = f"/api/sessions/{body['session_id']}/turns/{body['request_id']}/details/{ref}"
    return dict(editor.get(path).json()["meta"])


def test_a_model_that_fails_is_not_taken_for_missing_knowledge(
    provider: Provider, editor: Caller, project: Project
) -> None:
    provider.otherwise = acting(refuse(401, "Incorrect API key"))
    body = editor.chat("What is the capital of France?").json()
    assert body["choices"][0]["message"]["content"] == MODEL_FAILED_TEXT
    (group,) = body["response_document"]["groups"]
    reason = "The model's provider answered 401: Incorrect API key"
    assert (group["status"], group["warnings"]) == ("no-context", [f"The language model failed: {reason}"])
    page = member_client(project).get(f"/sessions/{body['session_id']}/turns/{body['request_id']}").text
    assert "No answer: the language model failed: the model's provider answered 401" in visible_text(page)


# --- A turn ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("DECISION-28", "DECISION-32")
def test_a_model_answers_from_what_the_session_knows(provider: Provider, editor: Caller) -> None:
    session_id = told(editor)
    answer = editor.chat(QUESTION, session_id, goal_solver_plugin="gs-llm-fast")
    body = answer.json()
    assert body["choices"][0]["message"]["content"] == "It is Rex [1]."
    (group,) = body["response_document"]["groups"]
    assert (group["grounded"], len(group["citedUnitIds"])) == (True, 1)
    assert ContextUnit.objects.filter(unit_id=group["citedUnitIds"][0]).exists()
    assert body["usage"]["total_tokens"] > 0
    assert body["usage"]["estimated"] is True
    assert Session.objects.get(session_id=session_id).preferred_goal_solver_plugin == "gs-llm-fast"


def test_what_cannot_be_stored_of_an_answer_is_replaced(provider: Provider, editor: Caller) -> None:
    """Lone surrogates and NUL, which PostgreSQL does not store, are replaced; the trace has a warning."""
    session_id = told(editor)
    provider.otherwise = acting(say("It is Rex\ud83d\0 [1]."))
    answer = editor.chat(QUESTION, session_id, goal_solver_plugin="gs-llm-fast")
    assert answer.json()["choices"][0]["message"]["content"] == "It is Rex\ufffd\ufffd [1]."
    warnings = meta_of(editor, answer, "gs-llm-fast")["warnings"]
    assert [warning for warning in warnings if "replaced by U+FFFD" in warning]


def test_the_sent_request_is_kept_without_the_key(provider: Provider, editor: Caller) -> None:
    session_id = told(editor)
    provider.asked.clear()
    answer = editor.chat(QUESTION, session_id, goal_solver_plugin="gs-llm-fast")
    solving, judging = provider.asked
    (solved,) = requests_of(editor, answer, "gs-llm-fast")
    (judged,) = requests_of(editor, answer, "val-llm")
    assert (solved["body"], judged["body"]) == (solving.body, judging.body)
    assert judged["response"]["text"] == ACCEPTED
    assert solved["modelBasis"] == "default"
    everything = json.dumps(list(ExplainabilityTurn.objects.values_list("response_document", flat=True)))
    everything += json.dumps(list(TurnEvents.objects.values_list("events", flat=True)))
    everything += json.dumps([solved, judged])
    assert KEY not in everything


@pytest.mark.rule("DECISION-7")
@pytest.mark.parametrize(
    ("trouble", "status", "code"),
    [
        (refuse(500, "broken"), 502, "LLM_PROVIDER_ERROR"),
        (refuse(401, f"wrong key {KEY}"), 502, "LLM_PROVIDER_ERROR"),
        (refuse(429), 502, "LLM_PROVIDER_ERROR"),
        (send(b"<html>"), 502, "LLM_PROVIDER_ERROR"),
        (send(b'{"hello": 1}'), 502, "LLM_PROVIDER_ERROR"),
        (say(""), 502, "LLM_PROVIDER_ERROR"),
        (cut("It is "), 502, "LLM_PROVIDER_ERROR"),
        (hang, 504, "LLM_TIMEOUT"),
    ],
)
def test_a_provider_in_trouble_fails_the_turn_and_nothing_else(
    provider: Provider, editor: Caller, settings: Settings, trouble: Behaviour, status: int, code: str
) -> None:
    """The session is not changed, and the next turn succeeds."""
    session_id = told(editor)
    settings.MRPVM_PLUGIN_TIMEOUT_MS = 2_000 if trouble is not hang else 600
    before = list(Message.objects.values_list("content", flat=True)), ContextUnit.objects.count()
    provider.otherwise = acting(trouble)
    failed = editor.chat(f"My cat is Tom. {QUESTION}", session_id, goal_solver_plugin="gs-llm-fast")
    error = failed.json()["error"]
    assert (failed.status_code, error["code"]) == (status, code)
    assert error["message"].endswith(f"(tried: gs-llm-fast): {error['details']['diagnostics'][-1]['message']}")
    assert KEY not in failed.content.decode()
    assert (list(Message.objects.values_list("content", flat=True)), ContextUnit.objects.count()) == before
    assert Session.objects.get(session_id=session_id).preferred_goal_solver_plugin == "gs-symbolic"
    provider.otherwise = acting(say("It is Rex [1]."))
    assert editor.chat(QUESTION, session_id, goal_solver_plugin="gs-llm-fast").status_code == 200


def test_a_client_is_told_when_a_provider_takes_requests_again(provider: Provider, editor: Caller) -> None:
    session_id = told(editor)
    provider.otherwise = acting(refuse(429, "slow down", retry_after="3600"))
    failed = editor.chat(QUESTION, session_id, goal_solver_plugin="gs-llm-fast")
    assert (failed.status_code, failed.headers["Retry-After"]) == (502, "3600")
    assert "(rate limited until 20" in failed.json()["error"]["message"]


def test_another_solver_stands_in_for_a_provider_in_trouble(provider: Provider, editor: Caller) -> None:
    session_id = told(editor)
    Session.objects.filter(session_id=session_id).update(preferred_goal_solver_plugin="gs-llm-fast")
    provider.otherwise = refuse(500)
    body = editor.chat(QUESTION, session_id).json()
    assert "Rex" in body["choices"][0]["message"]["content"]
    assert body["goal_solver_plugin"] == "gs-symbolic"


@pytest.mark.rule("ROLE-8")
def test_without_a_model_a_pinned_plugin_is_503(editor: Caller) -> None:
    failed = editor.chat(QUESTION, goal_solver_plugin="gs-llm-fast")
    assert (failed.status_code, failed.json()["error"]["code"]) == (503, "LLM_NOT_AVAILABLE")


@pytest.mark.rule("SESSION-21")
def test_a_preferred_plugin_without_a_model_is_skipped(editor: Caller) -> None:
    session_id = told(editor)
    Session.objects.filter(session_id=session_id).update(
        preferred_goal_solver_plugin="gs-llm-fast", preferred_seed_detector_plugin="sd-llm-deep"
    )
    body = editor.chat(QUESTION, session_id).json()
    assert (body["goal_solver_plugin"], body["seed_detector_plugin"]) == ("gs-symbolic", "sd-symbolic")


# --- Grounding ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("DECISION-12")
def test_open_grounding_is_the_default_and_is_marked(provider: Provider, editor: Caller) -> None:
    provider.otherwise = acting(say("Paris."))
    body = editor.chat("What is the capital of France?", goal_solver_plugin="gs-llm-fast").json()
    (group,) = body["response_document"]["groups"]
    assert (group["status"], group["grounded"], group["citedUnitIds"]) == ("answered", False, [])
    assert group["warnings"]
    turn = ExplainabilityTurn.objects.get()
    assert not turn.is_grounded
    recorded = [
        data for batch in turn.event_batches.all() for name, _, data in batch.events if name == "result.recorded"
    ]
    assert [data["grounded"] for data in recorded] == [False]


@pytest.mark.rule("DECISION-12")
def test_the_page_marks_an_answer_without_evidence(provider: Provider, editor: Caller, project: Project) -> None:
    provider.otherwise = acting(say("Paris."))
    session_id = editor.chat("What is the capital of France?", goal_solver_plugin="gs-llm-fast").json()["session_id"]
    page = member_client(project).get(f"/sessions/{session_id}")
    assert "Not from your sources" in texts_of(page.text, ".bubble--assistant .badge")
    provider.otherwise = acting(say("It is Rex [1]."))
    grounded = told(editor)
    assert "Not from your sources" not in visible_text(member_client(project).get(f"/sessions/{grounded}").text)


@pytest.mark.rule("DECISION-12")
@pytest.mark.parametrize("where", ["request", "session", "project", "server"])
def test_strict_grounding_can_be_asked_for_anywhere(
    provider: Provider, editor: Caller, project: Project, settings: Settings, where: str
) -> None:
    provider.otherwise = acting(say("Paris."))
    body: dict[str, Any] = {"goal_solver_plugin": "gs-llm-fast"}
    session_id = None
    if where == "request":
        body["grounding"] = "strict"
    elif where == "session":
        session_id = editor.post("/api/sessions", {"grounding": "strict"}).json()["session_id"]
    elif where == "project":
        Project.objects.filter(pk=project.pk).update(grounding="strict")
    else:
        settings.MRPVM_GROUNDING = "strict"
    answer = editor.chat("What is the capital of France?", session_id, **body)
    assert answer.json()["response_document"]["groups"][0]["status"] == "no-context"
    assert provider.asked == []


def test_grounding_is_one_of_two(editor: Caller) -> None:
    assert editor.chat("Hello?", grounding="loose").status_code == 400


# --- Streams --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("DECISION-1", "API-17")
@pytest.mark.usefixtures("unvalidated")
def test_words_reach_the_client_while_the_model_writes(
    provider: Provider, stream: Callable[..., Streamed], editor: Caller
) -> None:
    """The first words arrive before the model has finished."""
    session_id = told(editor)

    def in_two_parts(asked: Asked) -> None:
        asked.begin_stream()
        asked.piece("It is Rex [1], ")
        asked.released.wait(10)
        asked.piece("your dog.")
        asked.finish()

    provider.otherwise = in_two_parts
    events = stream(QUESTION, session_id=session_id, goal_solver_plugin="gs-llm-fast").events()
    seen = [next(events)]
    while seen[-1][0] != "response.delta":
        seen.append(next(events))
    turn = ExplainabilityTurn.objects.order_by("-id")[0]
    assert turn.status == "running"
    assert seen[-2][0] == "response.meta"
    provider.released.set()
    seen += events
    whole = seen[-1][1]
    text = "".join(data["delta"] for name, data in seen if name == "response.delta")
    assert text == whole["choices"][0]["message"]["content"] == "It is Rex [1], your dog."
    names = [name for name, _ in seen]
    assert names == sorted(names, key=["progress", "response.meta", "response.delta", "response.completed"].index)
    assert names.count("response.meta") == 1
    meta = next(data for name, data in seen if name == "response.meta")
    assert meta == {key: whole[key] for key in meta}
    assert Message.objects.order_by("-id")[0].content == text
    assert "answer.delta" not in json.dumps(list(TurnEvents.objects.values_list("events", flat=True)))


@pytest.mark.rule("DECISION-1")
@pytest.mark.usefixtures("unvalidated")
@pytest.mark.parametrize("broken", [cut, break_off])
def test_an_answer_that_breaks_off_is_void(
    provider: Provider, stream: Callable[..., Streamed], editor: Caller, broken: Any
) -> None:
    """The stream ends with an error, nothing is committed, and no other solver is tried."""
    session_id = told(editor)
    message_count = Message.objects.count()
    provider.otherwise = broken("It is Rex [1], ", "your")
    Session.objects.filter(session_id=session_id).update(preferred_goal_solver_plugin="gs-llm-fast")
    events = list(stream(QUESTION, session_id=session_id).events())
    names = [name for name, _ in events]
    assert "response.delta" in names
    assert names[-1] == "error"
    assert "response.completed" not in names
    error = events[-1][1]["error"]
    assert error["code"] == "LLM_PROVIDER_ERROR"
    assert error["details"]["void_answer_chars"] > 0
    assert "void" in error["message"]
    assert Message.objects.count() == message_count
    assert ExplainabilityTurn.objects.order_by("-id")[0].status == "failed"
    provider.otherwise = say("It is Rex [1].")
    assert editor.chat(QUESTION, session_id).status_code == 200


@pytest.mark.rule("DECISION-1")
def test_drafts_are_progress_and_deltas_follow_the_approval(
    provider: Provider, stream: Callable[..., Streamed], editor: Caller
) -> None:
    session_id = told(editor)
    events = list(stream(QUESTION, session_id=session_id, goal_solver_plugin="gs-llm-fast").events())
    names = [name for name, _ in events]
    drafts = [data for name, data in events if name == "progress" and "draft" in data]
    assert "".join(data["draft"] for data in drafts) == "It is Rex [1]."
    assert len({data["executionId"] for data in drafts}) == 1
    assert names.index("response.meta") > max(place for place, name in enumerate(names) if name == "progress")
    assert "".join(data["delta"] for name, data in events if name == "response.delta") == "It is Rex [1]."


# --- Sources --------------------------------------------------------------------------------------------------------


UNITS = """--- context ---
@k1 ku atomic "source::chunk::unit-000"
@k2 set $k1 sourceId "source"
@k3 set $k1 chunkId "source::chunk"
@k4 set $k1 role Description
@k5 set $k1 topic "ferry"
@k6 set $k1 claim "The ferry leaves at nine."
"""


def test_a_model_reads_a_source_under_the_role_of_ingestion(
    provider: Provider, project: Project, caller: Callable[..., Caller]
) -> None:
    """Each chunk is read by its own calls."""
    roles = {"roles": {"kb-ingest": {"model": "reader"}}}
    caller("admin").put("/api/settings/llm-roles", roles)
    provider.otherwise = say(UNITS)
    content = "\n\n".join(f"# Part {number}\n\nThe ferry leaves at nine. " + "word " * 900 for number in range(4))
    source = load_source(
        ensure_default_base(project),
        Upload(name="ferry.md", data=content.encode(), seed_detector="sd-llm-fast"),
    ).source
    assert len([body for body in provider.bodies if body["model"] == "reader"]) == source.chunk_count > 2


@pytest.mark.parametrize(
    "address", ["/api/sessions/{}/context", "/api/sessions/{}/workspace/sources", "/api/kbs/default/sources"]
)
def test_a_source_is_read_by_its_model_unless_a_role_says(
    provider: Provider, caller: Callable[..., Caller], address: str
) -> None:
    admin = caller("admin")
    provider.otherwise = say(UNITS)

    def models(preferred: str | None, **named: str) -> set[str]:
        session_id = admin.post("/api/sessions", {"model": preferred}).json()["session_id"]
        seen = len(provider.bodies)
        text = f"The ferry leaves at nine, as {seen} people say."
        body = {"content": text, "name": "ferry.txt", "seed_detector_plugin": "sd-llm-fast"}
        assert admin.post(address.format(session_id), {**body, **named}).status_code < 300
        return {request["model"] for request in provider.bodies[seen:]}

    assert models(None, model="reader") == {"reader"}
    assert models("own", model="reader") == {"reader"}
    assert models("own") == ({"own"} if "sessions" in address else {"some-model"})
    admin.put("/api/settings/llm-roles", {"roles": {"kb-ingest": {"model": "first"}}})
    assert models(None, model="reader") == {"first"}


@pytest.mark.rule("INGEST-11")
def test_a_source_that_no_model_could_read_leaves_nothing(provider: Provider, editor: Caller) -> None:
    session_id = told(editor)
    unit_count = ContextUnit.objects.count()
    provider.otherwise = refuse(500)
    body = {"content": "The ferry leaves at nine.", "seed_detector_plugin": "sd-llm-fast"}
    failed = editor.post(f"/api/sessions/{session_id}/context", body)
    assert (failed.status_code, failed.json()["error"]["code"]) == (502, "LLM_PROVIDER_ERROR")
    assert (ContextUnit.objects.count(), KnowledgeSource.objects.count()) == (unit_count, 0)

"""The diagnostics of a session: the requests of its latest turn, and errors."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.sessions.recognition import EXPIRED
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.models import Message, Project, Session
from sessions_app.provider_threads import forget_provider_threads
from sessions_app.queries.sessions.diagnostics import sent_requests
from sessions_app.queries.turns.registry import events
from sessions_app.web.shell.words import why
from tests.configured_model import acting
from tests.house.pages import ROOT, nodes, syntax_tree
from tests.llm.provider import KEY, Asked, Provider, refuse, say
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    check_html,
    counted_queries,
    member_client,
    new_session,
    parsed,
    talk,
    text_at,
    texts_of,
    visible_text,
)
from tests.web.test_turn_panels import spaced

FOLLOWS = "previous_response_id in last request"
LLM = {"seed_detector": "sd-symbolic", "goal_solver": "gs-llm-fast"}


def diagnostics(client: Client, session: Session) -> str:
    response = client.get(reverse("session-diagnostics", args=[session.session_id]))
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


def rows(html: str) -> dict[str, str]:
    return dict(zip(texts_of(html, "dt"), map(spaced, parsed(html).css("dd")), strict=True))


def outbound(html: str) -> Any:
    return json.loads(parsed(html).css('[aria-label="Outbound Request JSON"]')[0].text())


@pytest.fixture
def responses(provider: Provider, unvalidated: None, settings: Settings) -> Iterator[Provider]:
    """Return the configured provider, called by its Responses API, without a thread."""
    settings.MRPVM_LLM_API = "responses"
    forget_provider_threads()
    yield provider
    forget_provider_threads()


@pytest.mark.rule("CONTEXT-50")
def test_before_anything_was_sent_every_row_says_so(project: Project) -> None:
    session = new_session(project)
    client = member_client(project, "viewer")
    html = diagnostics(client, session)
    assert rows(html) == {
        "Chat target": "this server alone", "Last error of a turn": "none",
        "Last HTTP status of the model": "no request yet", "Last error of the model": "none",
        "Last response id": "none (continuity not used yet)", "Project": project.name, "Persistence error": "none",
        FOLLOWS: "no", "Conversation": session.session_id, "Conversation taken from": "none", "History reset": "none",
        "Warnings": "none",
    }  # fmt: skip
    assert text_at(html, "#diagnostics-outbound p") == "No request yet"
    add_turns(session, 1, "failed")
    assert rows(diagnostics(client, session))["Last error of a turn"] == "VALIDATION_REJECTED: Refused 1."


@pytest.mark.rule("CONTEXT-6")
def test_three_turns_are_one_thread_shown_as_sent(live_project: Project, responses: Provider) -> None:
    session, client, shown = create_session(live_project), member_client(live_project), []
    for message in ("My dog is called Rex.", "What is my dog called?", "And why is it called Rex?"):
        talk(session, message, **LLM)
        shown.append(diagnostics(client, session))
        assert outbound(shown[-1]) == responses.bodies[-1]
    ids = [rows(html)["Last response id"] for html in shown]
    assert [rows(html)[FOLLOWS] for html in shown] == ["no", "yes", "yes"]
    answering = [body for body in responses.bodies if body["store"]]
    assert [body.get("previous_response_id") for body in answering] == [None, *ids[:2]]
    assert len(set(ids)) == 3
    assert [rows(html)["Conversation taken from"] for html in shown] == ["none", "this session", "this session"]
    assert rows(shown[-1])["Last HTTP status of the model"] == "200"
    assert rows(shown[-1])["Chat target"] == f"{responses.url}/responses, some-model"
    assert KEY not in "".join(shown)


@pytest.mark.rule("CONTEXT-41", "WINDOW-19")
def test_a_failed_request_is_shown_and_does_not_move_the_thread(live_project: Project, responses: Provider) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.", **LLM)
    first_id = rows(diagnostics(client, session))["Last response id"]
    responses.otherwise = acting(refuse(500, "overloaded"))
    failed = talk(session, "What is my dog called?", **LLM)
    html = diagnostics(client, session)
    assert rows(html)["Last HTTP status of the model"] == "500"
    assert "overloaded" in rows(html)["Last error of the model"]
    assert outbound(html)["previous_response_id"] == first_id
    assert failed.turn_index == 2
    responses.otherwise = acting(say("It is Rex [1]."))
    talk(session, "What is my dog called?", **LLM)
    assert responses.bodies[-1]["previous_response_id"] == first_id


def test_a_broken_thread_is_named_and_restarts(live_project: Project, responses: Provider) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.", **LLM)

    def lost(asked: Asked) -> None:
        known = asked.body.get("previous_response_id") is None
        (say("It is Rex [1].") if known else refuse(400, "gone", code="previous_response_not_found"))(asked)

    responses.otherwise = acting(lost)
    turn = talk(session, "What is my dog called?", **LLM)
    assert turn.status == "succeeded"
    html = diagnostics(client, session)
    assert rows(html)[FOLLOWS] == "yes"
    assert rows(html)["Last HTTP status of the model"] == "400"
    assert "the provider no longer knew the response" in rows(html)["Warnings"]
    latest = rows(html)["Last response id"]
    responses.otherwise = acting(say("It is Rex [1]."))
    talk(session, "What is my dog called?", **LLM)
    assert responses.bodies[-1]["previous_response_id"] == latest
    assert rows(diagnostics(client, session))["Warnings"] == "none"


@pytest.mark.rule("CONTEXT-7")
def test_new_processes_sessions_and_histories_have_no_thread(
    live_project: Project, responses: Provider, settings: Settings
) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.", **LLM)
    talk(create_session(live_project), "My dog is called Rex.", **LLM)
    forget_provider_threads()
    talk(session, "What is my dog called?", **LLM)
    settings.MRPVM_LLM_CHAIN = False
    talk(session, "What is my dog called?", **LLM)
    assert all("previous_response_id" not in body for body in responses.bodies)
    assert [body["store"] for body in responses.bodies] == [True, True, True, False]


@pytest.mark.rule("CONTEXT-7", "WINDOW-22")
def test_opening_the_page_anew_begins_without_a_thread(live_project: Project, responses: Provider) -> None:
    """The conversation is kept, the id is not. Refreshing a part of the page does not drop the id."""
    session, client = create_session(live_project), member_client(live_project)
    follows, following = [], []
    for opened in (False, False, True, False):
        if opened:
            page = client.get(reverse("session", args=[session.session_id])).text
            assert visible_text(page).count("My dog is called Rex.") >= 2
            following.append(rows(diagnostics(client, session))["Last response id"])
        else:
            client.get(reverse("session-messages", args=[session.session_id]))
        talk(session, "My dog is called Rex.", **LLM)
        follows.append(rows(diagnostics(client, session))[FOLLOWS])
    assert follows == ["no", "yes", "no", "yes"]
    assert following == ["none (continuity not used yet)"]


def test_the_id_shown_is_followed_next_and_never_stored(
    live_project: Project, provider: Provider, settings: Settings
) -> None:
    """Neither a validator's reply nor a failed turn changes the thread."""
    settings.MRPVM_LLM_API = "responses"
    forget_provider_threads()
    session, client, shown = create_session(live_project), member_client(live_project), []
    for refuses in (False, False, True, False):
        provider.otherwise = acting(refuse(500, "overloaded")) if refuses else acting(say("It is Rex [1]."))
        talk(session, "What is my dog called?", **LLM)
        shown.append(rows(diagnostics(client, session))["Last response id"])
    followed = [body.get("previous_response_id") for body in provider.bodies if body["store"]]
    assert followed == [None, shown[0], shown[1], shown[1]]
    assert shown[2] == shown[1]
    stored = [sent.exchange for turn in session.turns.all() for sent in sent_requests(turn, events(turn))]
    assert sum("previous_response_id" in str(exchange) for exchange in stored) == 3
    assert not any(found in str(stored) for found in shown)


def test_a_cache_that_is_away_costs_the_thread_alone(
    live_project: Project, responses: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*arguments: object, **options: object) -> None:
        raise ConnectionError("nobody there")

    session = create_session(live_project)
    talk(session, "My dog is called Rex.", **LLM)
    with monkeypatch.context() as during:
        for name in ("get", "get_many", "set", "delete"):
            during.setattr(f"sessions_app.provider_threads.cache.{name}", away)
        assert talk(session, "What is my dog called?", **LLM).status == "succeeded"
    assert "previous_response_id" not in responses.bodies[-1]


def test_a_cut_by_a_cap_and_a_restart_are_named(live_project: Project, responses: Provider) -> None:
    session = new_session(live_project, flags={"history_max_turns": 1, "enable_history_summarization": False})
    for _ in range(3):
        turn = talk(session, "My dog is called Rex.", **LLM)
    turn.client_request = {"warnings": [EXPIRED]}
    turn.save()
    found = rows(diagnostics(member_client(live_project), session))
    assert found["Warnings"] == "Conversation: 2 messages left out, by the cap on messages"
    assert found["History reset"] == "the session had expired, so a new one goes on from its transcript"


CODE = re.compile("[a-z]+(_[a-z]+)+")


def warning_codes() -> set[str]:
    """Return the codes whose constants stand in statements about warnings."""
    paths = [*(ROOT / "sessions_app").rglob("*.py"), *(ROOT / "mrpvm").rglob("*.py")]
    constants: dict[str, set[str]] = {}
    for node in (node for path in paths for node in syntax_tree(path).body if isinstance(node, ast.Assign)):
        target = node.targets[0]
        pairs = (
            zip(target.elts, node.value.elts, strict=True)
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            else [(target, node.value)]
        )
        for name, value in pairs:
            if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                constants.setdefault(name.id, set()).add(value.value)
    told = [
        part
        for path in paths
        if "warning" in (source := path.read_text(encoding="utf-8"))
        for lines in [source.splitlines()]
        for node in nodes(path)
        if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Return)
        and any("warning" in line for line in lines[node.lineno - 1 : node.end_lineno])
        for part in ast.walk(node)
    ]
    named = {value for part in told if isinstance(part, ast.Name) for value in constants.get(part.id, ())}
    return {code for code in named if CODE.fullmatch(code)}


@pytest.mark.xdist_group("sources")  # one process parses them
def test_every_warning_has_words() -> None:
    codes = warning_codes()
    assert {"chain_broken", EXPIRED, "memory_failed"} <= codes
    assert [code for code in codes if why(code) == code] == []


@pytest.mark.rule("CONTEXT-51")
@pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 200 + "...")])
def test_tools_are_shown_with_their_output_cut(project: Project, length: int, shown: str) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    payload = {"tool": "echo:say", "input": HOSTILE, "output": "x" * length}
    Message.objects.create(session=session, turn=turn, sequence=9, role="tool", content="x" * length, payload=payload)
    found = rows(diagnostics(member_client(project), session))
    assert found["Name"] == "echo:say"
    assert found["Output"] == shown


@pytest.mark.rule("CONTEXT-8", "WINDOW-24")
def test_a_key_that_is_null_is_no_continuity(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    named = {"executionId": "exec-0.9~1", "frameId": "frame-0", "status": "success", "durationMs": 3, "llmCalls": 1}
    started = {**named, "pluginName": "S", "pluginId": "gs-x", "pluginType": "gs-plugin", "stage": "goal-solver"}
    turn.event_batches.create(
        first_sequence=1_000, events=[["plugin.started", 1, started], ["plugin.finished", 4, named]]
    )
    body = {"model": "m-1", "input": HOSTILE, "previous_response_id": None}
    batch(turn, 2_000, [], [payload("exec-0.9~1", {"meta": {"requests": [{"url": "http://m", "body": body}]}})]).save()
    html = diagnostics(member_client(project), session)
    assert rows(html)[FOLLOWS] == "no"
    assert rows(html)["Last HTTP status of the model"] == "no answer"
    assert outbound(html)["input"] == HOSTILE


def test_the_panel_opens_with_the_page_at_constant_queries(project: Project) -> None:
    client, counts = member_client(project), []
    for how_many in (1, 12):
        session = new_session(project)
        add_turns(session, how_many)
        with counted_queries() as queries:
            diagnostics(client, session)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 9
    page = client.get(reverse("session", args=[session.session_id]), {"diagnostics": "1"}).text
    check_html(page)
    assert text_at(page, "#diagnostics-outbound summary") == "Outbound Request JSON"
    assert "Outbound Request JSON" not in visible_text(client.get(reverse("session", args=[session.session_id])).text)
    stranger = member_client(Project.objects.create(name="Other"))
    assert stranger.get(reverse("session-diagnostics", args=[session.session_id])).status_code == 404

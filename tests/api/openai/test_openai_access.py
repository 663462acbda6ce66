"""The roles needed below /v1: one entry for each address."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.api.openai.urls import urlpatterns
from sessions_app.models import ApiKey, Project, Session
from tests.api.conftest import Caller

METHODS = ("get", "post", "delete")
NEEDED = {
    ("chat", "post"): "editor",
    ("traces", "post"): "editor",
    ("models", "get"): "viewer",
    ("model", "get"): "viewer",
    ("responses", "post"): "editor",
    ("response", "get"): "viewer",
    ("response", "delete"): "editor",
    ("cancel", "post"): "editor",
    ("input-items", "get"): "viewer",
    ("conversations", "post"): "editor",
    ("conversation", "get"): "viewer",
    ("conversation", "post"): "editor",
    ("conversation", "delete"): "editor",
    ("items", "get"): "viewer",
    ("items", "post"): "editor",
    ("item", "get"): "viewer",
    ("item", "delete"): "editor",
}
"""The least role for each name and method."""
CHAT = {"chat", "models", "model", "responses", "response", "cancel", "input-items"}
"""The names that a key with the role chat opens, for its own conversations."""


@pytest.fixture
def ids(editor: Caller) -> dict[str, str]:
    """Return the values of the variables in the addresses."""
    body = {"model": "mrpvm", "input": "My dog is called Rex."}
    made = editor.client.post("/v1/responses", body, content_type="application/json", headers=editor.headers).json()
    conversation = made["conversation"]["id"]
    listed = editor.client.get(f"/v1/conversations/{conversation}/items", headers=editor.headers).json()
    item_id = listed["data"][0]["id"]
    return {"name": "mrpvm", "response_id": made["id"], "conversation_id": conversation, "item_id": item_id}


def methods_of(pattern: URLPattern) -> list[str]:
    view = pattern.callback.view_class  # type: ignore[attr-defined]
    return [method for method in METHODS if hasattr(view, method)]


def answers(ids: dict[str, str], headers: dict[str, str]) -> dict[tuple[str, str], Any]:
    """Return the answer to each call with an empty body; deletions come last, the most nested addresses first."""
    found = {}
    patterns = [pattern for pattern in urlpatterns if pattern.name != "unknown"]
    for method in METHODS:
        for pattern in sorted(patterns, key=lambda item: -str(item.pattern).count("/")):
            if method in methods_of(pattern):
                path = "/v1/" + re.sub(r"<\w+:(\w+)>", lambda match: ids[match[1]], str(pattern.pattern))
                body = {} if method == "get" else {"data": "{}", "content_type": "application/json"}
                found[str(pattern.name), method] = getattr(Client(), method)(path, headers=headers, **body)
    return found


def statuses(ids: dict[str, str], headers: dict[str, str]) -> dict[tuple[str, str], int]:
    return {name: answer.status_code for name, answer in answers(ids, headers).items()}


def test_every_address_is_for_the_role_of_its_entry(ids: dict[str, str], caller: Callable[..., Caller]) -> None:
    viewer = statuses(ids, caller("viewer").headers)
    assert set(viewer) == set(NEEDED)
    assert {name for name, status in viewer.items() if status == 403} == {
        name for name, role in NEEDED.items() if role == "editor"
    }
    chat = statuses(ids, caller("chat").headers)
    assert {name for name, status in chat.items() if status == 403} == {name for name in NEEDED if name[0] not in CHAT}
    allowed = statuses(ids, caller("editor").headers)
    assert {name for name, status in allowed.items() if status in (401, 403, 404) or status >= 500} == set()


def test_nothing_answers_without_a_key_in_force(ids: dict[str, str], project: Project) -> None:
    revoked = create_key(project, "revoked", "admin")[1]
    revoke_key(ApiKey.objects.get(name="revoked"))
    for headers in ({}, {"Authorization": f"Bearer {revoked}"}):
        assert set(statuses(ids, headers).values()) == {401}


def test_a_stranger_finds_no_conversation(ids: dict[str, str], stranger: Caller) -> None:
    for name, answer in answers(ids, stranger.headers).items():
        if name[0] not in ("chat", "traces", "models", "model", "responses", "conversations"):
            assert answer.status_code == 404, name
            assert "Rex" not in answer.text, name


def test_a_deleted_conversation_is_not_there(ids: dict[str, str], caller: Callable[..., Caller]) -> None:
    delete_session(Session.objects.get())
    for name, answer in answers(ids, caller("admin").headers).items():
        if name[0] not in ("chat", "traces", "models", "model", "responses", "conversations"):
            assert answer.status_code == 404, name

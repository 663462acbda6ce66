"""Keys with the role chat: which conversations they open, and what they do there."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.models import ContextUnit, ExplainabilityTurn, Message, Session
from tests.api.conftest import Caller

HISTORY = [
    {"role": "user", "content": "My dog is called Rex."},
    {"role": "assistant", "content": "Noted: Your dog is called Rex."},
]
QUESTION = {"role": "user", "content": "What is my dog called?"}


@pytest.fixture
def site(caller: Callable[..., Caller]) -> Caller:
    return caller("chat")


@pytest.fixture
def other_site(caller: Callable[..., Caller]) -> Caller:
    return caller("chat")


def reply_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


def test_chat_key_continues_its_conversations(site: Caller) -> None:
    first = site.chat("My dog is called Rex.")
    session_id = first.json()["session_id"]
    assert "Rex" in reply_of(site.chat("What is my dog called?", session_id))
    assert "Rex" in reply_of(site.chat("What is my dog called?", previous_response_id=first.json()["response_id"]))
    for _ in range(2):
        site.post("/api/chat/completions", {"messages": HISTORY[:1]}, X_Session_Id="visit-1")
    assert Message.objects.filter(session__session_id="visit-1").count() == 4
    started = set(Session.objects.values_list("started_with__name", flat=True))
    assert started == {"chat"}
    assert Session.objects.filter(fork_reason="edited").count() == 1  # a fork stays the key's own


@pytest.mark.parametrize("path", ["/api/chat/completions", "/v1/chat/completions"])
@pytest.mark.parametrize("owner", ["editor", "other_site"])
def test_chat_key_enters_no_other_conversation(
    path: str, owner: str, site: Caller, request: pytest.FixtureRequest
) -> None:
    owning: Caller = request.getfixturevalue(owner)
    told = owning.post("/api/chat/completions", {"messages": HISTORY[:1]}, X_Session_Id="visit-1").json()
    own = owning.chat("My dog is called Rex.").json()
    for body, headers in (
        ({}, {"X_Session_Id": "visit-1"}),
        ({"session_id": "visit-1"}, {}),
        ({"session_id": "visit-1", "conversation_history": HISTORY}, {}),
        ({}, {"X_Session_Id": own["session_id"]}),
    ):
        answer = site.client.post(
            path,
            {"messages": [QUESTION], **body},
            "application/json",
            headers={**site.headers, **{name.replace("_", "-"): value for name, value in headers.items()}},
        )
        assert answer.status_code == 404, (body, headers)
        assert "Rex" not in answer.text
    assert site.chat("And?", previous_response_id=told["response_id"]).json()["error"]["code"] == "RESPONSE_NOT_FOUND"
    assert ExplainabilityTurn.objects.count() == 2
    assert Session.objects.count() == 2


def test_chat_key_has_its_own_responses_alone(site: Caller, other_site: Caller) -> None:
    def ask(by: Caller, **more: str) -> Any:
        return by.client.post("/v1/responses", {"input": "Rex?", **more}, "application/json", headers=by.headers)

    made = ask(site).json()
    assert ask(site, previous_response_id=made["id"]).status_code == 200
    for by, status in ((site, 200), (other_site, 404)):
        for path in (f"/v1/responses/{made['id']}", f"/v1/responses/{made['id']}/input_items"):
            assert by.client.get(path, headers=by.headers).status_code == status
    assert ask(other_site, previous_response_id=made["id"]).json()["error"]["code"] == "previous_response_not_found"
    assert ask(other_site, conversation=made["conversation"]["id"]).status_code == 404
    deleted = other_site.client.delete(f"/v1/responses/{made['id']}", headers=other_site.headers)
    assert deleted.status_code == 404


def test_same_conversation_of_two_chat_keys_is_two_sessions(site: Caller, other_site: Caller) -> None:
    for by in (site, other_site, site):
        body = {"model": "mrpvm", "messages": [*HISTORY, QUESTION]}
        answer = by.client.post("/v1/chat/completions", body, "application/json", headers=by.headers)
        assert "Rex" in reply_of(answer)
    assert len(set(Session.objects.values_list("started_with", flat=True))) == 2


@pytest.mark.parametrize("path", ["/api/chat/completions", "/v1/chat/completions"])
def test_slash_of_a_chat_key_is_no_command(path: str, site: Caller) -> None:
    body = {"messages": [{"role": "user", "content": "/remember The shop is open."}]}
    answer = site.client.post(path, body, "application/json", headers={**site.headers, "X-Commands": "on"})
    assert answer.status_code == 200
    assert ExplainabilityTurn.objects.get().kind == ExplainabilityTurn.Kind.CHAT
    assert not Session.objects.get().remembered_count


def test_chat_key_changes_no_knowledge(site: Caller, editor: Caller) -> None:
    site.chat("The shop opens at nine.")
    assert ContextUnit.objects.get().session.started_with is not None
    assert not re.search("nine", reply_of(editor.chat("When does the shop open?")))


def test_member_cannot_have_the_role_of_keys(caller: Callable[..., Caller]) -> None:
    answer = caller("admin").post("/api/invitations", {"role": "chat"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_INPUT")

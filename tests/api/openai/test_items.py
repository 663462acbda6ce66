"""The items of a conversation: listed by page, read one by one, each with its own id."""

from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.histories import History, append_messages
from sessions_app.models import Session
from sessions_app.models.sessions.session import ForkReason
from tests.api.conftest import Caller
from tests.web.page_scene import counted_queries

SAID = [
    {"role": "user", "content": "Good morning."},
    {"role": "assistant", "content": "Good morning to you."},
    {"role": "assistant", "content": "How can I help?"},
    {"role": "user", "content": "My dog is called Rex."},
]


@pytest.fixture
def items(editor: Caller) -> str:
    """Return the address of a conversation's items: one turn, whose request held two more assistant messages."""
    made = editor.post("/v1/conversations").json()["id"]
    answered = editor.post("/v1/responses", {"model": "mrpvm", "input": SAID, "conversation": made})
    assert answered.status_code == 200
    return f"/v1/conversations/{made}/items"


@pytest.fixture
def listed(editor: Caller, items: str) -> Callable[..., Any]:
    """Return the list of the conversation's items for these query parameters."""
    return lambda **how: editor.get(items, data=how).json()


def texts(page: dict[str, Any]) -> list[str]:
    return [item["content"][0]["text"] for item in page["data"]]


def test_items_have_own_ids_and_the_answer_its_outputs(editor: Caller, items: str, listed: Callable[..., Any]) -> None:
    found = listed(order="asc")["data"]
    assert [item["role"] for item in found] == ["user", "assistant", "assistant", "user", "assistant"]
    assert [item["id"] for item in found[:4]] == ["msg_1", "msg_2", "msg_3", "msg_4"]
    turn = Session.objects.get().turns.get()
    (output,) = editor.get(f"/v1/responses/resp_{turn.request_id.removeprefix('req-')}").json()["output"]
    assert found[4]["id"] == output["id"]
    for item in found:
        assert editor.get(f"{items}/{item['id']}").json() == item
    asked = editor.get(f"/v1/responses/resp_{turn.request_id.removeprefix('req-')}/input_items", data={"order": "asc"})
    assert asked.json()["data"] == found[:4]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_follow_one_another_also_behind_an_answer(listed: Callable[..., Any], order: str) -> None:
    append_messages(
        Session.objects.get(), History(messages=[{"role": "user", "content": f"Number {place}"} for place in range(3)])
    )
    whole = listed(order=order)
    assert len(whole["data"]) == 8
    assert not whole["has_more"]
    found, after = [], {}
    for size in (3, 3, 2):
        page = listed(order=order, limit=3, **after)
        assert len(page["data"]) == size
        assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][-1]["id"])
        assert page["has_more"] == (size == 3)
        found += page["data"]
        after = {"after": page["last_id"]}
    assert found == whole["data"]
    assert listed(order=order, **after) == {
        "object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False,
    }  # fmt: skip


def test_an_item_taken_out_leaves_the_ids_of_the_others(editor: Caller, items: str, listed: Callable[..., Any]) -> None:
    found = listed(order="asc")["data"]
    assert editor.delete(f"{items}/{found[4]['id']}").status_code == 200
    assert listed(order="asc")["data"] == found[:4]
    turn = Session.objects.get().turns.get()
    response = editor.get(f"/v1/responses/resp_{turn.request_id.removeprefix('req-')}").json()
    assert response["output"] == []
    assert editor.delete(f"{items}/msg_2").status_code == 200
    assert listed(order="asc")["data"] == [found[0], found[2], found[3]]


@pytest.mark.parametrize("name", ["msg_9", "msg_01", "msg_" + "0" * 32, "msg_" + "9" * 15, "1", "msg_\x00"])
def test_what_names_no_item_is_refused(editor: Caller, items: str, listed: Callable[..., Any], name: str) -> None:
    assert listed(after=name)["error"]["param"] == "after"
    if "\x00" not in name:
        assert editor.get(f"{items}/{name}").json()["error"]["code"] == "item_not_found"


def test_a_page_of_a_long_conversation_is_read_alone(editor: Caller, items: str, listed: Callable[..., Any]) -> None:
    append_messages(
        Session.objects.get(),
        History(messages=[{"role": "user", "content": f"Number {place}"} for place in range(300)]),
    )
    with counted_queries() as paged:
        page = listed(limit=2, after="msg_200")
    assert texts(page) == ["Number 193", "Number 192"]
    with counted_queries() as single:
        editor.get(f"{items}/msg_200")
    reading = [query for query in paged + single if '"sessions_app_message"."content"' in query]
    assert len(reading) == 3
    assert all("LIMIT" in query for query in reading)


def test_a_message_taken_out_counts_no_more(editor: Caller, items: str) -> None:
    """It does not count in a fork either, and its position is not used again."""
    session = Session.objects.get()
    address = f"/api/sessions/{session.session_id}"
    assert editor.delete(f"{items}/msg_2").status_code == 200
    assert editor.delete(f"{items}/msg_2").status_code == 404
    assert editor.get(address).json()["message_count"] == 4
    assert editor.get("/api/sessions").json()["sessions"][0]["message_count"] == 4
    append_messages(session, History(messages=[{"role": "user", "content": "Well then."}]))
    session.refresh_from_db()
    assert (session.message_count, session.message_sequence) == (5, 6)
    assert fork_session(session, 4, ForkReason.EDITED).message_count == 3

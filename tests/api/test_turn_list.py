"""The list of turns of all sessions, by the API."""

from tests.api.conftest import Caller

MESSAGES = ("My dog is called Rex.", "What is my dog called?", "Who is the captain?")


def test_turns_are_listed_by_what_became_of_them(editor: Caller) -> None:
    session_id = None
    for message in MESSAGES:
        session_id = editor.chat(message, session_id).json()["session_id"]
    found = editor.get("/api/turns").json()
    assert found["next_cursor"] is None
    assert [turn["user_message"] for turn in found["turns"]] == list(MESSAGES[::-1])
    assert [turn["outcome"] for turn in found["turns"]] == ["no-answer", "answered", "noted"]
    open_ones = editor.get("/api/turns?q=status:no-answer").json()["turns"]
    assert [turn["user_message"] for turn in open_ones] == ["Who is the captain?"]
    assert open_ones[0]["kb_name"]
    first = editor.get("/api/turns?limit=2").json()
    rest = editor.get(f"/api/turns?limit=2&cursor={first['next_cursor']}").json()
    assert len(first["turns"]) == 2
    assert [turn["user_message"] for turn in rest["turns"]] == [MESSAGES[0]]


def test_a_filter_that_is_not_understood_is_refused(editor: Caller) -> None:
    for query, words in (("q=status:no-anser", "no-answer"), ("cursor=x", "cursor"), ("limit=0", "limit")):
        answer = editor.get(f"/api/turns?{query}")
        assert answer.status_code == 400
        assert words in answer.json()["error"]["message"]

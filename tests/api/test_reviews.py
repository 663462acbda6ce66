"""Scores, the review queue and agreement by the API."""

from collections.abc import Callable

from tests.api.conftest import Caller


def test_turns_are_queued_rated_and_compared(editor: Caller, caller: Callable[..., Caller]) -> None:
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    asked = editor.chat("What is my dog called?", session_id)
    request_id = asked.json()["request_id"]
    added = {"added": 2, "known": 0, "unanswered": 0}
    assert editor.post("/api/reviews", {"q": "dog"}).json() == added
    assert editor.post("/api/reviews", {"request_ids": [request_id]}).json()["known"] == 1
    path = f"/api/sessions/{session_id}/turns/{request_id}/scores"
    rated = editor.put(path, {"value": "up", "note": "Right."}).json()
    assert rated["rating"] == "up"
    viewer = caller("viewer")
    assert viewer.put(path, {"value": "down"}).status_code == 403
    listed = viewer.get("/api/reviews").json()
    assert [len(turn["scores"]) for turn in listed["turns"]] == [0, 1]
    assert (editor.get("/api/reviews").json()["done"], listed["done"], listed["queued"]) == (1, 0, 2)
    assert viewer.get("/api/reviews/agreement").json()["equal_share"] is None
    other = caller("admin")
    assert other.put(path, {"value": "down"}).json()["rating"] == "down"
    (pair,) = viewer.get("/api/reviews/agreement").json()["pairs"]
    assert (pair["both"], pair["equal"], pair["kappa"]) == (1, 0, 0)
    assert other.delete(path).status_code == 204
    assert viewer.get(path).json() == rated
    assert editor.put(path, {"value": "sideways"}).status_code == 400
    for _ in range(2):
        assert editor.delete(f"/api/reviews/{request_id}").status_code == 204
    assert viewer.get("/api/reviews").json()["queued"] == 1

"""Corrections by the API: retracting, restoring and correcting a unit, deleting a base."""

import pytest

from sessions_app.models import KnowledgeBase, Session
from tests.api.conftest import Caller

PINS = {"seed_detector_plugin": "sd-symbolic", "goal_solver_plugin": "gs-symbolic"}


@pytest.fixture
def told(editor: Caller) -> tuple[str, str]:
    """Return a session that was told one fact, and the address of its unit."""
    session_id = editor.chat("My dog is called Rex.", **PINS).json()["session_id"]
    unit = Session.objects.get(session_id=session_id).context_units.get()
    return session_id, f"/api/sessions/{session_id}/units/{unit.unit_id}"


def answer(editor: Caller, session_id: str) -> str:
    return editor.chat("What is my dog called?", session_id, **PINS).json()["choices"][0]["message"]["content"]


def test_a_unit_is_retracted_and_restored(editor: Caller, told: tuple[str, str]) -> None:
    session_id, unit = told
    assert "Rex" in answer(editor, session_id)
    gone = editor.post(f"{unit}/retract", {})
    assert (gone.status_code, gone.json()["change"], gone.json()["session_context_unit_count"]) == (200, "retracted", 0)
    assert "Rex" not in answer(editor, session_id)
    again = editor.post(f"{unit}/retract", {})
    assert (again.status_code, again.json()["error"]["code"]) == (404, "UNIT_NOT_FOUND")
    assert editor.post(f"{unit}/restore", {}).json()["session_context_unit_count"] == 1
    assert "Rex" in answer(editor, session_id)
    assert editor.post(f"{unit}/restore", {}).status_code == 409


def test_a_unit_is_corrected_and_bad_corrections_change_nothing(editor: Caller, told: tuple[str, str]) -> None:
    session_id, unit = told
    for text in ("", "My dog is called Rex."):
        assert editor.post(f"{unit}/correct", {"text": text}).status_code == 400
    assert "Rex" in answer(editor, session_id)
    assert editor.post(f"{unit}/correct", {"text": "My dog is called Max."}).json()["change"] == "corrected"
    assert "Max" in answer(editor, session_id)
    (kept,) = editor.get(f"/api/sessions/{session_id}/units").json()["units"]
    assert kept["text"] == "My dog is called Max."
    old = editor.get(unit).json()
    new = editor.get(f"/api/sessions/{session_id}/units/{kept['unit_id']}").json()
    assert (old["state"], old["text"], old["unit"]) == ("retracted", "My dog is called Rex.", None)
    assert (old["corrects"], old["corrected_by"]) == ([], [new["unit_id"]])
    assert (new["state"], new["unit"]["claim"]) == ("committed", "My dog is called Max.")
    assert (new["corrects"], new["corrected_by"]) == ([old["unit_id"]], [])


def test_a_cited_unit_of_the_base_is_read_in_its_sessions_alone(editor: Caller) -> None:
    base, other = (editor.post("/api/kbs", {"name": name}).json()["kb_id"] for name in ("Ferries", "Empty"))
    editor.post(f"/api/kbs/{base}/sources", {"content": "Vehicles wait at gate B.", "name": "ferry.txt"})
    session_id, stranger = (editor.post("/api/sessions", {"kb_id": kb}).json()["session_id"] for kb in (base, other))
    answered = editor.chat("Where do vehicles wait?", session_id, **PINS).json()
    (unit_id,) = answered["response_document"]["groups"][0]["citedUnitIds"]
    known = editor.get(f"/api/sessions/{session_id}/units/{unit_id}").json()
    assert (known["unit_id"], known["state"], known["kb_id"]) == (unit_id, "base", base)
    assert (known["unit"]["claim"], known["request_id"]) == ("Vehicles wait at gate B.", None)
    assert known["steps"][-1]["step"] == "cited"
    assert editor.get(f"/api/sessions/{stranger}/units/{unit_id}").json()["error"]["code"] == "UNIT_NOT_FOUND"
    editor.post(f"/api/sessions/{session_id}/units/{unit_id}/retract", {})
    assert editor.get(f"/api/sessions/{session_id}/units/{unit_id}").json()["state"] == "hidden"


def test_a_base_is_deleted_and_brought_back(editor: Caller, told: tuple[str, str]) -> None:
    session_id, _ = told
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    editor.post(f"/api/sessions/{session_id}/kb/mount", {"kb_id": kb_id})
    refused = editor.delete(f"/api/kbs/{kb_id}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "KB_MOUNTED")
    assert refused.json()["error"]["details"]["session_count"] == 1
    editor.post(f"/api/sessions/{session_id}/kb/mount", {"kb_id": "default"})
    assert [editor.delete(f"/api/kbs/{kb_id}").status_code for _ in range(2)] == [204, 204]
    assert editor.get(f"/api/kbs/{kb_id}").status_code == 404
    assert editor.post(f"/api/kbs/{kb_id}/undelete", {}).json()["name"] == "Alpha"
    assert editor.get(f"/api/kbs/{kb_id}").status_code == 200
    default = editor.delete("/api/kbs/default")
    assert (default.status_code, default.json()["error"]["code"]) == (400, "KB_IS_DEFAULT")
    assert KnowledgeBase.objects.filter(is_default=True, deleted_at=None).exists()

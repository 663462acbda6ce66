"""Mounting, saving and forking by the API."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.actions.knowledge import forks
from sessions_app.models import KnowledgeBase, Session
from sessions_app.queries.knowledge.bases import told_units
from tests.actions.knowledge_scene import held, stage
from tests.api.conftest import Caller
from tests.api.doubles import HeldSolver, registered


def told(editor: Caller) -> tuple[str, str]:
    """Return a session that was told a fact, and the address of its base's actions."""
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    return session_id, f"/api/sessions/{session_id}/kb"


def of(session_id: str) -> Session:
    return Session.objects.get(session_id=session_id)


@pytest.mark.parametrize("verb", ["load", "mount"])
def test_a_base_is_mounted_and_a_dirty_draft_refuses(editor: Caller, verb: str) -> None:
    session_id, address = told(editor)
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    assert editor.post(f"{address}/{verb}", {"kb_id": kb_id}).json()["session_id"] == session_id
    assert of(session_id).mounted_kb.kb_id == kb_id
    assert of(session_id).unit_count == 1
    newest = editor.get(f"/api/sessions/{session_id}/mounts").json()["mounts"][0]
    assert newest["reason"] == f"{verb}-api"
    stage(of(session_id), "notes", "The pump hums")
    refused = editor.post(f"{address}/{verb}", {"kb_id": "default"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "WORKSPACE_DIRTY")
    assert editor.post(f"{address}/{verb}", {"kb_id": "default", "discard_draft": True}).status_code == 200
    assert of(session_id).mounted_kb.is_default


@pytest.mark.parametrize("verb", ["save", "fork"])
def test_what_was_discarded_meanwhile_is_not_said_to_be_saved(
    editor: Caller, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The discard commits after the request to save was read, and before it has the session."""
    session_id, address = told(editor)
    stage(of(session_id), "notes", "The pump hums")
    before = {base.kb_id: base.revision for base in KnowledgeBase.objects.all()}

    def discard(_: Session) -> None:
        assert editor.post(f"{address}/mount", {"kb_id": "default", "discard_draft": True}).status_code == 200

    monkeypatch.setattr(forks, "prepare_journal", discard)
    refused = editor.post(f"{address}/{verb}", {"name": "Pumps"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "CONFLICT")
    assert "unsaved changes were discarded meanwhile" in refused.json()["error"]["message"]
    assert {base.kb_id: base.revision for base in KnowledgeBase.objects.all()} == before
    monkeypatch.undo()
    assert editor.post(f"{address}/{verb}", {"name": "Pumps"}).status_code == 200


def test_a_second_save_beside_the_first_finds_nothing_left(editor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id, address = told(editor)
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    editor.post(f"{address}/load", {"kb_id": kb_id})
    stage(of(session_id), "notes", "The pump hums")

    def save(_: Session) -> None:
        monkeypatch.undo()
        assert editor.post(f"{address}/save").status_code == 200

    monkeypatch.setattr(forks, "prepare_journal", save)
    assert editor.post(f"{address}/save").status_code == 200
    assert held(KnowledgeBase.objects.get(kb_id=kb_id), "pump") == ["The pump hums"]


@pytest.mark.rule("DECISION-47")
@pytest.mark.parametrize(
    ("verb", "body"), [("load", {"kb_id": "default"}), ("save", {"name": "Pets"}), ("fork", {"name": "Pets"})]
)
def test_a_busy_session_is_waited_for_when_asked(editor: Caller, verb: str, body: dict[str, str]) -> None:
    """The turn ends while the request waits."""
    session_id, address = told(editor)
    with registered(HeldSolver()) as solver:
        pinned = {"goal_solver_plugin": "gs-held"}
        asking = threading.Thread(target=lambda: editor.chat("What is my dog called?", session_id, **pinned))
        asking.start()
        assert solver.started.wait(10)
        refused = editor.post(f"{address}/{verb}", body)
        assert (refused.status_code, refused.headers["Retry-After"]) == (409, "1")
        results: list[Any] = []
        patient = {**body, "wait_ms": 20_000}
        waiting = threading.Thread(target=lambda: results.append(editor.post(f"{address}/{verb}", patient)))
        waiting.start()
        solver.go_on.set()
        asking.join(20)
        waiting.join(20)
    assert [answer.status_code for answer in results] == [200]
    assert of(session_id).turns.filter(status="succeeded").count() == 2


def test_what_a_mount_needs(editor: Caller) -> None:
    _, address = told(editor)
    assert editor.post(f"{address}/load", {}).json()["error"]["code"] == "KB_VALIDATION_MISSING_ID"
    assert editor.post(f"{address}/load", {"kb_id": "kb-none"}).json()["error"]["code"] == "KB_NOT_FOUND"
    missing = editor.post("/api/sessions/sess-none/kb/load", {"kb_id": "default"})
    assert missing.json()["error"]["code"] == "SESSION_NOT_FOUND"


def test_what_a_session_learned_is_saved_for_the_next_one(editor: Caller) -> None:
    session_id, address = told(editor)
    saved = editor.post(f"{address}/save", {"name": "Pets"})  # a save of the default base under a name makes a new base
    base = KnowledgeBase.objects.get(name="Pets")
    assert saved.status_code == 200
    assert (of(session_id).mounted_kb, held(base, "dog")) == (base, ["My dog is called Rex."])
    editor.chat("My cat is called Tom.", session_id)
    assert editor.post(f"{address}/save", {"include_conversation_units": False}).status_code == 200
    assert held(base, "cat") == []
    assert editor.post(f"{address}/save", {"target_kb_id": base.kb_id, "name": "All pets"}).status_code == 200
    base.refresh_from_db()
    assert (base.name, held(base, "cat")) == ("All pets", ["My cat is called Tom."])


def test_units_are_chosen_one_by_one_for_a_save(editor: Caller) -> None:
    session_id, address = told(editor)
    editor.chat("My cat is called Tom. My car is red.", session_id)
    ids = {unit.claim: unit.unit_id for unit in told_units(of(session_id))}
    saved = editor.post(f"{address}/save", {"name": "Cats", "conversation_unit_ids": [ids["My cat is called Tom."]]})
    base = KnowledgeBase.objects.get(name="Cats")
    assert saved.status_code == 200
    assert (held(base, "cat"), held(base, "car"), held(base, "dog")) == (["My cat is called Tom."], [], [])
    assert len(told_units(of(session_id))) == 2
    refused = editor.post(f"{address}/fork", {"conversation_unit_ids": ["unit-none"]})
    assert (refused.status_code, "'unit-none'" in refused.json()["error"]["message"]) == (400, True)
    assert not KnowledgeBase.objects.filter(name="Cats fork").exists()


def test_the_second_saver_keeps_its_draft_and_may_fork(editor: Caller) -> None:
    kb_id = editor.post("/api/kbs", {"name": "Shared"}).json()["kb_id"]
    sessions = [told(editor) for _ in range(2)]
    for _, address in sessions:
        editor.post(f"{address}/load", {"kb_id": kb_id})
    assert editor.post(f"{sessions[0][1]}/save", {}).status_code == 200
    refused = editor.post(f"{sessions[1][1]}/save", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "KB_REVISION_CONFLICT")
    assert editor.post(f"{sessions[1][1]}/save", {"fork": True, "name": "Mine"}).status_code == 200
    assert held(KnowledgeBase.objects.get(name="Mine"), "dog") == ["My dog is called Rex."]


@pytest.mark.rule("BASE-13")
def test_an_unmounted_base_is_saved_into_by_revision_alone(editor: Caller) -> None:
    _, address = told(editor)
    kb_id = editor.post("/api/kbs", {"name": "Theirs"}).json()["kb_id"]
    editor.post(f"/api/kbs/{kb_id}/sources", {"name": "a.txt", "content": "My dog is called Hasso."})
    refused = editor.post(f"{address}/save", {"target_kb_id": kb_id})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["details"]["revision"]) == (409, "KB_REVISION_CONFLICT", 2)
    base = KnowledgeBase.objects.get(kb_id=kb_id)
    assert held(base, "dog") == ["My dog is called Hasso."]
    assert editor.post(f"{address}/save", {"target_kb_id": kb_id, "expected_revision": "2"}).status_code == 400
    assert editor.post(f"{address}/save", {"target_kb_id": kb_id, "expected_revision": 2}).status_code == 200
    assert held(base, "dog") == ["My dog is called Rex."]


def test_a_fork_is_made_and_mounted(editor: Caller) -> None:
    session_id, address = told(editor)
    editor.post(f"{address}/fork", {"name": "Own"})
    own = of(session_id).mounted_kb
    assert (own.name, held(own, "dog")) == ("Own", ["My dog is called Rex."])
    assert own.parent is not None
    assert held(own.parent, "dog") == []


def test_who_may_only_read_changes_nothing(editor: Caller, caller: Callable[..., Caller]) -> None:
    _, address = told(editor)
    for verb in ("load", "mount", "save", "fork"):
        assert caller("viewer").post(f"{address}/{verb}", {"kb_id": "default"}).status_code == 403


def test_a_fork_may_leave_the_conversation_out(editor: Caller) -> None:
    session_id, address = told(editor)
    assert editor.post(f"{address}/fork", {"name": "Without", "include_conversation_units": False}).status_code == 200
    assert held(of(session_id).mounted_kb, "dog") == []
    assert editor.post(f"{address}/fork", {"name": "With"}).status_code == 200
    assert held(of(session_id).mounted_kb, "dog") == ["My dog is called Rex."]

"""A session's frozen skills, personas and models, by the API."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from sessions_app.models import Session
from tests.api.conftest import Caller
from tests.assistants.skill_files import front, write_skill


@pytest.mark.rule("ROLE-6")
def test_a_session_tells_what_it_has_frozen(editor: Caller, files: Path) -> None:
    write_skill(files / "skills", "arithmetic", "---\nsummary: x\n")
    made = editor.post("/api/sessions").json()
    read = editor.get(f"/api/sessions/{made['session_id']}").json()
    frozen = ("active_agent", "active_persona", "style", "effective_style", "skill_snapshot", "model_config")
    assert {key: made[key] for key in frozen} == {key: read[key] for key in frozen}
    assert (read["active_agent"], read["active_persona"], read["style"]) == ("default", "default", None)
    snapshot = read["skill_snapshot"]
    assert (snapshot["version"], len(snapshot["hash"])) == (1, 64)
    assert snapshot["sources"] == {"checklist": "bundled", "compare": "bundled", "summarise": "bundled"}
    assert [(item["code"], item["excludes"]) for item in snapshot["diagnostics"]] == [
        ("malformed_frontmatter", True), ("precedence_conflict", False),
    ]  # fmt: skip
    assert read["model_config"]["temperature"] == 0.1
    assert read["model_config"]["thinkingLevel"] is None


def test_skills_come_with_their_instructions(editor: Caller, session_id: str) -> None:
    answer = editor.get(f"/api/sessions/{session_id}/skills").json()
    assert [item["skill_name"] for item in answer["skills"]] == ["arithmetic", "checklist", "compare", "summarise"]
    assert answer["skills"][3]["instructions"].startswith("Summarise the text")
    assert answer["skills"][0]["command_tool"] == "calculate"


def test_a_difference_is_what_the_reload_then_changes(editor: Caller, session_id: str, files: Path) -> None:
    address = f"/api/sessions/{session_id}/skills"
    before = editor.get(f"{address}/difference").json()
    assert before["difference"]["is_empty"]
    assert before["hash"] == before["current_hash"]
    write_skill(files / "skills", "new", front(summary="New"))
    write_skill(files / "skills", "compare", front(summary="Mine", body="Compare my way."))
    told = editor.get(f"{address}/difference").json()
    assert told["hash"] != told["current_hash"]
    assert [item["skill_name"] for item in told["difference"]["added"]] == ["new"]
    (changed,) = told["difference"]["changed"]
    assert changed["differing"] == ["source", "summary", "instructions", "command"]
    assert changed["after"]["instructions"] == "Compare my way."
    assert editor.get(address).json()["hash"] == before["hash"], "looking changes nothing"
    reloaded = editor.post(f"{address}/reload").json()
    assert reloaded["difference"] == told["difference"]
    assert (reloaded["version"], reloaded["count"], reloaded["hash"]) == (2, 5, told["current_hash"])
    assert editor.get(f"{address}/difference").json()["difference"]["is_empty"]
    kinds = Session.objects.get().events.values_list("kind", flat=True)
    assert "snapshot.reloaded" in kinds
    assert "command.recorded" not in kinds


def test_a_reload_needs_an_editor_and_an_idle_session(
    caller: Callable[..., Caller], editor: Caller, stranger: Caller, session_id: str
) -> None:
    address = f"/api/sessions/{session_id}/skills/reload"
    assert caller("viewer").get(f"/api/sessions/{session_id}/skills").status_code == 200
    assert caller("viewer").post(address).status_code == 403
    assert stranger.post(address).status_code == 404
    assert stranger.get(f"/api/sessions/{session_id}/skills").status_code == 404
    Session.objects.update(expired_at=timezone.now())
    assert editor.post(address).json()["error"]["code"] == "SESSION_EXPIRED"
    assert editor.get(f"/api/sessions/{session_id}/skills").status_code == 200


def test_unreadable_roots_are_an_error_with_a_code(
    editor: Caller, session_id: str, tmp_path: Path, settings: Settings
) -> None:
    settings.MRPVM_SHIPPED_DIR = tmp_path / "nowhere"
    for answer in (
        editor.post("/api/sessions"),
        editor.get(f"/api/sessions/{session_id}/skills/difference"),
        editor.post(f"/api/sessions/{session_id}/skills/reload"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "SKILLS_ROOT_UNREADABLE")
    assert editor.get(f"/api/sessions/{session_id}").status_code == 200


@pytest.mark.rule("DECISION-46")
def test_model_configuration_is_the_sessions_own(editor: Caller, session_id: str) -> None:
    address = f"/api/sessions/{session_id}/model-config"
    changed = editor.patch(address, {"thinkingLevel": "low", "verbosity": "high"}).json()
    assert (changed["thinkingLevel"], changed["verbosity"], changed["temperature"]) == ("low", "high", 0.1)
    read = editor.get(f"/api/sessions/{session_id}").json()["model_config"]
    assert read == {key: value for key, value in changed.items() if key != "session_id"}
    assert editor.patch(address, {"verbosity": "loud"}).json()["error"]["code"] == "INVALID_SETTINGS"

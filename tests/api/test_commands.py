"""Commands by the public endpoint: answered without a model, and recorded with the conversation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions_app.models import Message, Project, Session
from tests.api.conftest import Caller
from tests.assistants.skill_files import front, write_skill

ADD = {"invocation_mode": "tool_dispatch", "command_tool": "add"}


def give(caller: Caller, session_id: str, text: str) -> dict[str, Any]:
    """Return a command's envelope."""
    answer = caller.chat(text, session_id)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["choices"][0]["message"]["content"] == body["command"]["message"]
    return dict(body["command"])


def state(session_id: str) -> dict[str, Any]:
    """Return the state of a session that no command may change by mistake."""
    row = Session.objects.get(session_id=session_id)
    left_out = {"_state", "turn_sequence", "event_sequence", "last_activity_at"}
    messages = list(row.messages.values_list("sequence", "role", "content"))
    return {name: value for name, value in vars(row).items() if name not in left_out} | {"messages": messages}


@pytest.mark.rule("DECISION-18", "DECISION-40")
def test_a_command_is_a_turn_of_its_own_kind(editor: Caller, session_id: str) -> None:
    """It is in the registry with its trace, and not in the model's context."""
    editor.chat("My dog is called Rex.", session_id)
    before = state(session_id)
    body = editor.chat("/skills", session_id).json()
    assert body["command"]["code"] == "skills_listed"
    assert body["command"]["data"] == {"count": 4, "diagnostics_count": 0}
    assert state(session_id) == before
    entry = editor.get(f"/api/sessions/{session_id}/turns/{body['request_id']}").json()
    assert (entry["kind"], entry["status"], entry["answerStatus"]) == ("command", "succeeded", None)
    assert entry["userMessage"] == "/skills"
    assert entry["commandResult"] == body["command"]
    assert entry["executionTrace"]["command"]["route"] == "builtin"
    assert "first character is '/'" in entry["executionTrace"]["command"]["reason"]
    assert entry["executionTrace"]["command"]["snapshotVersion"] == 1
    detail = editor.get(f"/api/sessions/{session_id}/turns/{body['request_id']}/details/frame-0").json()
    assert detail["output"] == body["command"]
    assert Session.objects.get().events.filter(kind="command.recorded").count() == 1


@pytest.mark.rule(
    "FROZEN-22", "FROZEN-24", "FROZEN-25", "FROZEN-27", "FROZEN-31", "FROZEN-34", "FROZEN-36", "FROZEN-40", "FROZEN-52"
)
@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("/unknown", "unknown_command", "Error: unknown command '/unknown'."),  #
        ("/", "parse_error", "Error: command name is required after '/'."),  #
        ("/   ", "parse_error", "Error: command name is required after '/'."),
        ("/skill ARITHMETIC 1+1", "skill_not_found", "Error: skill 'ARITHMETIC' not found in snapshot."),  #
        ("/skill arith", "skill_not_found", "Error: skill 'arith' not found in snapshot."),  #
        ("/skills now", "invalid_args", "Error: /skills does not accept arguments."),  #
        ("/agent use missing", "agent_not_found", "Error: agent 'missing' was not found."),  #
        ("/style Loud", "style_invalid", "Error: invalid style 'loud'. Use focus|balanced|playful."),  #
        ("/calc bad+payload", "tool_input_invalid", "Error: invalid input for tool 'calculate'."),  #
    ],
)
def test_a_refusal_changes_nothing(editor: Caller, session_id: str, text: str, code: str, message: str) -> None:
    """It is shown and recorded, and the session can be used further."""
    before = state(session_id)
    envelope = give(editor, session_id, text)
    assert (envelope["status"], envelope["code"], envelope["message"]) == ("error", code, message)
    assert state(session_id) == before
    assert "Rex" in editor.chat("My dog is called Rex.", session_id).json()["choices"][0]["message"]["content"]


@pytest.mark.rule("DECISION-40")
def test_a_leading_space_makes_it_conversation(editor: Caller, session_id: str) -> None:
    body = editor.chat("  /skills are what my dog Rex has.", session_id).json()
    assert body.get("command") is None
    assert Session.objects.get().turns.get().kind == "chat"


@pytest.mark.rule("DECISION-45", "FROZEN-28")
def test_a_tool_runs_without_a_model_and_its_result_is_kept(editor: Caller, session_id: str, files: Path) -> None:
    write_skill(files / "skills", "add", front(**ADD, command="sum"))
    give(editor, session_id, "/reload_skills")
    for text in ("/sum 20+42", "/skill add 20+42"):
        assert give(editor, session_id, text)["message"] == "62"
    messages = editor.get(f"/api/sessions/{session_id}/messages").json()["messages"]
    assert [(item["role"], item["content"]) for item in messages] == [("tool", "62"), ("tool", "62")]
    assert messages[0]["payload"] == {
        "tool": "builtin:add", "call_id": messages[0]["request_id"], "input": "20+42", "output": "62",
    }  # fmt: skip
    trace = editor.get(f"/api/sessions/{session_id}/turns/{messages[1]['request_id']}").json()["executionTrace"]
    assert trace["skill"]["name"] == "add"
    assert "/skill names 'add'" in trace["skill"]["reason"]


@pytest.mark.rule("FROZEN-18", "FROZEN-19", "FROZEN-21")
def test_a_new_skill_is_seen_after_a_reload_by_one_session_alone(editor: Caller, session_id: str, files: Path) -> None:
    other = editor.post("/api/sessions").json()["session_id"]
    editor.chat("My dog is called Rex.", session_id)
    write_skill(files / "workspace" / "default" / "skills", "new", front(summary="New"))
    assert "new" not in give(editor, session_id, "/skills")["message"]
    assert give(editor, session_id, "/skill new")["code"] == "skill_not_found"
    before = state(session_id)
    reloaded = give(editor, session_id, "/reload_skills")
    assert reloaded["message"] == "Reloaded skills for current session. version=2 count=5"
    after = state(session_id)
    assert {name for name in after if after[name] != before[name]} == {"skills_id", "snapshot_version"}
    assert "new - New" in give(editor, session_id, "/skills")["message"]
    assert "new" not in give(editor, other, "/skills")["message"]


@pytest.mark.rule("FROZEN-33")
def test_help_reads_no_file(editor: Caller, session_id: str, files: Path) -> None:
    path = write_skill(files / "skills", "gone", front(summary="Was here"))
    give(editor, session_id, "/reload_skills")
    path.unlink()
    assert "- `summary`: Was here" in give(editor, session_id, "/help gone")["message"]


@pytest.mark.rule("FROZEN-37", "FROZEN-39")
def test_agent_persona_and_style_change_themselves_alone(editor: Caller, session_id: str) -> None:
    steps = [
        ("/agent use READER", {"active_agent": "reader"}, "agent.changed"),
        ("/agent default", {"active_agent": "default"}, "agent.changed"),
        ("/style focus", {"active_style": "focus"}, "preferences.changed"),
        ("/persona use Companion", {"active_persona": "companion", "active_style": None}, "persona.changed"),
    ]
    for text, expected, news in steps:
        before = state(session_id)
        assert give(editor, session_id, text)["status"] == "ok"
        after = state(session_id)
        assert {name: after[name] for name in after if after[name] != before[name]} == expected
        kinds = Session.objects.get().events.order_by("-sequence").values_list("kind", flat=True)
        assert list(kinds[:2]) == ["command.recorded", news]
    shown = give(editor, session_id, "/persona show")["data"]
    assert shown["effective_style"] == "playful"


@pytest.mark.rule("FROZEN-42")
def test_a_persona_that_vanished_gives_way(editor: Caller, session_id: str, files: Path) -> None:
    folder = files / "personas"
    folder.mkdir()
    (folder / "zoe.md").write_text("Be Zoe.")
    assert give(editor, session_id, "/reload_persona")["message"] == (
        "Reloaded personas. active=default count=5 switched=false"
    )
    give(editor, session_id, "/persona use zoe")
    give(editor, session_id, "/style playful")
    (folder / "zoe.md").unlink()
    assert "zoe" in give(editor, session_id, "/persona list")["message"]
    assert give(editor, session_id, "/reload_persona")["message"] == (
        "Reloaded personas. active=analyst count=4 switched=true"
    )
    row = Session.objects.get()
    assert (row.active_persona, row.active_style) == ("analyst", None)


def test_another_session_leaves_this_one_alone(editor: Caller, session_id: str) -> None:
    before = state(session_id)
    envelope = give(editor, session_id, "/new")
    assert envelope["message"] == f"Started session {envelope['data']['session_id']}."
    assert state(session_id) == before
    assert editor.get(f"/api/sessions/{envelope['data']['session_id']}").status_code == 200
    assert give(editor, session_id, "/new now")["code"] == "invalid_args"


def test_memory_belongs_to_its_session(editor: Caller, session_id: str) -> None:
    other = editor.post("/api/sessions").json()["session_id"]
    saved = give(editor, session_id, "/remember The key hangs left.")
    assert saved["message"] == f"Remembered ({saved['data']['id']}): The key hangs left."
    assert give(editor, session_id, "/remember the KEY hangs left.")["data"] == saved["data"]
    assert saved["data"]["id"] in give(editor, session_id, "/memory show key")["message"]
    assert give(editor, other, "/memory show")["code"] == "memory_empty"
    assert give(editor, other, f"/forget {saved['data']['id']}")["code"] == "memory_not_found"
    assert give(editor, session_id, f"/forget {saved['data']['id']}")["code"] == "memory_deleted"
    assert Session.objects.get(session_id=session_id).remembered_count == 0


def test_a_skill_for_a_model_needs_one(editor: Caller, session_id: str) -> None:
    """Without a model, nothing else answers."""
    envelope = give(editor, session_id, "/summarise My dog is called Rex.")
    assert (envelope["code"], envelope["message"]) == (
        "llm_backend_unavailable", "Error: LLM backend is unavailable.",
    )  # fmt: skip
    assert envelope["data"] == {"skill": "summarise", "backend_code": "LLM_NOT_AVAILABLE"}
    assert not Message.objects.exists()


@pytest.mark.rule("DECISION-47")
def test_a_busy_session_refuses_commands(editor: Caller, session_id: str) -> None:
    from tests.web.page_scene import add_turns

    add_turns(Session.objects.get(), 1, "running")
    Session.objects.get().turns.update(lease_until="2999-01-01T00:00:00Z")
    assert editor.chat("/skills", session_id).json()["error"]["code"] == "TURN_IN_PROGRESS"


def test_a_viewer_gives_no_commands(caller: Callable[..., Caller], session_id: str) -> None:
    assert caller("viewer").chat("/skills", session_id).status_code == 403


def test_a_session_of_another_project_is_not_there(stranger: Caller, other_project: Project, session_id: str) -> None:
    assert stranger.chat("/skills", session_id).status_code == 404

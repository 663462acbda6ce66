"""The small world of the first start holds what there is to look at."""

from pathlib import Path

from pytest_django import Settings

from sessions_app.management.demo import load_demo
from sessions_app.models import Project, Session
from sessions_app.turns.machine import install_plugins


def test_the_demo_uses_a_skill_and_a_persona(project: Project, tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    install_plugins()
    load_demo(project)
    ferry = Session.objects.get(title="Questions about the ferry")
    commands = ferry.turns.filter(kind="command").order_by("turn_index")
    assert [turn.command_result["code"] for turn in commands] == ["persona_set", "tool_ok", "skill_not_found"]
    assert ferry.active_persona == "analyst"
    assert ferry.messages.filter(role="tool").count() == 1

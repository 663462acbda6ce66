"""The demo data of the first start."""

from pathlib import Path

import pytest
from django.urls import reverse
from pytest_django import Settings

from sessions_app.commands.messages import answer_message
from sessions_app.management import demo
from sessions_app.management.bootstrap import bootstrap
from sessions_app.management.demo import load_demo
from sessions_app.models import ApiKey, KnowledgeBase, Project, Session
from sessions_app.queries.sessions.demo import FERRY_TITLE, PETS_TITLE
from sessions_app.queries.turns.registry import events
from sessions_app.queries.turns.verdicts import verdict
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from tests.web.page_scene import links_of, member_client, parsed


def test_the_demo_uses_a_skill_and_a_persona(project: Project, tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    install_plugins()
    load_demo(project)
    ferry = Session.objects.get(title=FERRY_TITLE)
    commands = ferry.turns.filter(kind="command").order_by("turn_index")
    assert [turn.command_result["code"] for turn in commands] == ["persona_set", "tool_ok", "skill_not_found"]
    assert ferry.active_persona == "analyst"
    assert ferry.messages.filter(role="tool").count() == 1


def test_the_demo_ends_answered_wrong_and_failed(project: Project, tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    install_plugins()
    load_demo(project)
    ferry = Session.objects.get(title=FERRY_TITLE)
    answered, _, wrong, failed = ferry.turns.order_by("turn_index")[len(demo.FERRY) - 4 :]
    assert [turn.outcome for turn in (answered, wrong, failed)] == ["answered", "answered", "failed"]
    wrong_verdict = " ".join(clause.text for clause in verdict(wrong, events(wrong)).clauses)
    assert "gate C" in wrong.assistant_preview
    assert "handbook.md says gate B" in wrong_verdict
    links = links_of(parsed(member_client(project).get(reverse("start")).text))
    first = ferry.turns.get(turn_index=1)
    for turn in (first, answered, wrong, failed):
        assert reverse("turn", args=[ferry.session_id, turn.request_id]) in links


def test_a_first_start_that_was_broken_off_is_gone_on_with(
    db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start that succeeds shows the key, and the demo data exists once."""
    settings.MRPVM_DATA_DIR = tmp_path
    install_plugins()
    messages = iter(range(3))

    def broken_off(session: Session, call: TurnCall) -> None:
        if next(messages, None) is None:
            raise KeyboardInterrupt
        answer_message(session, call)

    with monkeypatch.context() as patch:
        patch.setattr(demo, "answer_message", broken_off)
        with pytest.raises(KeyboardInterrupt):
            bootstrap(None, True, alone=True)
    assert not ApiKey.objects.exists()
    made = bootstrap(None, True, alone=True)
    assert made.first_start
    assert made.api_key
    assert sorted(Session.objects.values_list("title", "turn_sequence")) == [
        (PETS_TITLE, len(demo.PETS)), (FERRY_TITLE, len(demo.FERRY)),
    ]  # fmt: skip
    assert KnowledgeBase.objects.filter(name__startswith=demo.HANDBOOK_NAME).count() == 2
    again = bootstrap(None, True, alone=True)
    assert (again.first_start, again.api_key) == (False, None)
    assert Session.objects.count() == 2

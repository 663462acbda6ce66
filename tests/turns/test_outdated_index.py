"""An index of another version is reported where results may be wrong, with the command that rebuilds it."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import reindex
from sessions_app.management.commands.serve import Command
from sessions_app.models import KnowledgeBase, KnowledgeLayer, Project, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.web.shell.words import why
from tests.actions.knowledge_scene import add_text, tell
from tests.layers.units import make_unit
from tests.web.page_scene import check_html, member_client, texts_of, visible_text

COMMAND = "reindex"


@pytest.fixture
def outdated(project: Project, settings: Settings) -> KnowledgeBase:
    """Return a base with an index of an earlier version."""
    settings.MRPVM_LONGEST_READ_SECONDS = 0
    base = create_base(project, "Pumps")
    add_text(base, "Pumps", "", [make_unit("a", "The pump is blue")])
    KnowledgeLayer.objects.update(index_version="an-earlier-version")
    return KnowledgeBase.objects.get(pk=base.pk)


def warnings_of(session: Session) -> list[str]:
    turn = run_turn(session, TurnCall(message="Why?")).turn
    return list((turn.context_report or {}).get("warnings", []))


@pytest.mark.rule("BASE-18")
def test_a_turn_warns(outdated: KnowledgeBase, project: Project, plugins: Callable[..., None]) -> None:
    plugins()
    session = create_session(project, base=outdated)
    assert warnings_of(session) == ["index_outdated"]
    assert COMMAND in why("index_outdated")
    reindex()
    assert warnings_of(Session.objects.get(pk=session.pk)) == []


def test_a_turn_of_a_session_that_is_up_to_date_does_not(
    outdated: KnowledgeBase, session: Session, plugins: Callable[..., None]
) -> None:
    plugins()
    tell(session, "The pump is blue")
    assert warnings_of(Session.objects.get(pk=session.pk)) == []


def test_the_knowledge_pages_warn(outdated: KnowledgeBase, project: Project) -> None:
    boss = member_client(project)
    addresses = (reverse("knowledge"), reverse("knowledge-base", args=[outdated.kb_id]))
    for address in addresses:
        page = boss.get(address).text
        check_html(page)
        assert texts_of(page, ".notice code") == [COMMAND]
    reindex()
    assert [texts_of(boss.get(address).text, ".notice code") for address in addresses] == [[], []]


def test_the_admin_says_which_layers_are_old(outdated: KnowledgeBase, operators: Client) -> None:
    address = reverse("admin:sessions_app_knowledgelayer_changelist")
    assert visible_text(operators.get(address).text).count(f"run the command {COMMAND}") == 1
    reindex()
    assert f"run the command {COMMAND}" not in visible_text(operators.get(address).text)


def test_the_server_warns_when_it_starts(outdated: KnowledgeBase) -> None:
    said = StringIO()
    Command(stderr=said)._warn_of_old_index()
    assert COMMAND in said.getvalue()
    assert " 1 layer " in said.getvalue()
    reindex()
    said = StringIO()
    Command(stderr=said)._warn_of_old_index()
    assert said.getvalue() == ""

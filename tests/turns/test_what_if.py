"""Turns that are tried without storing them or taking the session's slot."""

import pytest

from mrpvm.errors import Unavailable
from mrpvm.trace.events import PluginStarted, said
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.experiments.replays.what_if import what_if
from sessions_app.models import Session
from sessions_app.running_turns import running_turns
from sessions_app.turns.call import TurnCall
from tests.actions.knowledge_scene import tell

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_session_saved_after_its_read_is_read_anew(plugins):
    plugins()
    project = ensure_default_project()
    session = create_session(project, base=create_base(project, "Pumps"))
    tell(session, "The pump is loud")
    read_before = Session.objects.get(pk=session.pk)
    save_session_kb(session)
    found = what_if(read_before, TurnCall(message="Why is the pump loud?"))
    assert not found.error
    assert "kb" in {started.stage for started in said(PluginStarted, found.events)}


def test_it_takes_a_place_as_a_turn_does(plugins, settings):
    settings.MRPVM_MAX_RUNNING_TURNS = 1
    plugins()
    session = create_session(ensure_default_project())
    with running_turns.place(session.project_id) as take_place:
        take_place()
        with pytest.raises(Unavailable) as caught:
            what_if(session, TurnCall(message="Why?"))
        assert caught.value.code == "SERVER_BUSY"
    for _ in range(2):  # each releases its place
        assert not what_if(session, TurnCall(message="Why?")).error

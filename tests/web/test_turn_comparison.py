"""Two turns that follow each other: what changed in units, preferences, mount and draft, and how both ran."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.kb_mounts import mount_base
from sessions_app.actions.knowledge import create_base
from sessions_app.actions.sessions import create_session
from sessions_app.models import ExplainabilityTurn, Project
from sessions_app.web.fragments import turn_comparison
from tests.web.page_scene import HOSTILE, add_turns, counted_queries, live_project, member_client, new_session, project
from tests.web.test_turn_panels import get, state_rows, talk, text_of

__all__ = ["live_project", "project"]


def compare(client: Client, turn: ExplainabilityTurn) -> str:
    return get(client, turn, "turn-compare")


def test_what_the_second_turn_and_what_came_between_changed(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    first = talk(session, "My dog is called Rex.")
    mount_base(session, create_base(live_project, "Motors"), reason="api")
    second = talk(session, "My cat is called Tom. My car is red.", planner="planner-depth")
    html = compare(client, second)
    state, _, ran = html.partition('id="compare-run"')
    rows = state_rows(state)
    assert rows["Knowledge base"][1:] == ["Motors, revision 1", "between the turns"]
    assert rows["Units of the session"] == ["1", "3", "by turn 2"]
    assert rows["Messages"] == ["2", "4", "by turn 2"]
    assert rows["Deliberation level"][2] == "no"
    units = text_of(html[html.index('id="compare-units"') : html.index('id="compare-run"')])
    assert "My cat is called Tom. Added by turn 2" in units
    assert "My car is red. Added by turn 2" in units
    assert "Rex" not in units
    assert state_rows(ran)["Planner"] == [first.planner_plugin, "planner-depth"]
    assert rows["Planner"][2] == "by turn 2"
    assert reverse("turn-compare", args=[session.session_id, second.request_id]) in get(client, second, "turn")
    assert "/compare" not in get(client, first, "turn")


def test_a_failed_turn_keeps_nothing_and_says_what_it_lost(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.")
    failed = talk(session, "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?")
    assert failed.status == "failed"
    html = compare(client, failed)
    assert "nothing changed" in html
    units = html[html.index('id="compare-units"') :]
    assert "My rabbit is called Bella. Not kept by turn 2" in text_of(units)
    assert "is-discarded" in units
    after = talk(session, "My cat is called Tom.")
    assert "My cat is called Tom. Added by turn 3" in text_of(compare(client, after))
    assert "Bella" not in text_of(compare(client, after)).partition("that came or went")[2]


def test_the_first_turn_and_another_project_have_nothing_to_compare(project: Project) -> None:
    session = new_session(project)
    first, second = add_turns(session, 2)
    client = member_client(project)
    named = [reverse("turn-compare", args=[session.session_id, turn.request_id]) for turn in (first, second)]
    assert client.get(named[0]).status_code == 404
    stranger = member_client(Project.objects.create(name="Other"))
    assert stranger.get(named[1]).status_code == 404


def test_what_was_written_is_text_and_what_does_not_fit_is_counted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_comparison, "UNITS_SHOWN", 3)
    session = new_session(project, title=HOSTILE)
    turn = add_turns(session, 2)[-1]
    ExplainabilityTurn.objects.filter(session=session).update(
        user_message=HOSTILE, assistant_preview=HOSTILE, planner_plugin=HOSTILE
    )
    for number in range(5):
        turn.unit_events.create(session=session, unit_id=f"u{number}", step="committed", reason=HOSTILE)
    html = compare(member_client(project), turn)
    assert "2 more are not shown here." in html


def test_the_queries_do_not_grow(project: Project) -> None:
    client, counts = member_client(project), []
    for how_many in (3, 30):
        session = new_session(project)
        turn = add_turns(session, how_many)[-1]
        for number in range(how_many):
            turn.unit_events.create(session=session, unit_id=f"u{number}", step="committed")
        with counted_queries() as queries:
            compare(client, turn)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 30

"""Comparison of two successive turns: changes of units, preferences, mount and draft, and both runs."""

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project
from tests.retention import age_payloads
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    attributes_of,
    counted_queries,
    elements,
    links_of,
    member_client,
    new_session,
    parsed,
    talk,
    text_at,
    texts_of,
)
from tests.web.test_turn_panels import get, spaced, state_rows


def section_of(html: str, title_id: str) -> str:
    """Return the section under the heading with this id."""
    (section,) = parsed(html).css(f'section[aria-labelledby="{title_id}"]')
    return str(section.html)


def compare(client: Client, turn: ExplainabilityTurn) -> str:
    return get(client, turn, "turn-compare")


def moves(html: str) -> list[str]:
    """Return the units that came or went, each with how and when."""
    return [spaced(item) for item in elements(html, "[aria-labelledby=compare-units] li")]


def test_who_answered_and_what_was_read_is_compared(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    talk(session, "My dog is called Rex.")
    first, second = talk(session, "What is my dog called?"), talk(session, "How old is it?")
    for turn, persona in ((first, "default"), (second, "coach")):
        assert turn.context_report is not None
        told = {"name": "persona", "source": f"persona {persona}", "chars": 9, "tokens": 3}
        turn.context_report["sections"] = [told, *turn.context_report["sections"]]
        turn.save()
    rows = state_rows(section_of(compare(client, second), "compare-run"))
    assert rows["Persona"] == ["default", "coach"]
    assert rows["Agent"] == rows["Skill"] == ["–", "–"]
    assert rows["Read as"][0] == "–"
    assert "How old is my dog" in rows["Read as"][1]


def test_what_the_second_turn_and_what_came_between_changed(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    first = talk(session, "My dog is called Rex.")
    mount_base(session, create_base(live_project, "Motors"), reason="api")
    second = talk(session, "My cat is called Tom. My car is red.", planner="planner-depth")
    html = compare(client, second)
    rows = state_rows(section_of(html, "compare-state"))
    assert rows["Knowledge base"][1:] == ["Motors, revision 1", "between the turns"]
    assert rows["Units of the session"] == ["1", "3", "by turn 2"]
    assert rows["Messages"] == ["2", "4", "by turn 2"]
    assert rows["Deliberation level"][2] == "no"
    assert moves(html) == ["My cat is called Tom. Added by turn 2", "My car is red. Added by turn 2"]
    assert state_rows(section_of(html, "compare-run"))["Planner"] == [first.planner_plugin, "planner-depth"]
    assert rows["Planner"][2] == "by turn 2"
    assert reverse("turn-compare", args=[session.session_id, second.request_id]) in links_of(
        parsed(get(client, second, "turn"))
    )
    assert "/compare" not in get(client, first, "turn")


def test_a_command_changes_no_choice_of_plugins(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.")
    command = talk(session, "/skills")
    after = talk(session, "My cat is called Tom.")
    compared = compare(client, command)
    state = section_of(compared, "compare-state")
    for page, table in ((compared, state), (tab := get(client, command, "turn", tab="state"), tab)):
        rows = state_rows(table)
        assert "Planner" not in rows
        assert rows["Knowledge base"][-1] in ("Default KB, revision 1", "no")
        assert "changed between the turns" not in page
    assert texts_of(compared, ".badge")[:2] == ["Noted", "Command"]
    assert state_rows(section_of(compare(client, after), "compare-state"))["Planner"][0] == "–"


def test_a_failed_turn_keeps_nothing_and_says_what_it_lost(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.")
    failed = talk(session, "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?")
    assert failed.status == "failed"
    html = compare(client, failed)
    assert text_at(html, "[aria-labelledby=compare-state] .small") == "nothing changed"
    units = section_of(html, "compare-units")
    assert any(move.startswith("My rabbit is called Bella. Not kept by turn 2") for move in moves(html))
    assert parsed(units).css(".is-discarded")
    after = talk(session, "My cat is called Tom.")
    assert moves(compare(client, after)) == ["My cat is called Tom. Added by turn 3"]


def test_first_turns_and_other_projects_are_not_compared(project: Project) -> None:
    session = new_session(project)
    first, second = add_turns(session, 2)
    client = member_client(project)
    named = [reverse("turn-compare", args=[session.session_id, turn.request_id]) for turn in (first, second)]
    assert client.get(named[0]).status_code == 404
    stranger = member_client(Project.objects.create(name="Other"))
    assert stranger.get(named[1]).status_code == 404


def test_written_text_is_escaped_and_the_rest_counted(project: Project, settings: Settings) -> None:
    settings.MRPVM_UNITS_COMPARED = 3
    session = new_session(project, title=HOSTILE)
    turn = add_turns(session, 2)[-1]
    ExplainabilityTurn.objects.filter(session=session).update(
        user_message=HOSTILE, assistant_preview=HOSTILE, planner_plugin=HOSTILE
    )
    for number in range(5):
        turn.unit_events.create(session=session, unit_id=f"u{number}", step="committed", reason=HOSTILE)
    html = compare(member_client(project), turn)
    assert text_at(html, "[aria-labelledby=compare-units] p") == "2 more are not shown here."


def rows_of(html: str) -> dict[str, list[str]]:
    """Return the cells of the table of plugins that ran, by name; the last one of several equal names."""
    rows = parsed(html).css(".runs-table [data-row-of]")
    cells = ([spaced(cell) for cell in row.css("th, td")] for row in rows)
    return {name: rest for name, *rest in cells}


def test_what_ran_stands_side_by_side_with_what_differs(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    talk(session, "My dog is called Rex.")
    talk(session, "What is my dog called?")
    again = talk(session, "What is my dog called?")
    rows = rows_of(compare(client, again))
    assert rows["Symbolic Seed Detector"][0] == "same"
    assert rows["Constraint Validator"][0] == "same"
    followed = compare(client, talk(session, "And what is it called?"))
    # Each of two questions opens a frame, which the turn before did not have.
    both = compare(client, talk(session, "1. What is my dog called?\n2. What is my cat called?"))
    split = rows_of(both)
    assert split["Frame parallel-intent 2"][:2] == ["only in turn 5", "none"]
    assert any(
        spaced(row).startswith("Constraint Validator only in turn 4") for row in elements(both, ".runs-table tr")
    )
    assert split["Frame Turn"][0] == "input: message; output: groups"
    assert rows_of(followed)["Symbolic Seed Detector"][0].startswith("input: message, history")
    for html, change in ((compare(client, again), "same"), (followed, "input: message, history")):
        for side in ("left", "right"):
            assert parsed(html).css(f'svg[data-uid="{side}"] [aria-label^="Symbolic Seed"][aria-label*=", {change}"]')


def test_any_earlier_turn_can_be_beside_it(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    talk(session, "My dog is called Rex.")
    talk(session, "My cat is called Tom.")
    last = talk(session, "My hen is called Ada.")
    address = reverse("turn-compare", args=[session.session_id, last.request_id])
    html = client.get(address, {"with": "1"}).text
    assert text_at(html, "h1") == "Turns 1 and 3"
    assert state_rows(html)["Units of the session"] == ["1", "3", "between the turns, then by turn 3"]
    assert "My cat is called Tom. Added by turn 2" in moves(html)
    for wrong in ("3", "4", "0"):
        assert client.get(address, {"with": wrong}).status_code == 404
    assert text_at(client.get(address, {"with": "x"}).text, "h1") == "Turns 2 and 3"


def test_one_id_names_what_is_aligned_in_both_graphs(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.")
    asked = talk(session, "What is my dog called?")
    address = reverse("turn-compare", args=[session.session_id, asked.request_id])
    sides = [client.get(address, {"with": "1", "side": side}).text for side in ("left", "right")]
    assert all(side.startswith("<svg") for side in sides)
    ids = [set(attributes_of(side, "[data-id]", "data-id")) for side in sides]
    shared = ids[0] & ids[1]
    assert {"frame-0", "exec-0.1~1"} <= shared
    assert all(name in shared or name.startswith("right ") for name in ids[1])
    # An invalid `side` gives the whole page.
    assert parsed(client.get(address, {"side": "middle"}).text).css("#main")


def test_what_is_too_much_to_list_or_to_compare_is_said(
    live_project: Project, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    session, client = create_session(live_project), member_client(live_project)
    talk(session, "My dog is called Rex.")
    asked = talk(session, "What is my dog called?")
    whole = rows_of(compare(client, asked))
    with override_settings(MRPVM_RUNS_SHOWN_WHOLE=0, MRPVM_RUNS_SHOWN=2, MRPVM_PAYLOADS_COMPARED=1):
        html = compare(client, asked)
    assert len(rows_of(html)) == 2
    assert "more that differ are not listed." in text_at(html, ".compare__runs .card__foot")
    assert "the payloads were not compared" in text_at(html, ".compare__runs .card__foot")
    assert len(whole) > 2
    age_payloads(settings)
    assert rows_of(compare(client, asked))["Symbolic Seed Detector"][0] == "not compared"


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
    assert counts[0] == counts[1] <= 34

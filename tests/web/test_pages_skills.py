"""The page of a session's skills, its frozen state on the session page, commands in the conversation."""

import json
import subprocess
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.model_roles import set_model_roles
from sessions_app.commands.messages import answer_message
from sessions_app.events import EVENT_KINDS
from sessions_app.models import Project, Session
from sessions_app.turns.call import TurnCall
from tests.assistants.skill_files import front, write_skill
from tests.house.test_scripts import NODE
from tests.web.page_scene import (
    HOSTILE,
    attributes_of,
    check_html,
    counted_queries,
    member_client,
    parsed,
    texts_of,
    visible_text,
)

PARTS = Path(__file__).parents[2] / "static/js/shell/parts.js"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, settings: Settings) -> Path:
    """Return the data directory of the test."""
    settings.MRPVM_DATA_DIR = tmp_path
    return tmp_path


def shown(client: Client, address: str) -> str:
    """Return a page, checked for sound HTML."""
    answer = client.get(address)
    assert answer.status_code == 200
    html = answer.text
    check_html(html)
    return html


def test_the_page_shows_snapshot_sources_and_why_others_are_out(project: Project, files: Path) -> None:
    write_skill(files / "skills", "compare", front(summary="Mine", body=HOSTILE))
    write_skill(files / "skills", "broken", "---\nsummary: [\n---\n")
    write_skill(files / "skills", "odd", front(author="me"))
    session = create_session(project)
    html = shown(member_client(project), f"/sessions/{session.session_id}/skills")
    assert "Nothing: the files say what this snapshot says." in visible_text(html)
    assert "Winner=user:compare/SKILL.md; Losers=bundled:compare/SKILL.md" in visible_text(html)
    assert "malformed_frontmatter" in visible_text(html)
    assert "Ignored keys: author" in visible_text(html)
    assert "tool builtin:calculate, without a model" in visible_text(html)
    assert "<script>" in visible_text(html)


def test_the_page_shows_what_a_reload_would_change_and_reloads(project: Project, files: Path) -> None:
    session = create_session(project)
    other = create_session(project)
    write_skill(files / "skills", "new", front(summary="Fresh"))
    write_skill(files / "skills", "compare", front(body="Compare my way."))
    client = member_client(project)
    address = f"/sessions/{session.session_id}/skills"
    html = shown(client, address)
    assert "Fresh" in visible_text(html)
    assert "Compare my way." in visible_text(html)
    assert client.post(f"{address}/reload").status_code == 302
    html = shown(client, address)
    assert "snapshot 2" in visible_text(html)
    assert "Nothing: the files say" in visible_text(html)
    assert Session.objects.get(pk=other.pk).snapshot_version == 1
    assert not parsed(shown(client, f"{address}?part=skills")).css("#main")


def test_unreadable_files_are_said_on_the_page(project: Project, tmp_path: Path, settings: Settings) -> None:
    session = create_session(project)
    settings.MRPVM_SHIPPED_DIR = tmp_path / "nowhere"
    client = member_client(project)
    assert "The files cannot be read now." in visible_text(shown(client, f"/sessions/{session.session_id}/skills"))
    assert client.post(f"/sessions/{session.session_id}/skills/reload").status_code == 302
    assert "SKILLS_ROOT_UNREADABLE" in visible_text(shown(client, f"/sessions/{session.session_id}/skills"))


def test_a_viewer_sees_and_a_stranger_does_not(project: Project) -> None:
    session = create_session(project)
    viewer = member_client(project, "viewer")
    address = f"/sessions/{session.session_id}/skills"
    assert "Reload skills" not in visible_text(shown(viewer, address))
    assert viewer.post(f"{address}/reload").status_code == 403
    elsewhere = Project.objects.create(name="Other", slug="other")
    assert member_client(elsewhere).get(address).status_code == 404


def test_the_session_page_shows_and_completes_the_snapshot(project: Project, files: Path) -> None:
    session = create_session(project)
    write_skill(files / "skills", "later", front(command="later"))
    html = shown(member_client(project), f"/sessions/{session.session_id}?panel=settings")
    assert "4 in snapshot 1" in visible_text(html)
    assert "/later" not in html
    completion = member_client(project).get(f"/sessions/{session.session_id}/completion").text
    assert parsed(completion).css('[data-insert="/calc "]')
    assert parsed(completion).css('[data-insert="/style "]')
    assert "/later" not in completion
    assert parsed(completion).css('[data-insert="/summarise "]')


def test_a_command_is_shown_as_one_and_has_a_page(live_project: Project) -> None:
    session = create_session(live_project)
    client = member_client(live_project)
    for text in ("/calc 6*7", f"/{HOSTILE}", "/skills"):
        client.post(f"/sessions/{session.session_id}/ask", {"content": text})
    html = shown(client, f"/sessions/{session.session_id}")
    assert len(parsed(html).css(".bubble--command")) == 3
    assert "42" in texts_of(parsed(html), "pre")
    assert "unknown_command" in visible_text(html)
    for turn in session.turns.all():
        assert "command /" in visible_text(shown(client, f"/sessions/{session.session_id}/turns/{turn.request_id}"))


def test_the_skills_page_costs_the_same_for_many_skills(project: Project, files: Path) -> None:
    session = create_session(project)
    client = member_client(project)
    address = f"/sessions/{session.session_id}/skills"
    client.get(address)
    with counted_queries() as few:
        client.get(address)
    for number in range(30):
        write_skill(files / "skills", f"skill-{number}", front(summary="One of many"))
    client.post(f"{address}/reload")
    client.get(address)
    with counted_queries() as many:
        assert "skill-29" in visible_text(client.get(address).text)
    assert len(many) == len(few)


def test_a_command_leaves_the_page_of_turns_and_exports_whole(live_project: Project) -> None:
    session = create_session(live_project)
    answer_message(session, TurnCall(message="/style focus"))
    client = member_client(live_project)
    assert "Command" in visible_text(shown(client, f"/sessions/{session.session_id}"))
    exported = client.get(f"/api/sessions/{session.session_id}/export?format=json").json()
    assert exported["turns"][0]["command_result"]["code"] == "style_set"
    assert exported["session"]["skill_snapshot"]["version"] == 1


def test_the_choice_of_a_turn_tells_its_command_and_its_skill(live_project: Project) -> None:
    """The page shows the command, the skill that ran, and the reason."""
    session = create_session(live_project)
    turn = answer_message(session, TurnCall(message="/calc 6*7")).turn
    html = shown(member_client(live_project), f"/sessions/{session.session_id}/turns/{turn.request_id}/choice")
    assert "'calc' is the alias of the skill 'arithmetic' from bundled." in visible_text(html)
    assert "Resolved with snapshot 1" in visible_text(html)
    assert "builtin:calculate" in visible_text(html)
    unknown = answer_message(session, TurnCall(message="/nothing")).turn
    html = shown(member_client(live_project), f"/sessions/{session.session_id}/turns/{unknown.request_id}/choice")
    assert "is neither a built-in command nor an alias" in visible_text(html)
    assert "none" in texts_of(parsed(html), "dd")


def test_what_a_model_was_offered_and_why_it_took_none_is_shown(live_project: Project) -> None:
    session = create_session(live_project)
    turn = answer_message(session, TurnCall(message="My dog is called Rex.")).turn
    address = f"/sessions/{session.session_id}/turns/{turn.request_id}/choice"
    assert not parsed(shown(member_client(live_project), address)).css("#choice-skill")
    batch = turn.event_batches.get(first_sequence=0)
    batch.events.append(["skill.considered", 0, {
        "frameId": "frame-0", "offered": ["compare", HOSTILE], "leftOutCount": 2, "skill": None, "reason": HOSTILE,
        "problem": "The model named 'x', which was not offered.",
    }])  # fmt: skip
    batch.save()
    html = shown(member_client(live_project), address)
    assert "and 2 more that were left out" in visible_text(html)
    assert "which was not offered." in visible_text(html)
    assert HOSTILE not in html


def test_the_page_of_a_command_claims_no_plugin(live_project: Project) -> None:
    """Nothing was planned, so no plugin is shown as skipped."""
    session = create_session(live_project)
    turn = answer_message(session, TurnCall(message="/calc 6*7")).turn
    client, address = member_client(live_project), f"/sessions/{session.session_id}/turns/{turn.request_id}"
    choice = shown(client, f"{address}/choice")
    assert "skipped" not in visible_text(choice)
    assert not parsed(choice).css("#what-if-title")
    page = shown(client, address)
    assert "none delivered" not in visible_text(page)
    assert "tool_ok" in visible_text(page)
    assert "42" in texts_of(parsed(page), "pre")


def test_a_changed_skill_is_shown_field_by_field(project: Project, files: Path) -> None:
    write_skill(files / "skills", "own", front(summary="Old words", requires_tools="[add]", body="Same."))
    session = create_session(project)
    write_skill(files / "skills", "own", front(summary="New words", command="own", body="Same."))
    html = shown(member_client(project), f"/sessions/{session.session_id}/skills")
    told = [(name, side) for name in ("summary", "command", "requires_tools") for side in ("before", "after")]
    for name, side in told:
        assert parsed(html).css(f'[aria-label="{name} {side}"]')
    values = [texts_of(parsed(html), f'[aria-label="{name} {side}"]') for name, side in told]
    assert values == [["Old words"], ["New words"], ["(none)"], ["own"], ["add"], ["(none)"]]
    assert not parsed(html).css('[aria-label="instructions before"]')


def test_a_session_shows_its_models_and_can_take_the_projects(project: Project) -> None:
    session = create_session(project)
    set_model_roles(project, {"roles": {"goal-fast": {"model": "m-newest"}}, "temperature": 0.7, "verbosity": "low"})
    client = member_client(project)
    address = f"/sessions/{session.session_id}"
    before = shown(client, f"{address}?panel=settings")
    assert "m-newest" not in visible_text(before)
    assert "Temperature0.1" in visible_text(before)
    assert member_client(project, "viewer").post(f"{address}/models").status_code == 403
    assert client.post(f"{address}/models").status_code == 302
    after = shown(client, f"{address}?panel=settings")
    assert "goal-fastm-newest" in visible_text(after)
    assert "Temperature0.7" in visible_text(after)
    assert session.events.filter(kind="model-config.changed").count() == 1
    assert "Take the project" not in visible_text(shown(member_client(project, "viewer"), f"{address}?panel=settings"))


def parts_of_pages() -> dict[str, list[str]]:
    """Return the messages that refresh each part of a page, read from the script of live pages."""
    script = f"import({json.dumps(PARTS.as_uri())}).then(({{ PARTS }}) => console.log(JSON.stringify(PARTS)))"
    run = subprocess.run([NODE, "-e", script], capture_output=True, text=True, timeout=60, check=True)
    parts: dict[str, list[str]] = json.loads(run.stdout)
    return parts


@pytest.mark.rule("DECISION-50")
def test_every_event_of_a_session_refreshes_a_part_of_its_page(project: Project) -> None:
    """Exceptions are the events after which another page is loaded."""
    address, client = f"/sessions/{create_session(project).session_id}", member_client(project)
    html = "".join(shown(client, f"{address}?panel={panel}") for panel in ("knowledge", "turns", "settings"))
    triggers = attributes_of(parsed(html), '[hx-trigger^="live:"]', "hx-trigger")
    shown_parts = {trigger.removeprefix("live:").split()[0] for trigger in triggers}
    heard = {kind for part, kinds in parts_of_pages().items() if part in shown_parts for kind in kinds}
    assert set(EVENT_KINDS) - heard == {"session.created", "session.deleted", "session.restored"}


def test_an_answer_names_the_skill_that_guided_it(live_project: Project) -> None:
    session = create_session(live_project)
    answer_message(session, TurnCall(message="My dog is called Rex."))
    client = member_client(live_project)
    assert "Guided by" not in visible_text(shown(client, f"/sessions/{session.session_id}"))
    session.turns.update(command_result={"status": "ok", "code": "llm_ok", "message": "x", "data": {"skill": HOSTILE}})
    html = shown(client, f"/sessions/{session.session_id}")
    assert "Guided by the skill <" in visible_text(html)

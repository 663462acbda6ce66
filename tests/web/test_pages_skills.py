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
    error_code,
    facts_of,
    member_client,
    parsed,
    text_at,
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
    assert text_at(html, "[aria-labelledby=reload-title] p") == "Nothing: the files say what this snapshot says."
    findings = texts_of(html, "section[aria-label] li > span")
    for said in (
        "compare Resolved by precedence. Winner=user:compare/SKILL.md; Losers=bundled:compare/SKILL.md",
        "malformed_frontmatter user: broken/SKILL.md",
        "odd Ignored keys: author",
    ):
        assert said in findings
    assert "tool builtin:calculate, without a model" in texts_of(html, '[data-label="Runs"]')
    assert HOSTILE in texts_of(html, "[aria-labelledby=snapshot-title] pre")


def test_the_page_shows_what_a_reload_would_change_and_reloads(project: Project, files: Path) -> None:
    session = create_session(project)
    other = create_session(project)
    write_skill(files / "skills", "new", front(summary="Fresh"))
    write_skill(files / "skills", "compare", front(body="Compare my way."))
    client = member_client(project)
    address = f"/sessions/{session.session_id}/skills"
    html = shown(client, address)
    assert "added new Fresh" in texts_of(html, "[aria-labelledby=reload-title] li > span")
    assert text_at(html, '[aria-label="instructions after"]') == "Compare my way."
    assert client.post(f"{address}/reload").status_code == 302
    html = shown(client, address)
    assert text_at(html, ".page-head > .small").startswith("snapshot 2,")
    assert text_at(html, "[aria-labelledby=reload-title] p") == "Nothing: the files say what this snapshot says."
    assert Session.objects.get(pk=other.pk).snapshot_version == 1
    assert not parsed(shown(client, f"{address}?part=skills")).css("#main")


def test_unreadable_files_are_said_on_the_page(project: Project, tmp_path: Path, settings: Settings) -> None:
    session = create_session(project)
    settings.MRPVM_SHIPPED_DIR = tmp_path / "nowhere"
    client = member_client(project)
    page = shown(client, f"/sessions/{session.session_id}/skills")
    assert text_at(page, "[aria-labelledby=reload-title] strong") == "The files cannot be read now."
    assert client.post(f"/sessions/{session.session_id}/skills/reload").status_code == 302
    assert error_code(shown(client, f"/sessions/{session.session_id}/skills")) == "SKILLS_ROOT_UNREADABLE"


def test_a_viewer_sees_and_a_stranger_does_not(project: Project) -> None:
    session = create_session(project)
    viewer = member_client(project, "viewer")
    address = f"/sessions/{session.session_id}/skills"
    assert "Reload skills" not in texts_of(shown(viewer, address), "button")
    assert viewer.post(f"{address}/reload").status_code == 403
    elsewhere = Project.objects.create(name="Other", slug="other")
    assert member_client(elsewhere).get(address).status_code == 404


def test_the_session_page_shows_and_completes_the_snapshot(project: Project, files: Path) -> None:
    session = create_session(project)
    write_skill(files / "skills", "later", front(command="later"))
    html = shown(member_client(project), f"/sessions/{session.session_id}?panel=settings")
    assert "4 in snapshot 1" in texts_of(html, "dl.facts a")
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
    assert "42" in texts_of(html, ".bubble--command pre")
    assert "unknown_command" in texts_of(html, ".bubble--command .badge")
    for turn in session.turns.all():
        page = shown(client, f"/sessions/{session.session_id}/turns/{turn.request_id}")
        assert texts_of(page, "[role=tree] .is-frame .truncate")[0].startswith("command /")


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
        assert "skill-29" in texts_of(client.get(address).text, ".table__title")
    assert len(many) == len(few)


def test_a_command_leaves_the_page_of_turns_and_exports_whole(live_project: Project) -> None:
    session = create_session(live_project)
    answer_message(session, TurnCall(message="/style focus"))
    client = member_client(live_project)
    assert texts_of(shown(client, f"/sessions/{session.session_id}"), ".bubble--command a")[0].startswith("Command")
    exported = client.get(f"/api/sessions/{session.session_id}/export?format=json").json()
    assert exported["turns"][0]["command_result"]["code"] == "style_set"
    assert exported["session"]["skill_snapshot"]["version"] == 1


def test_the_choice_of_a_turn_tells_its_command_and_its_skill(live_project: Project) -> None:
    """The page shows the command, the skill that ran, and the reason."""
    session = create_session(live_project)
    turn = answer_message(session, TurnCall(message="/calc 6*7")).turn
    html = shown(member_client(live_project), f"/sessions/{session.session_id}/turns/{turn.request_id}/choice")
    facts = facts_of(html, ".facts")
    assert facts["Why"] == "'calc' is the alias of the skill 'arithmetic' from bundled."
    assert "Resolved with snapshot 1" in facts["Command"]
    assert facts["Skill"] == "arithmetic from bundled, tool_dispatch, builtin:calculate"
    unknown = answer_message(session, TurnCall(message="/nothing")).turn
    html = shown(member_client(live_project), f"/sessions/{session.session_id}/turns/{unknown.request_id}/choice")
    facts = facts_of(html, ".facts")
    assert "is neither a built-in command nor an alias" in facts["Command"]
    assert facts["Skill"] == "none"


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
    facts = facts_of(html, "[aria-labelledby=choice-skill] dl")
    assert facts["Offered"].endswith("and 2 more that were left out")
    assert facts["Why"].startswith("The model named 'x', which was not offered.")
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
    assert text_at(page, '[title="Result code"]') == "tool_ok"
    assert text_at(page, '[aria-label="Result of the command"]') == "42"


def test_a_changed_skill_is_shown_field_by_field(project: Project, files: Path) -> None:
    write_skill(files / "skills", "own", front(summary="Old words", requires_tools="[add]", body="Same."))
    session = create_session(project)
    write_skill(files / "skills", "own", front(summary="New words", command="own", body="Same."))
    html = shown(member_client(project), f"/sessions/{session.session_id}/skills")
    told = [(name, side) for name in ("summary", "command", "requires_tools") for side in ("before", "after")]
    for name, side in told:
        assert parsed(html).css(f'[aria-label="{name} {side}"]')
    values = [texts_of(html, f'[aria-label="{name} {side}"]') for name, side in told]
    assert values == [["Old words"], ["New words"], ["(none)"], ["own"], ["add"], ["(none)"]]
    assert not parsed(html).css('[aria-label="instructions before"]')


def test_a_session_shows_its_models_and_can_take_the_projects(project: Project) -> None:
    session = create_session(project)
    set_model_roles(project, {"roles": {"goal-fast": {"model": "m-newest"}}, "temperature": 0.7, "verbosity": "low"})
    client = member_client(project)
    address = f"/sessions/{session.session_id}"
    before = shown(client, f"{address}?panel=settings")
    models = facts_of(before, "#panel-models dl")
    assert "goal-fast" not in models
    assert models["Temperature"] == "0.1"
    assert member_client(project, "viewer").post(f"{address}/models").status_code == 403
    assert client.post(f"{address}/models").status_code == 302
    after = shown(client, f"{address}?panel=settings")
    models = facts_of(after, "#panel-models dl")
    assert models["goal-fast"] == "m-newest"
    assert models["Temperature"] == "0.7"
    assert session.events.filter(kind="model-config.changed").count() == 1
    viewed = shown(member_client(project, "viewer"), f"{address}?panel=settings")
    assert not [text for text in texts_of(viewed, "button") if text.startswith("Take the project")]


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
    triggers = attributes_of(html, '[hx-trigger^="live:"]', "hx-trigger")
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
    assert f"Guided by the skill {HOSTILE}" in texts_of(html, ".bubble--assistant .bubble__foot > span")

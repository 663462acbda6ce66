"""Every change of a session's state appears on its open page without a reload."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session as LoginSession
from playwright.sync_api import expect
from pytest_django import Settings

from sessions_app.actions.knowledge import mounts as kb_mounts
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import Choices, delete_session, rename_session
from sessions_app.actions.settings.model_roles import change_model_config
from sessions_app.actions.settings.projects import create_project
from sessions_app.ingest.load import Upload, load_context
from sessions_app.models import Membership, RememberedText, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.assistants.skill_files import front, write_skill
from tests.browser.browsing import Browser, answer, aside, live, new_session, say

type Change = Callable[[Session, Path], None]


def prefer(session: Session, folder: Path) -> None:
    """Run a turn that changes the session's preferred planner."""
    aside(run_turn, session, TurnCall(message="My dog is called Rex.", choices=Choices(planner="planner-depth")))


def mount(session: Session, folder: Path) -> None:
    """Mount another base."""
    aside(lambda: kb_mounts.mount_base(session, create_base(session.project, "Ferries"), reason="user"))


def load(session: Session, folder: Path) -> None:
    """Load material into the session."""
    aside(load_context, session, Upload(name="cats.md", data=b"The cat is called Tom."))


def forget(session: Session, folder: Path) -> None:
    """Remember two texts and forget one of them again."""
    answer(session, "/remember One.")
    answer(session, "/remember Two.")
    answer(session, f"/forget {aside(lambda: RememberedText.objects.earliest('id').record_id)}")


def reload(session: Session, folder: Path) -> None:
    """Write a skill and reload."""
    write_skill(folder / "skills", "fresh", front(command="fresh"))
    answer(session, "/reload_skills")


CHANGES: dict[str, tuple[Change, str, str]] = {
    "preferences.changed": (prefer, "#session-state", "planner-depth"),
    "context.loaded": (load, "#session-state", "The cat is called Tom."),
    "kb.mounted": (mount, "#session-state", "Ferries"),
    "memory.updated": (forget, "#session-state", "1 text:"),
    "agent.changed": (lambda session, _: answer(session, "/agent reader"), "#session-state", "Reads and explains"),
    "persona.changed": (lambda session, _: answer(session, "/persona use coach"), "#session-state", "Patient and step"),
    "snapshot.reloaded": (reload, "#session-state", "5 in snapshot 2"),
    "model-config.changed": (
        lambda session, _: aside(change_model_config, session, {"temperature": 0.75}), "#session-state", "0.75",
    ),
    "command.recorded": (lambda session, _: answer(session, "/calc 6*7"), "#messages", "42"),
    "session.renamed": (lambda session, _: aside(rename_session, session, "Of ships"), "#session-head", "Of ships"),
}  # fmt: skip


OF_SETTINGS = (
    "preferences.changed", "memory.updated", "agent.changed", "persona.changed", "snapshot.reloaded",
    "model-config.changed",
)  # fmt: skip


@pytest.mark.rule("DECISION-50")
@pytest.mark.parametrize("kind", CHANGES)
def test_an_open_page_shows_the_change(browser: Browser, tmp_path: Path, settings: Settings, kind: str) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    session = new_session(browser.project)
    panel = "settings" if kind in OF_SETTINGS else "knowledge"
    page = browser.open("session", session.session_id, query=f"?panel={panel}")
    live(page)
    change, place, words = CHANGES[kind]
    expect(page.locator(place)).not_to_contain_text(words)
    change(session, tmp_path)
    expect(page.locator(place)).to_contain_text(words)
    assert kind in aside(lambda: set(session.events.values_list("kind", flat=True)))


def test_the_next_message_s_choices_follow_the_mount(browser: Browser) -> None:
    session = new_session(browser.project, base=aside(create_base, browser.project, "Handbook"))
    winter, summer = (aside(create_base, browser.project, name) for name in ("Winter", "Summer"))
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("button", name="Options").click()
    chosen, level = page.locator("#control-kb_id"), page.locator("#control-deliberation_level")
    chosen.select_option(winter.kb_id)
    level.select_option("2")
    say(page, "My dog is called Rex.")
    expect(chosen.locator("option").first).to_have_text("as mounted: Winter")
    expect(chosen).to_have_value("")
    expect(chosen.locator("option", has_text="Handbook")).to_have_count(1)
    expect(level).to_have_value("2")
    expect(page.locator(".composer__bar .badge")).to_have_text("1 chosen")
    chosen.select_option(summer.kb_id)
    aside(kb_mounts.mount_base, session, session.mounted_kb, reason="user")
    expect(chosen.locator("option").first).to_have_text("as mounted: Handbook")
    expect(chosen).to_have_value(summer.kb_id)


@pytest.mark.parametrize(
    ("change", "heading"),
    [
        ("removed", "You are not in a project yet"),
        ("moved", "Not found"),
        ("deleted", "was deleted"),
        ("logged out", "Log in"),
    ],
)
def test_a_page_closes_when_it_may_no_longer_be_read(
    browser: Browser, session: Session, change: str, heading: str
) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    if change == "removed":
        aside(lambda: Membership.objects.filter(project=browser.project).delete())
    elif change == "moved":
        other = aside(create_project, "Other")
        aside(lambda: Membership.objects.filter(project=browser.project).update(project=other))
    elif change == "deleted":
        aside(delete_session, session)
    else:
        aside(lambda: LoginSession.objects.all().delete())
    expect(page.locator("h1")).to_contain_text(heading)
    browser.complaints.clear()  # the browser reports the answer 403 or 404


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["in no project", "in another project"])
def test_the_page_of_a_turn_closes_for_a_removed_reader(browser: Browser, session: Session, is_elsewhere: bool) -> None:
    page = browser.open("turn", session.session_id, session.turns.order_by("turn_index")[0].request_id)
    asked = page.locator(".turn-head__question")
    expect(asked).to_be_visible()
    of_reader = Membership.objects.filter(project=browser.project)
    if is_elsewhere:
        aside(of_reader.update, project=aside(create_project, "Other"))
    else:
        aside(of_reader.delete)
    expect(page.locator("h1")).to_contain_text("Not found" if is_elsewhere else "You are not in a project yet")
    expect(asked).to_have_count(0)
    browser.complaints.clear()  # the browser reports the answer 403 or 404


def test_a_refused_message_shows_what_the_role_allows_now(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    aside(lambda: Membership.objects.filter(project=browser.project).update(role="viewer"))
    say(page, "My cat is called Tom.")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    expect(page.locator(".composer__text")).to_have_value("My cat is called Tom.")
    expect(page.get_by_role("button", name="Retract")).to_have_count(0)
    browser.complaints.clear()  # the browser reports the answer 403


def test_a_refused_refresh_is_not_asked_for_again(browser: Browser, session: Session) -> None:
    """Without its socket a page does not learn that its reader was removed."""
    page = browser.page
    page.route_web_socket(re.compile("/live/"), lambda socket: None)
    browser.open("session", session.session_id)
    aside(lambda: Membership.objects.filter(project=browser.project).delete())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("document.dispatchEvent(new CustomEvent('live:composer'))")
    expect(page.locator("#toasts")).to_contain_text("The server answered 403.")
    page.wait_for_timeout(1_000)
    assert len(asked) == 1
    browser.complaints.clear()  # the browser reports the answer 403

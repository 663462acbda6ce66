"""Commands in the browser: completed from the session's snapshot, answered, shown live, inspected."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django import Settings

from sessions_app.models import Session
from tests.assistants.skill_files import front, write_skill
from tests.browser.barriers import problems
from tests.browser.browsing import Browser, answer, new_session


@pytest.fixture(autouse=True)
def files(tmp_path: Path, settings: Settings) -> Path:
    """Return the test's own data directory."""
    settings.MRPVM_DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def session(browser: Browser, files: Path) -> Session:
    """Return a session whose snapshot has a skill that cannot be parsed and one that replaces a shipped skill."""
    write_skill(files / "skills", "broken", "---\nsummary: [\n---\n")
    write_skill(files / "skills", "compare", front(summary="Mine"))
    return new_session(browser.project)


def test_a_command_is_completed_answered_and_seen_by_the_state(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id, query="?panel=settings")
    field, offered = page.get_by_label("Message", exact=True), page.get_by_role("listbox", name="Commands and skills")
    expect(offered).to_be_hidden()
    field.press_sequentially("/")
    expect(offered.get_by_role("option")).to_have_count(16)
    field.press_sequentially("st")
    expect(offered.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(field).to_have_value("/style ")
    expect(offered).to_be_hidden()
    field.press_sequentially("focus")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble--command")).to_contain_text("Session style set to 'focus'.")
    expect(page.locator("#turn-answer > *")).to_have_count(0)
    expect(page.locator("#session-state")).to_contain_text("focus by session")
    field.press_sequentially("/")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    expect(offered).to_be_hidden()
    field.fill("/calc 6*7")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble--command").last).to_contain_text("42")
    page.locator(".bubble--command").last.get_by_role("link", name="explain").click()
    expect(page.locator("svg.graph")).to_be_visible()
    expect(page.locator("svg.graph")).to_contain_text("command /calc")


def test_arguments_are_completed_from_what_the_session_holds(browser: Browser, session: Session, files: Path) -> None:
    write_skill(files / "skills", "later", front())
    page = browser.open("session", session.session_id, query="?panel=settings")
    field, options = page.get_by_label("Message", exact=True), page.get_by_role("option")
    for typed, names in (
        ("/help ", ["arithmetic", "checklist", "compare", "summarise"]),
        ("/skill s", ["summarise"]),
        ("/agent use ", ["default", "reader"]),
        ("/persona use co", ["coach", "companion"]),
        ("/style ", ["focus", "balanced", "playful"]),
    ):
        field.fill("")
        field.press_sequentially(typed)
        expect(options.locator("code")).to_have_text([f"{typed.rpartition(' ')[0]} {name}" for name in names])
    page.keyboard.press("Tab")
    expect(field).to_have_value("/style focus")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble--command")).to_contain_text("Session style set to 'focus'.")


def test_what_another_client_commands_shows_without_a_reload(browser: Browser, session: Session, files: Path) -> None:
    page = browser.open("session", session.session_id, query="?panel=settings")
    expect(page.locator("#live-state").first).to_have_attribute("data-state", "open")
    answer(session, "/persona use companion")
    expect(page.locator("#session-state")).to_contain_text("companion")
    write_skill(files / "skills", "fresh", front(command="fresh"))
    answer(session, "/reload_skills")
    expect(page.locator("#session-state")).to_contain_text("5 in snapshot 2")
    page.get_by_label("Message", exact=True).press_sequentially("/fre")
    expect(page.get_by_role("listbox").get_by_role("option")).to_contain_text("/fresh")


def test_the_skills_page_reloads_and_is_accessible(browser: Browser, session: Session, files: Path) -> None:
    page = browser.open("session-skills", session.session_id)
    expect(page.get_by_role("heading", name="Excluded")).to_be_visible()
    expect(page.get_by_role("heading", name="Shadowed")).to_be_visible()
    write_skill(files / "skills", "fresh", front(summary="Fresh"))
    write_skill(files / "skills", "compare", front(summary="Mine now", command="mine"))
    page.reload()
    expect(page.locator("#session-skills")).to_contain_text("added")
    page.get_by_text("Before and after").click()
    expect(page.get_by_label("summary after")).to_have_text("Mine now")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert problems(browser) == [], f"{scheme}, {width} pixels wide"
    page.get_by_role("button", name="Reload skills").click()
    expect(page.locator("#session-skills")).to_contain_text("snapshot 2")
    assert problems(browser) == []

"""Sources of a session's draft: staged from its page, found at once, and removed."""

import pytest
from playwright.sync_api import Locator, expect

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import KnowledgeBase, Session
from tests.actions.knowledge_scene import held
from tests.browser.browsing import Browser, aside, live, new_session, say

RULES = {"name": "rules.txt", "mimeType": "text/plain", "buffer": b"The valve is red."}


@pytest.fixture
def base(browser: Browser) -> KnowledgeBase:
    return aside(create_base, browser.project, "Handbook")


@pytest.fixture
def session(browser: Browser, base: KnowledgeBase) -> Session:
    return new_session(browser.project, base=base)


@pytest.fixture
def dialog(browser: Browser, session: Session) -> Locator:
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("button", name="Add a source").click()
    return page.get_by_role("dialog", name="Add a source to this session")


def test_a_staged_source_is_the_sessions_until_removed(dialog: Locator, base: KnowledgeBase) -> None:
    page = dialog.page
    state = page.locator("#session-state")
    page.get_by_label("Message", exact=True).evaluate("field => { field.value = 'Half a message' }")
    dialog.get_by_label("File to add").set_input_files(RULES)
    dialog.get_by_role("button", name="Add source").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("“rules.txt” was added: 1 new unit.")).to_be_visible()
    expect(state.get_by_label("Sources of the draft")).to_contain_text("1 unit, in this session alone")
    expect(page.get_by_label("Message", exact=True)).to_have_value("Half a message")
    assert not held(base, "valve")
    say(page, "What colour is the valve?")
    expect(page.locator(".exchange")).to_contain_text("The valve is red.")
    page.get_by_role("button", name="Take rules.txt out of the draft").click()
    expect(state).to_contain_text("clean")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


def test_a_refusal_says_why_and_closing_forgets_it(browser: Browser, dialog: Locator) -> None:
    file, button = dialog.get_by_label("File to add"), dialog.get_by_role("button", name="Add source")
    file.set_input_files(RULES)
    button.click()
    expect(dialog).to_be_hidden()
    dialog.page.get_by_role("button", name="Add a source").click()
    file.set_input_files(RULES)
    button.click()
    status = dialog.get_by_role("status")
    expect(status).to_contain_text("This text is here already, as the source “rules.txt”")
    expect(file).to_be_focused()
    browser.complaints.clear()  # the browser logs the 409 itself
    dialog.get_by_role("button", name="Close").click()
    dialog.page.get_by_role("button", name="Add a source").click()
    expect(status).to_be_empty()

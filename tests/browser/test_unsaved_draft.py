"""Mounting another base over an unsaved draft: the dialog is answered, then the message is sent."""

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.models import KnowledgeBase, Session
from tests.actions.knowledge_scene import add_text, held
from tests.actions.knowledge_scene import tell as learn
from tests.browser.barriers import problems
from tests.browser.browsing import ENDED, Browser, aside, live, new_session, say
from tests.layers.units import make_unit

TOLD = [f"My badge number is {number}." for number in range(7)]
QUESTION = "What depends on the valve?"


@pytest.fixture
def winter(browser: Browser) -> KnowledgeBase:
    return aside(create_base, browser.project, "Winter")


@pytest.fixture
def session(browser: Browser) -> Session:
    session = new_session(browser.project, base=aside(create_base, browser.project, "Handbook"))
    unit = make_unit("rules::a", "The pump hums.")
    aside(stage_source, session, NewSource(name="rules", source_id="rules", content="The pump hums.", units=[unit]))
    return session


@pytest.fixture
def asked(browser: Browser, session: Session, winter: KnowledgeBase) -> Locator:
    """Return the dialog that is shown for a message with another base."""
    page = browser.open("session", session.session_id)
    page.get_by_role("button", name="Options").click()
    page.locator("#control-kb_id").select_option(winter.kb_id)
    say(page, QUESTION)
    dialog = page.get_by_role("dialog", name="The draft is not saved")
    expect(dialog).to_be_visible()
    browser.complaints.clear()  # the browser logs the 409 itself
    return dialog


def mounted(session: Session) -> str:
    session.refresh_from_db()
    return session.mounted_kb.name


def answered(page: Page) -> None:
    expect(page.locator(ENDED)).to_have_count(1)
    expect(page.locator(".exchange")).to_contain_text(QUESTION)
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


@pytest.mark.rule("BASE-8")
@pytest.mark.parametrize(("button", "kept_in"), [("Save", "Handbook"), ("Fork", "Handbook fork"), ("Discard", "")])
def test_a_draft_is_settled_and_the_message_sent(asked: Locator, session: Session, button: str, kept_in: str) -> None:
    asked.get_by_role("button", name=button).click()
    expect(asked).to_be_hidden()
    answered(asked.page)
    assert mounted(session) == "Winter"
    holding = [base.name for base in KnowledgeBase.objects.all() if held(base, "pump")]
    assert holding == ([kept_in] if kept_in else [])


def test_a_dialog_that_cannot_be_asked_for_sends_nothing_later(
    browser: Browser, session: Session, winter: KnowledgeBase
) -> None:
    page = browser.open("session", session.session_id)
    page.route("**/kb/saving*", lambda route: route.abort(), times=1)
    page.get_by_role("button", name="Options").click()
    page.locator("#control-kb_id").select_option(winter.kb_id)
    say(page, QUESTION)
    expect(page.locator("#toasts")).to_contain_text("The server could not be reached.")
    expect(page.get_by_label("Message", exact=True)).to_have_value(QUESTION)
    page.get_by_role("link", name="Save, fork or discard").click()
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("Saved into “Handbook”")
    expect(page.get_by_label("Message", exact=True)).to_have_value(QUESTION)
    expect(page.locator(".exchange")).to_have_count(0)
    browser.complaints.clear()  # the browser itself logs the 409 and the lost request


def test_a_draft_that_is_kept_gives_the_message_back(asked: Locator, session: Session) -> None:
    text = asked.page.get_by_label("Message", exact=True)
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    asked.page.keyboard.press("Escape")
    expect(asked).to_be_hidden()
    expect(text).to_have_value(QUESTION)
    expect(text).to_be_focused()
    expect(asked.page.locator("#turn-answer > *")).to_have_count(0)
    assert mounted(session) == "Handbook"
    assert session.is_dirty


def test_a_refused_save_says_why_and_offers_other_ways(browser: Browser, asked: Locator, session: Session) -> None:
    browser.page.route("**/kb/saving?*", lambda route: route.fulfill(status=204))  # the dialog is not updated
    aside(add_text, session.mounted_kb, "more", "More", [make_unit("b", "The valve leaks.")])
    asked.get_by_role("button", name="Save").click()
    expect(asked.get_by_role("alert")).to_contain_text("has been changed since this session mounted it")
    browser.complaints.clear()  # the browser logs the 400 itself
    asked.get_by_role("button", name="Fork").click()
    answered(asked.page)
    assert mounted(session) == "Winter"


@pytest.mark.parametrize(("button", "kept_in"), [("Save", "Handbook"), ("Fork", "Handbook fork"), ("Discard", "")])
def test_a_draft_is_settled_without_a_message(browser: Browser, session: Session, button: str, kept_in: str) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("link", name="Save, fork or discard").click()
    dialog = page.get_by_role("dialog", name="The draft is not saved")
    expect(dialog.get_by_text("Your message mounts")).to_be_hidden()
    dialog.get_by_role("button", name=button, exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.locator("#session-state")).to_contain_text("clean")
    assert [base.name for base in KnowledgeBase.objects.all() if held(base, "pump")] == ([kept_in] if kept_in else [])
    assert mounted(session) == (kept_in or "Handbook")
    assert not session.turn_sequence


def test_what_was_told_is_forked_with_a_name_and_a_toast_says_so(browser: Browser, winter: KnowledgeBase) -> None:
    session = new_session(browser.project, base=winter)
    aside(learn, session, *TOLD)
    page = browser.open("session", session.session_id)
    live(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("fork")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Save or fork")
    expect(dialog.get_by_role("form", name="Fork").get_by_label(f"All {len(TOLD)}")).to_be_checked()
    name = dialog.get_by_label("Name of a fork")
    expect(name).to_have_value("Winter fork")
    name.fill("Mine")
    dialog.get_by_role("button", name="Fork").click()
    expect(dialog).to_be_hidden()
    toast = page.locator("#toasts")
    expect(toast).to_contain_text("Created “Mine”, with the facts told in the conversation.")
    expect(page.locator("#session-state")).not_to_contain_text("in this session alone")
    assert len(held(KnowledgeBase.objects.get(name="Mine"), "badge")) == len(TOLD)
    toast.get_by_role("link", name="Show it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine")


def test_the_dialog_opens_for_its_address_and_only_once(browser: Browser, winter: KnowledgeBase) -> None:
    session = new_session(browser.project, base=winter)
    aside(learn, session, *TOLD)
    page = browser.open("session", session.session_id, query="?saving=1#unsaved-draft")
    dialog = page.get_by_role("dialog", name="Save or fork")
    expect(dialog.get_by_role("form", name="Save")).to_be_visible()
    page.reload()
    expect(page.locator("#session-state")).to_contain_text("in this session alone")
    expect(dialog).to_be_hidden()


def test_what_was_told_is_saved_only_where_it_is_chosen(browser: Browser, winter: KnowledgeBase) -> None:
    session = new_session(browser.project, base=winter)
    aside(learn, session, *TOLD)
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("link", name="Save or fork").click()
    dialog = page.get_by_role("dialog", name="Save or fork")
    form = dialog.get_by_role("form", name="Save")
    save = form.get_by_role("button", name="Save")
    save.click()
    expect(form.get_by_label(f"All {len(TOLD)}")).to_be_focused()  # the browser shows its own message
    assert mounted(session) == "Winter"
    assert not held(winter, "badge")
    expect(form.get_by_label(TOLD[1])).to_be_hidden()
    form.get_by_label("Chosen ones").check()
    form.get_by_label(TOLD[1]).check()
    save.click()
    expect(page.locator("#toasts")).to_contain_text(
        "Saved into “Winter” as revision 2, with 1 of the facts told in the conversation"
    )
    assert held(winter, "badge") == [TOLD[1]]
    expect(page.locator("#session-state")).to_contain_text(f"{len(TOLD) - 1} statement")


def test_the_dialog_has_no_barriers(browser: Browser, session: Session) -> None:
    aside(learn, session, *TOLD)
    page = browser.open("session", session.session_id)
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 800})
        page.get_by_role("link", name="Save, fork or discard").click()
        dialog = page.get_by_role("dialog", name="The draft is not saved")
        expect(dialog.get_by_role("button", name="Fork")).to_be_visible()
        assert problems(browser) == [], f"{scheme}, {width} pixels wide"
        dialog.get_by_role("button", name="Cancel").click()


def test_a_dialog_that_is_open_hears_that_the_base_has_gone_on(browser: Browser, session: Session) -> None:
    aside(learn, session, *TOLD)
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("link", name="Save, fork or discard").click()
    dialog = page.get_by_role("dialog", name="The draft is not saved")
    dialog.get_by_role("form", name="Fork").get_by_label("None").check()
    dialog.get_by_label("Name of a fork").fill("Mine")
    aside(add_text, session.mounted_kb, "more", "More", [make_unit("b", "The valve leaks.")])
    expect(page.locator("#session-state")).to_contain_text("as of revision 1; its newest is 2")
    expect(dialog).to_contain_text("a save into it would be refused")
    expect(dialog.get_by_role("button", name="Save")).to_have_count(0)
    expect(dialog.get_by_role("form", name="Fork").get_by_label("None")).to_be_checked()
    expect(dialog.get_by_label("Name of a fork")).to_have_value("Mine")
    dialog.get_by_role("button", name="Discard and mount the newest").click()
    expect(page.locator("#session-state")).not_to_contain_text("its newest is")
    expect(page.get_by_role("link", name="Save or fork")).to_be_visible()


def test_the_newest_revision_is_mounted_from_the_page(browser: Browser, winter: KnowledgeBase) -> None:
    session = new_session(browser.project, base=winter)
    aside(add_text, winter, "more", "More", [make_unit("b", "The valve leaks.")])
    page = browser.open("session", session.session_id)
    live(page)
    state = page.locator("#session-state")
    expect(state).to_contain_text("as of revision 1; its newest is 2")
    page.get_by_role("button", name="Mount the newest").click()
    expect(state).not_to_contain_text("its newest is")
    expect(state).to_contain_text("1 in 1 source")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


@pytest.mark.parametrize(("button", "kept_in"), [("Save", "Handbook"), ("Fork", "Handbook fork"), ("Discard", "")])
def test_a_draft_is_settled_by_keys_where_no_script_runs(
    plain_browser: Browser, session: Session, button: str, kept_in: str
) -> None:
    page = plain_browser.page
    page.goto(plain_browser.url + reverse("session", args=[session.session_id]))
    way, dialog = page.get_by_role("link", name="Save, fork or discard"), page.locator("#unsaved-draft")
    expect(dialog).to_be_hidden()
    way.press("Enter")
    dialog.get_by_role("link", name="Cancel").press("Enter")
    expect(dialog).to_be_hidden()
    way.press("Enter")
    expect(dialog.get_by_text("Your message mounts")).to_be_hidden()
    dialog.get_by_role("button", name=button, exact=True).press("Enter")
    expect(page.locator("#session-state")).to_contain_text("clean")
    expect(page.locator(".notice--said")).not_to_be_empty()
    assert [base.name for base in KnowledgeBase.objects.all() if held(base, "pump")] == ([kept_in] if kept_in else [])
    assert mounted(session) == (kept_in or "Handbook")


def test_the_newest_revision_is_mounted_where_no_script_runs(plain_browser: Browser, winter: KnowledgeBase) -> None:
    session = new_session(plain_browser.project, base=winter)
    aside(add_text, winter, "more", "More", [make_unit("b", "The valve leaks.")])
    page = plain_browser.page
    page.goto(plain_browser.url + reverse("session", args=[session.session_id]))
    page.get_by_role("button", name="Mount the newest").click()
    expect(page.locator("#session-state")).not_to_contain_text("its newest is")
    expect(page.get_by_text("The session sees revision 2 of “Winter” now.")).to_be_visible()

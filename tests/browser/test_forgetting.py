"""Forgetting: the preview, the confirmation by name, the removal and its certificate."""

from playwright.sync_api import expect

from sessions_app.models import Session
from tests.browser.barriers import problems
from tests.browser.browsing import Browser, answer, ready


def test_a_text_is_found_forgotten_and_certified(browser: Browser, session: Session) -> None:
    answer(session, "The lodger in the attic is Barnaby Quillfeather.")
    page = browser.open("forget")
    page.get_by_role("textbox", name="Text").fill("Barnaby Quillfeather")
    page.get_by_label("Every sentence that holds all its words").check()
    assert problems(browser) == []
    page.get_by_role("button", name="Find occurrences").click()
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("What would be forgotten")
    places = page.get_by_role("table")
    expect(places).to_contain_text("essage")
    assert problems(browser) == []
    page.set_viewport_size({"width": 375, "height": 700})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert problems(browser) == []
    field = page.get_by_label("Name", exact=True)
    field.fill("Barnaby")
    page.get_by_role("button", name="Forget it for good").click()
    ready(page)
    expect(page.locator("#toasts")).to_contain_text("name")
    page.get_by_label("Name", exact=True).fill("Barnaby Quillfeather")
    page.get_by_role("button", name="Forget it for good").click()
    expect(page.get_by_role("columnheader", name="Found at the end")).to_be_visible(timeout=20_000)
    left = page.locator("td[data-label='Found at the end']").all_inner_texts()
    assert left
    assert set(left) == {"0"}
    expect(page.get_by_role("heading", level=1)).to_have_text("Certificate: forgotten")
    assert problems(browser) == []
    page = browser.open("session", session.session_id)
    expect(page.locator("main")).not_to_contain_text("Quillfeather")

"""Layout of the pages: nothing covers text, and no text is cut without a sign."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import expect

from sessions_app.models import Session
from tests.browser.browsing import Browser, answer, new_session
from tests.browser.turn_scene import open_turn

DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture
def session(browser: Browser) -> Session:
    session = new_session(browser.project)
    answer(session, "My dog is called Rex. My cat is called Tom.")
    for _ in range(4):
        answer(session, "1. What is my dog called?\n2. What is my cat called?")
    answer(session, "Who is the captain?")
    return session


def test_the_options_leave_the_latest_answer_in_sight(browser: Browser, session: Session) -> None:
    browser.page.set_viewport_size(DESKTOP)
    page = browser.open("session", session.session_id)
    options = page.get_by_role("button", name="Options")
    for is_open in ("true", "false"):
        options.click()
        expect(options).to_have_attribute("aria-expanded", is_open)
        page.wait_for_function(
            "document.querySelector('.exchange:last-of-type').getBoundingClientRect().bottom"
            " <= document.querySelector('.composer').getBoundingClientRect().top"
        )
    middles = page.locator(".exchange:last-of-type .bubble__foot").evaluate(
        "foot => [...foot.children].map(each => each.getBoundingClientRect()).map(box => box.top + box.height / 2)"
    )
    assert max(middles) - min(middles) < 1


def test_nothing_lies_below_the_conversation(browser: Browser, session: Session) -> None:
    """Conversation and state scroll inside the page, which ends with the window."""
    browser.page.set_viewport_size({"width": 1280, "height": 480})
    page = browser.open("session", session.session_id, query="?panel=turns")
    expect(page.get_by_role("link", name="Turn 6")).to_be_visible()
    assert page.locator(".chat__scroll").evaluate("place => place.scrollHeight > place.clientHeight")
    page.set_viewport_size({"width": 1280, "height": 900})
    turns = page.get_by_role("group", name="Turns", exact=True).bounding_box()
    assert turns is not None
    assert 500 < turns["height"] < 900 - turns["y"]
    page.set_viewport_size({"width": 1280, "height": 480})
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_without_scripts_options_fold_and_words_stay_true(plain_browser: Browser, session: Session) -> None:
    page = plain_browser.page
    page.goto(f"{plain_browser.url}/sessions/{session.session_id}")
    expect(page.get_by_role("link", name="Show them")).to_be_hidden()
    page.get_by_text("Options: plugins, level, knowledge").last.click()
    page.get_by_role("link", name="Show them").click()
    expect(page.get_by_label("Planner")).to_be_visible()
    expect(page.get_by_text("Connecting")).to_be_hidden()
    expect(page.get_by_text("makes a new line")).to_be_hidden()


def test_the_timeline_fits_beside_outline_and_details(browser: Browser, session: Session) -> None:
    browser.page.set_viewport_size(DESKTOP)
    page = open_turn(browser, session, 2, "?view=timeline")
    expect(page.locator("svg.timeline")).to_be_visible()
    assert page.locator("#timeline").evaluate("place => place.scrollWidth <= place.clientWidth")


def test_the_context_fits_a_tablet(browser: Browser, session: Session) -> None:
    browser.page.set_viewport_size({"width": 768, "height": 1024})
    page = open_turn(browser, session, 2, "?tab=context")
    expect(page.locator(".ledger table")).to_be_visible()
    assert page.locator(".turn__panel").evaluate("panel => panel.scrollWidth <= panel.clientWidth")


def test_large_text_does_not_widen_the_page(browser: Browser, session: Session) -> None:
    browser.page.set_viewport_size(DESKTOP)
    page = open_turn(browser, session, 2, "?tab=context")
    expect(page.locator(".ledger table")).to_be_visible()
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_large_text_gets_the_layout_of_a_narrow_screen(
    browser: Browser, session: Session, launch_browser: Callable[..., Chromium]
) -> None:
    chromium = launch_browser(args=["--no-sandbox", "--disable-dev-shm-usage", "--blink-settings=defaultFontSize=32"])
    context = chromium.new_context(viewport=DESKTOP, storage_state=browser.page.context.storage_state())
    page = Browser(context.new_page(), browser.url, browser.project).open("session", session.session_id)
    composer = page.locator(".composer").bounding_box()
    assert composer is not None
    assert composer["width"] > DESKTOP["width"] * 0.8
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chromium.close()


def test_an_answer_stands_below_its_question_in_the_list(browser: Browser, session: Session) -> None:
    for width in (390, 768):
        browser.page.set_viewport_size({"width": width, "height": 844})
        row = browser.open("turns").locator("tr[data-row]").first
        question, reply = row.locator(".table__title").bounding_box(), row.locator(".table__sub").bounding_box()
        assert question is not None
        assert reply is not None
        assert reply["y"] >= question["y"] + question["height"]


@pytest.mark.parametrize("width", [390, 1280])
def test_turns_are_chosen_by_their_boxes(browser: Browser, session: Session, width: int) -> None:
    browser.page.set_viewport_size({"width": width, "height": 844})
    page = browser.open("turns")
    for number in (0, 1):
        page.get_by_role("checkbox").nth(number).click()
    page.get_by_text("Bulk actions").click()
    page.get_by_role("button", name="Add to review").click()
    expect(page.locator("#toasts")).to_contain_text("2 turns added to the review queue")


def test_differing_frames_are_marked_and_chosen_rows_tinted(browser: Browser, session: Session) -> None:
    request_id = session.turns.get(turn_index=2).request_id
    page = browser.open("turn-compare", session.session_id, request_id)
    frame = page.locator(".frame.is-output .frame-outline").first
    assert frame.evaluate("box => [getComputedStyle(box).stroke, getComputedStyle(box).strokeWidth]")[1] == "2px"
    page.locator("[data-row-of] a[data-select]").nth(1).click()
    grounds = page.locator("tr.is-selected > *").evaluate_all(
        "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"
    )
    assert len(set(grounds)) == 1
    assert grounds[0] != "rgba(0, 0, 0, 0)"

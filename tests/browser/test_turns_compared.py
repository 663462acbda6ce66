"""Two turns side by side: a selection in one graph selects the same in the other, and its row."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.models import Session
from tests.browser.browsing import Browser, answer, ready
from tests.browser.turn_scene import open_turn, turn_of

LEFT, RIGHT = (f".stage:has([data-uid={side}])" for side in ("left", "right"))


@pytest.mark.rule("PAGE-7")
def test_one_choice_is_shown_in_both_graphs_and_in_its_row(browser: Browser, session: Session) -> None:
    answer(session, "1. What is my dog called?\n2. What is my hen called?")
    page = open_turn(browser, session, 3)
    page.keyboard.press("d")
    expect(page.get_by_role("heading", level=1)).to_have_text("Turns 2 and 3")
    box = '[data-id="exec-0.1~1"]'
    page.locator(f"{LEFT} {box}").click()
    for side in (LEFT, RIGHT):
        expect(page.locator(f"{side} {box}")).to_have_class(re.compile("is-selected"))
    row = page.locator("tr.is-selected")
    expect(row).to_contain_text("Symbolic Seed Detector")
    expect(row).to_contain_text("input: message")
    # The address holds the selection, and the keyboard changes it.
    page.reload()
    expect(page.locator(f"{RIGHT} {box}")).to_have_class(re.compile("is-selected"))
    expect(page.locator("tr.is-selected")).to_contain_text("Symbolic Seed Detector")
    page.locator(f"{RIGHT} {box}").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("tr.is-selected")).not_to_contain_text("Symbolic Seed Detector")
    chosen = page.locator(f"{RIGHT} .is-selected[data-id]").get_attribute("data-id")
    expect(page.locator(f'{LEFT} [data-id="{chosen}"]')).to_have_class(re.compile("is-selected"))
    # A row selects too, and links to the payload in its turn.
    page.get_by_role("row", name="Symbolic Seed Detector").first.get_by_role("link").first.click()
    expect(page.locator(f"{LEFT} .is-selected[data-id]").first).to_be_attached()
    page.locator("tr.is-selected td a").last.click()
    expect(page.locator(".crumbs")).to_contain_text("Turn 3")
    expect(page.locator(".detail__title")).to_contain_text("Symbolic Seed Detector")


def test_a_frame_is_shut_in_both_graphs(browser: Browser, session: Session) -> None:
    answer(session, "1. What is my dog called?\n2. What is my cat called?")
    page = browser.open("turn-compare", session.session_id, turn_of(session, 3).request_id)
    page.locator(f"{LEFT} [data-toggle]").first.click()
    for side in (LEFT, RIGHT):
        expect(page.locator(f"{side} .frame-hidden")).to_have_count(1)


def test_another_turn_is_put_beside_it(browser: Browser, session: Session) -> None:
    answer(session, "What is my dog called?")
    page = browser.open("turn-compare", session.session_id, turn_of(session, 3).request_id)
    page.get_by_label("Turn 3 beside turn").fill("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Turns 1 and 3")
    ready(page).keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Choose the box, and the one beside it")

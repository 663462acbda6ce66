"""A turn is kept as a test, its suite is run, and two runs are compared."""

import re

from playwright.sync_api import expect

from sessions_app.models import Session
from tests.browser.barriers import problems
from tests.browser.browsing import Browser


def test_a_turn_is_kept_run_and_shown_in_the_matrix(browser: Browser, session: Session) -> None:
    turn = session.turns.order_by("-turn_index")[0]
    page = browser.open("turn", session.session_id, turn.request_id)
    page.get_by_label("Export and more").click()
    page.get_by_role("link", name="Keep as test").click()
    expect(page.get_by_role("textbox", name="Message")).to_have_value(turn.user_message)
    expect(page.get_by_role("textbox", name="Says (one per line)")).to_have_value(re.compile("Rex"))
    assert problems(browser) == []
    page.get_by_label("Name of a new suite").fill("Pets")
    page.get_by_label("Name of the test").fill("pets by name")
    page.get_by_role("button", name="Keep as test").click()
    for number in (1, 2):
        expect(page.get_by_role("heading", level=1)).to_have_text("Pets")
        page.get_by_role("button", name="Run 1 test").click()
        expect(page.locator("#run-news")).to_contain_text("1 passed")
        expect(page.get_by_role("row", name=re.compile("pets by name"))).to_contain_text("Rex")
        if number == 1:
            assert problems(browser) == []
            page.get_by_role("link", name="Pets", exact=True).click()
    expect(page.locator("#run-news")).to_contain_text("0 fixed, 0 broken, 1 as before")
    page.get_by_role("link", name="Pets", exact=True).click()
    matrix = page.get_by_role("region", name="Newest runs")
    expect(matrix.get_by_role("link", name="passed")).to_have_count(2)
    assert problems(browser) == []
    page.set_viewport_size({"width": 375, "height": 700})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert problems(browser) == []
    matrix.get_by_role("link", name="passed").first.click()
    page.get_by_role("link", name="Open the trial of pets by name").click()
    expect(page.locator("svg.graph")).to_be_visible()

"""Search and navigation: the filter language with completion, the command palette, keys from turn to turn."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Route, expect

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.sessions.session import rename_session
from sessions_app.actions.turns.reviews import queue_turns
from sessions_app.models import Session, TurnScore
from tests.browser.browsing import Browser, answer, aside, live, new_session, ready


@pytest.fixture
def session(browser: Browser) -> Session:
    session = new_session(browser.project)
    for message in (
        "My dog is called Rex.",
        "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?",
        "My cat is called Tom.",
    ):
        answer(session, message)
    aside(rename_session, session, "Pets")
    return session


def test_a_search_is_completed_explained_and_kept_in_the_address(browser: Browser, session: Session) -> None:
    page = browser.open("search")
    search = page.get_by_role("combobox", name=re.compile("Search sessions"))
    search.press_sequentially("rex sta")
    options = page.get_by_role("option")
    expect(options).to_have_count(1)
    expect(search).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(search).to_have_value("rex status:")
    expect(options).to_have_count(10)
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    search.press_sequentially("suc")
    expect(options).to_have_count(1)
    page.get_by_role("option", name="status:succeeded").click()
    expect(search).to_have_value("rex status:succeeded ")
    expect(page.locator("#results mark").first).to_have_text("Rex")
    expect(page).to_have_url(re.compile(r"q=rex(\+|%20)status"))
    search.fill("rex stats:succeeded")
    expect(page.get_by_text("Not understood:")).to_be_visible()
    page.get_by_role("link", name="Did you mean").click()
    expect(search).to_have_value("rex status:succeeded")
    expect(page.get_by_text("Not understood:")).to_have_count(0)
    page.locator("#results").get_by_role("link", name="Turn 1").first.click()
    expect(page.locator(".crumbs")).to_contain_text("Turn 1")


def test_arrow_up_with_nothing_chosen_goes_to_the_last_option(browser: Browser, session: Session) -> None:
    page = browser.open("search")
    page.get_by_role("combobox", name=re.compile("Search sessions")).press_sequentially("status:")
    expect(page.get_by_role("option")).to_have_count(10)
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")


def test_a_finger_that_scrolls_the_options_takes_none(browser: Browser, session: Session) -> None:
    page = browser.open("search")
    search = page.get_by_role("combobox", name=re.compile("Search sessions"))
    search.press_sequentially("sta")
    option = page.get_by_role("option", name="status:")
    option.dispatch_event("pointerdown", {"pointerType": "touch"})
    option.dispatch_event("pointercancel", {"pointerType": "touch"})
    expect(search).to_have_value("sta")
    option.click()
    expect(search).to_have_value("status:")
    expect(search).to_be_focused()


def test_escape_closes_the_options_and_keeps_the_text(browser: Browser, session: Session) -> None:
    """Also where a later answer is on its way."""
    page = browser.open("search")
    search = page.get_by_role("combobox", name=re.compile("Search sessions"))
    search.press_sequentially("le")
    expect(page.get_by_role("option")).to_have_count(1)
    waiting: list[Route] = []
    page.route("**/search/complete*", lambda route: waiting.append(route))
    with page.expect_request("**/search/complete*"):
        search.press_sequentially("v")
    page.keyboard.press("Escape")
    with page.expect_response("**/search/complete*"):
        waiting[0].continue_()
    page.wait_for_timeout(200)
    assert page.get_by_role("option").count() == 0
    expect(search).to_have_value("lev")


def test_a_new_turn_keeps_the_filter_of_the_turns(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id, query="?panel=turns")
    live(page)
    registry = page.locator("#session-state [id^=registry-]")
    expect(registry).to_have_count(3)
    page.get_by_role("combobox", name="Filter turns").fill("status:succeeded")
    expect(registry).to_have_count(2)
    answer(session, "My car is red.")
    expect(registry).to_have_count(3)
    expect(page.get_by_role("combobox", name="Filter turns")).to_have_value("status:succeeded")
    page.get_by_role("combobox", name="Filter turns").fill("dog")
    expect(registry).to_have_count(1)
    registry.locator(".unit__jump").click()
    expect(page).to_have_url(re.compile("#turn-1$"))
    expect(page.locator("#turn-1")).to_be_in_viewport()


def test_an_answer_outside_the_window_is_found_by_its_address(browser: Browser, session: Session) -> None:
    for number in range(31):
        answer(session, f"Box {number} is red.")
    page = browser.page
    page.goto(browser.url + reverse("session", args=[session.session_id]) + "#turn-2")
    expect(page.locator("#turn-2")).to_be_in_viewport()
    expect(page.get_by_text("You are looking at an earlier part.")).to_be_visible()


def test_j_and_k_go_from_turn_to_turn_and_o_opens_one(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.get_by_role("heading", level=1).click()
    for key, turn in (("k", 3), ("k", 2), ("k", 1), ("k", 1), ("j", 2)):
        page.keyboard.press(key)
        expect(page.locator(f"#turn-{turn}")).to_be_focused()
    page.keyboard.press("o")
    expect(page.locator(".crumbs")).to_contain_text("Turn 2")
    page.get_by_label("Where you are").get_by_role("link", name="Pets").click()
    expect(page.locator("#turn-2")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("#turn-2$"))


def test_the_palette_does_goes_and_finds(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    palette = page.get_by_role("dialog", name="Commands")
    page.keyboard.press("Control+k")
    expect(palette.get_by_role("option").first).to_be_visible()
    page.keyboard.type("rename")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(palette).to_have_count(0)
    expect(page.get_by_role("dialog", name="Rename “Pets”").get_by_label("Name")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("api keys")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("API keys")
    ready(page).keyboard.press("Control+k")
    page.keyboard.type("Pets")
    page.keyboard.press("Enter")  # before the server has answered
    expect(page.get_by_role("heading", level=1)).to_have_text("Pets")
    ready(page).keyboard.press("Control+k")
    page.keyboard.type("there is no such thing")
    expect(palette.get_by_text("No matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)


def test_only_the_keys_that_work_here_are_listed(browser: Browser, session: Session) -> None:
    def keys(name: str, *arguments: str, query: str = "") -> str:
        page = browser.open(name, *arguments, query=query)
        page.get_by_role("heading", level=1).click()
        page.keyboard.press("?")
        shown = page.get_by_role("dialog", name="Keys")
        expect(shown).to_be_visible()
        return shown.inner_text()

    full = keys("session", session.session_id, query="?panel=turns")
    for words in ("Send the message", "next or previous turn", "Commands", "Go to the search field"):
        assert words in full
    empty = keys("session", new_session(browser.project).session_id)
    assert "Send the message" in empty
    assert "next or previous turn" not in empty
    assert "Go to the search field" not in empty
    plugins = keys("plugins")
    assert "Send the message" not in plugins
    assert "Go to the search field" not in plugins
    assert "Commands" in plugins


def test_a_palette_that_cannot_ask_says_so(browser: Browser, session: Session) -> None:
    page = browser.open("sessions")
    page.keyboard.press("Control+k")
    field = page.get_by_label("Command, page, session or turn")
    field.fill("Pets")
    expect(page.locator("#palette-found [role=option]").first).to_contain_text("Pets")
    page.route("**/search/palette*", lambda route: route.abort())
    field.fill("Petsx")
    expect(page.get_by_text("The server could not be searched.")).to_be_visible()
    expect(page.locator("#palette-found [role=option]")).to_have_count(0)
    page.unroute("**/search/palette*")
    field.fill("Petsxy")
    expect(page.get_by_text("No matches.")).to_be_visible()
    browser.complaints.clear()  # the browser itself logs the lost request


def test_keys_of_the_page_rest_while_a_dialog_is_open(browser: Browser, session: Session) -> None:
    aside(queue_turns, browser.project, list(session.turns.order_by("turn_index")[:1]), Author(name="anna"))
    page = browser.open("review")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Rate the answer good or bad")
    page.keyboard.press("d")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Bad")).to_be_visible()
    page.keyboard.press("d")
    expect(page.get_by_role("heading", name="All reviewed")).to_be_visible()
    assert TurnScore.objects.count() == 1

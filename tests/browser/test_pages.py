"""Every page in a real browser: both themes, the width of a phone, no errors, no accessibility problems."""

import re
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.settings.api_keys import create_key
from sessions_app.actions.turns.counting import count_ended_turns
from tests.browser.barriers import problems
from tests.browser.browsing import Browser, answer, new_session, ready

TURN_PARTS = {
    "timeline": "view=timeline",
    "outline": "view=outline",
    "context": "tab=context",
    "state": "tab=state",
    "choice": "tab=choice",
}

INKS = """
async () => {
  // The browser tells of a change of the colour scheme before it draws a frame, and charts are drawn before the next.
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll("[data-chart] canvas")].map((canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const ink = data.slice(at, at + 3).join(" ");
      if (data[at + 3] === 255) counts[ink] = (counts[ink] ?? 0) + 1;
    }
    return Object.keys(counts).sort((one, other) => counts[other] - counts[one])[0];
  });
}
"""
"""Returns for each chart the colour that most of its opaque pixels have."""


@pytest.fixture
def addresses(browser: Browser) -> dict[str, str]:
    """Return the address of every page, each with content."""
    session = new_session(browser.project, title="Pets and a very-long-name-without-any-place-to-break-it-in-two")
    for message in (
        "My dog is called Rex. My cat is called Tom.",
        "1. What is my dog called?\n2. What is my cat called?",
        "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?",
    ):
        answer(session, message)
    fork_base(session.mounted_kb, "A fork")
    create_key(browser.project, "A key")
    count_ended_turns(lambda: None)
    turns = list(session.turns.order_by("turn_index"))
    of = session.session_id
    return {
        "sessions": "/",
        "start": reverse("start"),
        "overview": reverse("overview"),
        "turns": reverse("turns"),
        "slowest turns": reverse("turns") + "?sort=time",
        "projects": reverse("projects"),
        "session": reverse("session", args=[of]),
        "turns of a session": reverse("session", args=[of]) + "?panel=turns",
        "settings of a session": reverse("session", args=[of]) + "?panel=settings&diagnostics=1",
        "empty session": reverse("session", args=[new_session(browser.project).session_id]),
        "turn": reverse("turn", args=[of, turns[1].request_id]) + "?sel=exec-0.1~1",
        "failed turn": reverse("turn", args=[of, turns[2].request_id]),
        **{name: reverse("turn", args=[of, turns[1].request_id]) + f"?{query}" for name, query in TURN_PARTS.items()},
        "unit": f"{reverse('unit', args=[of])}?{urlencode({'id': turns[0].unit_changes['added'][0]})}",
        "lost unit": f"{reverse('unit', args=[of])}?{urlencode({'id': turns[2].unit_changes['discarded'][0]})}",
        "compare": reverse("turn-compare", args=[of, turns[1].request_id]),
        "compare failed": reverse("turn-compare", args=[of, turns[2].request_id]),
        "what if": reverse("turn-what-if", args=[of, turns[1].request_id]),
        "knowledge": reverse("knowledge"),
        "knowledge base": reverse("knowledge-base", args=[session.mounted_kb.kb_id]),
        "plugins": reverse("plugins"),
        "settings": reverse("settings"),
        "search": reverse("search"),
        "found": reverse("search") + "?q=rex+status:faild",
        "API keys": reverse("api-keys"),
        "storage": reverse("storage"),
        "password": reverse("password"),
        "second factor": reverse("second-factor"),
    }


def test_a_complaint_would_be_noticed(browser: Browser) -> None:
    browser.open("plugins")
    browser.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')")
    assert browser.policy_breaches()
    assert browser.complaints
    browser.is_measured = True


def test_a_barrier_would_be_noticed(browser: Browser) -> None:
    browser.open("plugins")
    browser.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any(problem.startswith("button-name") for problem in problems(browser))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_serious_barrier(browser: Browser, addresses: dict[str, str], theme: str) -> None:
    browser.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for name, address in addresses.items():
        browser.page.goto(browser.url + address)
        ready(browser.page)
        assert problems(browser) == [], name


def test_the_overview_draws_charts_that_fit_a_phone(browser: Browser, addresses: dict[str, str]) -> None:
    page = browser.page
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(browser.url + addresses["overview"])
        expect(ready(page).locator("[data-chart] canvas")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_text("The figures as a table").click()
    expect(page.get_by_role("table").last.get_by_role("link").first).to_be_visible()
    page.get_by_role("link", name="3", exact=True).first.click()
    expect(page.locator("tr[data-row]")).to_have_count(3)


def test_charts_are_drawn_again_when_the_theme_changes(browser: Browser, addresses: dict[str, str]) -> None:
    page = browser.page
    page.emulate_media(color_scheme="light")
    page.goto(browser.url + addresses["overview"])
    expect(ready(page).locator("[data-chart] canvas")).to_have_count(2)
    drawn = [page.evaluate(INKS)]
    page.emulate_media(color_scheme="dark")
    drawn.append(page.evaluate(INKS))
    page.get_by_role("button", name="Switch between dark and light").click()
    drawn.append(page.evaluate(INKS))
    light, dark = drawn[0], drawn[1]
    assert drawn == [light, dark, light]
    assert len(light) == 2
    assert all(before != after for before, after in zip(light, dark, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_opens_on_a_page_is_no_barrier(browser: Browser, addresses: dict[str, str], theme: str) -> None:
    page = browser.page
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(browser.url + addresses["session"] + "?panel=turns")
    ready(page).get_by_role("button", name="Options").click()
    page.get_by_role("button", name="Bad answer").first.click()
    page.get_by_text("Add a note").click()
    page.get_by_role("combobox", name="Filter turns").fill("status:faild")
    expect(page.get_by_text("Not understood")).to_be_visible()
    assert problems(browser) == []
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog", name="Rename")).to_be_visible()
    assert problems(browser) == []
    page.get_by_role("button", name="Cancel").click()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    assert problems(browser) == []
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert problems(browser) == []


@pytest.mark.parametrize("width", [360, 768, 1920])
def test_no_page_is_wider_than_the_screen(browser: Browser, addresses: dict[str, str], width: int) -> None:
    browser.page.set_viewport_size({"width": width, "height": 740})
    for name, address in addresses.items():
        browser.page.goto(browser.url + address)
        expect(browser.page.locator("h1").first).to_be_visible()
        assert browser.page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("width", [1280, 1440])
def test_what_takes_the_focus_in_the_rail_can_be_seen(browser: Browser, width: int) -> None:
    """The rail of the first width shows no words."""
    browser.page.set_viewport_size({"width": width, "height": 700})
    page = browser.open("sessions")
    stops = []
    for _ in range(page.locator("#rail :is(a, button, summary):visible").count() + 1):
        page.keyboard.press("Tab")
        box = page.locator("*:focus").bounding_box()
        assert box
        stops.append((min(box["width"], box["height"]) >= 16, page.locator("*:focus").get_attribute("title")))
    assert [title for is_seen, title in stops if not is_seen] == []
    assert f"Project {browser.project.name}" in [title for _, title in stops]
    page.locator(".rail__project > summary").press("Enter")
    expect(page.locator(".rail__project .menu__list")).to_be_visible()


def test_the_login_page_is_usable_by_all(browser: Browser) -> None:
    page = browser.page
    page.get_by_label("Account of").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert problems(browser) == []
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_theme_can_be_switched_and_stays(browser: Browser) -> None:
    page = browser.page
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.emulate_media(color_scheme="light")
    browser.open("sessions")
    light = page.evaluate(ground)
    page.get_by_role("button", name="Switch between dark and light").click()
    assert page.evaluate(ground) != light
    dark = page.evaluate(ground)
    browser.open("plugins")
    assert page.evaluate(ground) == dark


def test_the_keys_of_a_page_are_listed(browser: Browser) -> None:
    page = browser.open("session", new_session(browser.project).session_id)
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Send the message")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_pages_can_be_read_and_used_without_javascript(plain_browser: Browser, addresses: dict[str, str]) -> None:
    page = plain_browser.page
    for name, address in addresses.items():
        response = page.goto(plain_browser.url + address)
        assert response is not None
        assert response.status == 200, name
    page.goto(plain_browser.url + addresses["turn"])
    expect(page.locator("svg.graph .node").first).to_be_visible()
    page.get_by_role("treeitem", name=re.compile("^Symbolic Goal Solver")).first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Symbolic Goal Solver")).to_be_visible()
    page.goto(plain_browser.url + addresses["session"])
    page.get_by_label("Message", exact=True).fill("What is my dog called?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".exchange").last).to_contain_text("My dog is called Rex.")
    page.get_by_label("More actions").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("is back.")).to_be_visible()


def test_memory_is_cleared_by_keys_after_a_question(browser: Browser, plain_browser: Browser) -> None:
    for reader in (browser, plain_browser):
        session = new_session(browser.project)
        answer(session, "My dog is called Rex.")
        page = reader.page
        page.goto(reader.url + reverse("session", args=[session.session_id]) + "?panel=settings")
        memory = page.locator("#session-memory")
        sure = memory.get_by_role("button", name="Yes, clear for good")
        expect(sure).to_be_hidden()
        memory.get_by_text("Clear memory", exact=True).press("Enter")
        expect(memory).to_contain_text("forgotten for good")
        page.keyboard.press("Tab")
        expect(sure).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_text("The session's memory is empty now")).to_be_visible()
        expect(sure).to_have_count(0)

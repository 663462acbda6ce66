"""The turn page in a browser: the graph by mouse and keyboard, the outline, and a running turn."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from sessions_app.actions.sessions.session import Choices
from sessions_app.models import Session
from sessions_app.turns.call import TurnCall
from tests.browser.barriers import unspoken_labels
from tests.browser.browsing import Browser, HeldSolver, answer, ready
from tests.browser.turn_scene import open_turn, zoom


def test_a_click_opens_a_box_and_the_address_keeps_it(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.locator("g[data-id='exec-0.1~1'] rect").first.click()
    expect(page.locator("#detail h2")).to_have_text("Symbolic Seed Detector")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_have_attribute("data-id", "exec-0.1~1")
    page.reload(wait_until="networkidle")
    expect(page.locator("#detail h2")).to_have_text("Symbolic Seed Detector")
    expect(page.locator("g.is-selected")).to_have_attribute("data-id", "exec-0.1~1")
    page.get_by_role("tab", name="Input").press("ArrowRight")
    expect(page.get_by_role("tab", name="Output")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel-output")).to_be_visible()
    expect(page.locator("#panel-input")).to_be_hidden()


def test_what_is_copied_is_json_in_lines(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2, "?sel=exec-0.1~1")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#panel-input").get_by_role("button", name="Copy").click()
    expect(page.locator("#panel-input").get_by_role("button", name="Copied")).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(text)["message"] == "1. What is my dog called?\n2. What is my cat called?"
    assert text.count("\n") > 5


def test_the_whole_payload_can_be_downloaded(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2, "?sel=exec-0.1~1")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the whole payload").click()
    text = download.value.path().read_text()
    assert json.loads(text)["output"]["status"] == "success"


@pytest.mark.rule("PAGE-7")
def test_the_graph_is_moved_by_toolbar_and_keys(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    expect(page.locator(".viewport")).to_have_attribute("transform", re.compile("scale"))
    fitted, at_first = zoom(page), page.locator(".viewport").get_attribute("transform") or ""
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator(".viewport")).not_to_have_attribute("transform", at_first)
    assert zoom(page) > fitted
    page.locator("g[data-id='frame-0']").focus()
    page.keyboard.press("0")
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert zoom(page) <= fitted
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.dataset.id")
    assert focused not in (None, "frame-0")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_be_visible()
    assert page.url.replace("%7E", "~").endswith(f"sel={focused}")


def test_frames_open_and_shut(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    boxes = page.locator("svg.graph .node")
    before = boxes.count()
    page.locator("svg.graph").get_by_role("button", name=re.compile("^Collapse")).first.click()
    expect(page.locator(".frame-hidden")).to_have_count(1)
    assert boxes.count() < before
    assert "shut=frame-0.1" in page.url
    page.get_by_role("button", name=re.compile("^Open ")).click()
    expect(boxes).to_have_count(before)


def test_the_outline_is_walked_with_arrows(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.locator("[role=treeitem]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_have_text("Symbolic Seed Detector")
    page.keyboard.press("End")
    expect(page.locator(":focus")).to_have_attribute("role", "treeitem")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-id='exec-0.1~1'][role=treeitem]")).to_be_hidden()


def test_rows_of_the_outline_are_called_as_they_read(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    assert unspoken_labels(browser, "#turn-outline") == []
    page.locator("[role=treeitem]").first.evaluate("row => row.setAttribute('aria-label', 'something else')")
    assert len(unspoken_labels(browser, "#turn-outline")) == 1


@pytest.mark.parametrize(("view", "place"), [("graph", ".graph-canvas"), ("timeline", ".timeline-place")])
def test_what_is_drawn_is_called_as_it_reads(browser: Browser, session: Session, view: str, place: str) -> None:
    answer(session, "My rabbit is called Bella and she lives in the shed behind the old bakery.")
    answer(session, "What is my rabbit called?")
    page = open_turn(browser, session, 4, f"?view={view}")
    expect(page.locator(f"{place} [data-id]").first).to_be_visible()
    # The answer is longer than its box of the graph.
    assert ("…" in page.locator(place).text_content()) == (view == "graph")
    assert unspoken_labels(browser, place) == []


@pytest.mark.rule("PAGE-7")
def test_brackets_go_to_the_turns_beside(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.keyboard.press("[")
    expect(page.locator(".crumbs")).to_contain_text("Turn 1")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("]")
    expect(page.locator(".crumbs")).to_contain_text("Turn 2")


def test_d_compares_with_the_turn_before_and_goes_back(browser: Browser, session: Session) -> None:
    answer(session, "My rabbit is called Bella.")
    page = open_turn(browser, session, 3)
    page.keyboard.press("d")
    expect(page.get_by_role("heading", level=1)).to_have_text("Turns 2 and 3")
    expect(page.locator("#move-1")).to_contain_text("My rabbit is called Bella.")
    ready(page)
    page.keyboard.press("[")
    expect(page.get_by_role("heading", level=1)).to_have_text("Turns 1 and 2")
    ready(page)
    page.keyboard.press("d")
    expect(page.locator(".crumbs")).to_contain_text("Turn 2")
    expect(page.locator("#state")).to_be_visible()
    ready(page)
    page.keyboard.press("1")
    page.locator("[role=treeitem]").first.focus()
    page.keyboard.press("d")
    expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile("^Default Planner"))


def test_a_running_turn_grows_before_one_s_eyes(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    beside(session, TurnCall(message="What is my dog called?", choices=Choices(goal_solver="gs-held")))
    assert held.started.wait(10)
    page = open_turn(browser, session, 3)
    page.evaluate("window.sameDocument = true")
    running = page.locator("svg.graph .node.status-active")
    expect(running).to_have_count(1)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    again = page.locator(".turn-tabs a:visible").get_by_text(re.compile("^(Try|Diagnosis|Replay)$"))
    expect(again).to_have_count(0)
    page.locator("svg.graph [data-id='exec-0.1~1'] rect").first.click()
    expect(page.locator("#detail h2")).to_have_text("Symbolic Seed Detector")
    held.go_on.set()
    expect(page.locator("#verdict")).to_contain_text("Stated")
    expect(running).to_have_count(0)
    expect(again).to_have_count(3)
    expect(page.locator("svg.graph .node", has_text="Constraint Validator")).to_have_count(1)
    expect(page.locator("#turn-outline")).to_contain_text("Constraint Validator")
    page.get_by_role("link", name="Context", exact=True).click()
    expect(page.locator("#context")).to_contain_text("cited")
    expect(page.locator("g.is-selected")).to_have_attribute("data-id", "exec-0.1~1")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_have_attribute("data-id", "exec-0.1~1")
    assert page.evaluate("window.sameDocument") is True

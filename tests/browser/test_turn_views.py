"""The turn page in a browser: three views with one selection, the map, payloads, tabs and files."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from bench.turn_page.storing import store_turn
from bench.turn_page.turns import large_turn, stored_batches
from sessions_app.actions.sessions.session import Choices
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.call import TurnCall
from tests.browser.browsing import SHIFTS, Browser, HeldSolver, aside, ready
from tests.browser.turn_scene import open_turn

RETRIEVAL = "exec-0.2.2~1"


def selected(page: Page, place: str) -> None:
    expect(page.locator(f"{place} .is-selected")).to_have_attribute("data-id", RETRIEVAL)


def test_views_share_one_selection_held_by_the_address(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.locator(f"svg.graph g[data-id='{RETRIEVAL}'] rect").first.click()
    expect(page.locator("#detail h2")).to_contain_text("Retrieval")
    page.keyboard.press("t")
    selected(page, "svg.timeline")
    expect(page.locator("svg.timeline .bar").first).to_be_visible()
    expect(page.locator("#graph-canvas")).to_be_hidden()
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_have_attribute("data-id", RETRIEVAL)
    page.reload(wait_until="networkidle")
    selected(page, "svg.timeline")
    page.locator("svg.timeline .run").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_have_text("parallel-intent 1")
    page.keyboard.press("g")
    expect(page.locator("svg.graph .is-selected")).to_have_attribute("data-id", "frame-0.1")
    assert "view=" not in page.url


def test_names_are_typed_in_the_outline(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.locator("[role=treeitem]").first.focus()
    page.keyboard.type("con", delay=20)
    expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile("^Constraint Validator"))
    page.keyboard.press("Home")
    page.keyboard.type("par", delay=20)
    expect(page.locator(":focus")).to_have_attribute("data-id", "frame-0.1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile("^Default Planner"))


def test_what_is_chosen_in_a_shut_frame_opens_it(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2, "?shut=all")
    expect(page.locator("svg.graph .frame-hidden")).to_have_count(2)
    page.get_by_role("treeitem", name=re.compile("^parallel-intent 2")).locator(".outline__fold").click()
    page.locator(f"[role=treeitem][data-id='{RETRIEVAL}'] a").click()
    selected(page, "svg.graph")
    expect(page.locator("svg.graph .frame-hidden")).to_have_count(1)
    page.get_by_role("button", name="Unfold every frame").click()
    expect(page.locator("svg.graph .frame-hidden")).to_have_count(0)
    page.get_by_role("button", name="Fold every frame", exact=True).click()
    expect(page.locator("svg.graph .frame-hidden")).to_have_count(1)
    selected(page, "svg.graph")


def test_a_drawing_that_is_replaced_leaves_the_focus_elsewhere(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.locator(f"svg.graph g[data-id='{RETRIEVAL}'] rect").first.click()
    field = page.get_by_label("Find in this payload")
    field.fill("Rex")
    with page.expect_response(re.compile(r"/graph\?")):
        page.evaluate("document.dispatchEvent(new CustomEvent('turn:folded'))")
    expect(page.locator("svg.graph:not([viewBox])")).to_have_count(1)
    expect(field).to_be_focused()


@pytest.mark.parametrize("view", ["graph", "timeline"])
def test_a_frame_is_opened_and_shut_by_keys_alone(browser: Browser, session: Session, view: str) -> None:
    page = open_turn(browser, session, 2, f"?view={view}")
    toggle = page.locator(f"svg.{view} [data-toggle]").first
    toggle.focus()
    for is_open in ("false", "true", "false"):
        page.keyboard.press("Enter")
        expect(toggle).to_have_attribute("aria-expanded", is_open)
        expect(toggle).to_be_focused()


def test_details_that_do_not_arrive_are_told(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.route(re.compile("/detail"), lambda route: route.abort())
    page.locator(f"svg.graph g[data-id='{RETRIEVAL}'] rect").first.click()
    expect(page.locator("#toasts")).to_contain_text("The server could not be reached.")
    browser.complaints.clear()  # the browser itself logs the lost request


def test_a_map_comes_when_the_graph_does_not_fit_and_moves_it(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    expect(page.locator(".viewport")).to_have_attribute("transform", re.compile("scale"))
    page.get_by_role("button", name="Fit the whole graph").click()
    expect(page.locator(".minimap")).to_have_count(0)
    for _ in range(6):
        page.get_by_role("button", name="Zoom in").click()
    expect(page.locator(".minimap")).to_be_visible()
    before = page.locator(".viewport").get_attribute("transform") or ""
    page.locator(".minimap").click(position={"x": 3, "y": 3})
    expect(page.locator(".viewport")).not_to_have_attribute("transform", before)
    page.get_by_role("button", name="Fit the whole graph").click()
    expect(page.locator(".minimap")).to_have_count(0)


def test_a_payload_is_searched_read_and_left(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2, "?sel=exec-0.1~1")
    find = page.get_by_label("Find in this payload")
    find.fill("rex")
    expect(page.locator(".detail__find output")).to_have_text(re.compile(r"^1 of \d+$"))
    find.press("Enter")
    expect(page.locator(".detail__find output")).to_have_text(re.compile(r"^(2|1) of \d+$"))
    assert page.evaluate("CSS.highlights.get('found').size") >= 1
    find.fill("no such words")
    expect(page.locator(".detail__find output")).to_have_text("none")
    page.locator("#panel-input").get_by_role("button", name="Text").click()
    expect(page.locator("#panel-input .texts")).to_contain_text("1. What is my dog called?\n2. What is my cat called?")
    expect(page.locator("#json-input")).to_be_hidden()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("j")
    expect(page.locator("#detail h2")).to_have_text("parallel-intent 1")
    page.keyboard.press("k")
    expect(page.locator("#detail h2")).to_have_text("Symbolic Seed Detector")


def test_tabs_stay_on_the_page_and_lead_to_executions(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    page.evaluate("window.sameDocument = true")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Context")).to_be_visible()
    expect(page.locator(".stage")).to_be_hidden()
    page.locator("#context [data-select]").first.click()
    expect(page.locator("#detail")).to_contain_text("kb-plugin")
    page.get_by_role("link", name="State change").click()
    expect(page.get_by_role("heading", name="State change")).to_be_visible()
    assert "tab=state" in page.url
    page.keyboard.press("1")
    expect(page.locator("svg.graph")).to_be_visible()
    assert page.evaluate("window.sameDocument") is True


def test_a_context_section_opens_by_bar_and_keyboard(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2, "?tab=context")
    names = page.locator(".budget__name")
    conversation, message = (
        page.locator(".budget__section", has=names.filter(has_text=name)) for name in ("Conversation", "Message")
    )
    expect(message.locator("pre")).to_have_count(0)
    page.locator(".budget__bar .budget__part--message").click()
    expect(message.locator("pre")).to_have_text("1. What is my dog called?\n2. What is my cat called?")
    conversation.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(conversation.locator("pre")).to_contain_text("**user**: My dog is called Rex. My cat is called Tom.")
    bar = page.locator(".budget__bar").bounding_box()
    widths = [
        item["width"] for item in (part.bounding_box() for part in page.locator(".budget__bar rect").all()) if item
    ]
    assert bar is not None
    assert page.locator(".budget__bar .budget__part").count() == page.locator(".budget__section").count()
    assert abs(sum(widths) - bar["width"]) <= 2 * len(widths) + 2


def test_on_a_phone_a_choice_comes_up_as_a_sheet(browser: Browser, session: Session) -> None:
    browser.page.set_viewport_size({"width": 360, "height": 740})
    page = open_turn(browser, session, 2)
    detail = page.locator("#detail")
    expect(detail).to_be_hidden()
    page.locator("svg.graph .node").first.click()
    expect(detail.locator("h2")).to_have_text("Symbolic Seed Detector")
    expect(detail).to_have_css("position", "fixed")
    page.get_by_role("button", name="Close the details").click()
    expect(detail).to_be_hidden()
    assert "sel=" not in page.url
    page.get_by_role("link", name="Outline", exact=True).click()
    expect(page.locator(".turn__outline")).to_be_visible()


def test_the_turn_and_its_graph_are_kept_as_files(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    for words, begins in (("turn as JSON", b"{"), ("graph as SVG", b"<?xml"), ("graph as PNG", b"\x89PNG")):
        page.get_by_label("Export and more").click()
        with page.expect_download() as download:
            page.get_by_text(words).click()
        assert download.value.path().read_bytes().startswith(begins)
        if words == "turn as JSON":
            kept = json.loads(download.value.path().read_text())
            details = kept["executionTrace"]["graph"]["details"]
            assert details["exec-0.1~1"]["input"]["message"] == kept["userMessage"]
            assert any(row["step"] == "cited" for row in kept["ledger"])
        page.get_by_label("Export and more").click()


def test_a_running_turn_pulses_only_where_motion_is_wanted(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    browser.page.add_init_script(SHIFTS)
    beside(session, TurnCall(message="What is my dog called?", choices=Choices(goal_solver="gs-held")))
    assert held.started.wait(10)
    page = open_turn(browser, session, 3)
    running = page.locator("svg.graph .node.status-active .node-box")
    expect(running).to_have_css("animation-name", "running-pulse")
    page.emulate_media(reduced_motion="reduce")
    expect(running).to_have_css("animation-name", "none")
    page.evaluate("window.shifted = 0")
    held.go_on.set()
    expect(page.locator("#verdict")).to_contain_text("Stated")
    expect(page.locator("svg.graph .node", has_text="Constraint Validator")).to_have_count(1)
    assert page.evaluate("window.shifted") < 0.02


def test_a_live_timeline_ends_as_the_stored_one(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    beside(session, TurnCall(message="What is my dog called?", choices=Choices(goal_solver="gs-held")))
    assert held.started.wait(10)
    page = open_turn(browser, session, 3, "?view=timeline")
    page.evaluate("window.sameDocument = true")
    bars = page.locator("#timeline .run")
    running = page.locator("#timeline .run", has=page.locator(".bar.is-open"))
    expect(running).to_have_count(1)
    before = bars.count()
    running.click()
    expect(running).to_have_class(re.compile("is-selected"))
    chosen = running.get_attribute("data-id")
    held.go_on.set()
    expect(page.locator("#timeline .run", has_text="Constraint Validator")).to_have_count(1)
    expect(running).to_have_count(0)
    assert bars.count() > before
    expect(page.locator("#timeline .run.is-selected")).to_have_attribute("data-id", str(chosen))
    expect(page.locator("#verdict")).to_contain_text("Stated")
    assert page.evaluate("window.sameDocument") is True
    page.wait_for_load_state("networkidle")
    live = page.locator("#timeline svg").first.inner_html()
    page.reload()
    ready(page)
    assert page.locator("#timeline svg").first.inner_html() == live


def test_print_shows_the_whole_graph_and_keeps_the_view(browser: Browser, session: Session) -> None:
    page = open_turn(browser, session, 2)
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()
    expect(page.locator(".minimap")).to_be_visible()
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    view = page.locator(".viewport").get_attribute("transform")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    graph, frame = (page.locator(place).bounding_box() for place in ("svg.graph", "svg.graph .frame-ground >> nth=0"))
    assert graph is not None
    assert frame is not None
    assert frame["width"] <= graph["width"] <= page.viewport_size["width"]  # type: ignore[index]
    expect(page.get_by_label("Export and more")).to_be_hidden()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".viewport")).to_have_attribute("transform", view or "")


def test_a_long_outline_is_whole_after_its_turn_has_ended(browser: Browser) -> None:
    turn = aside(store_turn, browser.project, stored_batches(large_turn(3_000)))
    of_turn = ExplainabilityTurn.objects.filter(pk=turn.pk)
    of_turn.update(status="running")
    page = browser.open("turn", turn.session.session_id, turn.request_id)
    tree = page.locator("[role=tree]")
    expect(page.locator("#turn-outline[hx-get]")).to_have_count(1)
    of_turn.update(status="succeeded")
    page.evaluate("id => document.dispatchEvent(new CustomEvent(`live:progress:${id}`))", turn.request_id)
    expect(page.locator("#turn-outline:not([hx-get])")).to_have_count(1)
    expect(tree).not_to_have_attribute("data-rest-url", re.compile("."))
    tree.locator("[role=treeitem]").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("End")
    expect(page.locator(":focus")).to_have_attribute("role", "treeitem")


def test_what_cannot_be_loaded_is_said(browser: Browser) -> None:
    """Both the rest of a long outline and the picture of the graph show an error."""
    turn = aside(store_turn, browser.project, stored_batches(large_turn(3_000)))
    browser.page.route(re.compile(r"/outline\?rows=all"), lambda route: route.abort())
    browser.page.route(re.compile(r"/graph\.svg"), lambda route: route.fulfill(status=500, body="no"))
    page = browser.open("turn", turn.session.session_id, turn.request_id)
    expect(page.get_by_text("The rest of the outline could not be loaded.")).to_be_visible()
    page.get_by_label("Export and more").click()
    page.get_by_role("link", name="Export the graph as PNG").click()
    expect(page.get_by_text("The picture could not be made.")).to_be_visible()
    browser.complaints.clear()


def test_a_huge_turn_stays_usable(browser: Browser) -> None:
    turn = aside(store_turn, browser.project, stored_batches(large_turn(3_000)))
    page = browser.open("turn", turn.session.session_id, turn.request_id)
    expect(page.locator("[role=tree]")).not_to_have_attribute("data-rest-url", re.compile("."))
    assert page.locator("svg.graph .node").count() < 150
    first = page.locator("[role=treeitem]").first
    first.focus()
    page.keyboard.press("End")
    expect(page.locator(":focus")).to_have_attribute("data-id", re.compile(r"^frame-0\.10$"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_have_text("Default Planner")
    expect(page.locator("svg.graph .is-selected")).to_have_attribute("data-id", "exec-0.10.1~1")
    page.locator("[role=treeitem]:focus").press("Home")
    expect(page.locator(":focus")).to_have_attribute("data-id", "frame-0")
    assert page.locator("[role=treeitem]").count() < 150

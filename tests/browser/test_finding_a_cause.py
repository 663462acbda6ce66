"""The steps of docs/finding-a-cause.md: from a wrong answer to its cause in six clicks.

With MRPVM_PICTURES=docs the pictures of the documentation are taken.
"""

import os
from pathlib import Path

from playwright.sync_api import Page, expect

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.ingest.load import Upload, load_source
from sessions_app.management.demo import FERRY, HANDBOOK
from tests.browser.browsing import Browser, answer, aside, new_session


def picture(page: Page, name: str) -> None:
    """Save a screenshot for the documentation if MRPVM_PICTURES is set."""
    folder = os.environ.get("MRPVM_PICTURES")
    if folder:
        page.mouse.move(0, 0)
        page.wait_for_timeout(400)
        page.screenshot(path=Path(folder) / name, animations="disabled")


def test_a_wrong_answer_leads_to_its_cause_in_six_clicks(browser: Browser) -> None:
    base = aside(create_base, browser.project, "Ferry handbook")
    aside(load_source, base, Upload(name="ferry-handbook.md", data=HANDBOOK.encode()))
    base.refresh_from_db()
    session = new_session(browser.project, base=base)
    answer(session, "We take the car. Cars board at gate C.")
    answer(session, "Where do cars board?")
    page = browser.open("session", session.session_id)
    page.set_viewport_size({"width": 1180, "height": 860})
    expect(page.locator(".exchange").last).to_contain_text("gate C")

    page.get_by_role("link", name="explain").last.click()
    expect(page.locator("svg.graph")).to_be_visible()
    expect(page.locator("#verdict")).to_contain_text("ferry-handbook.md says gate B")
    picture(page, "pictures/cause-1-graph.png")

    page.locator("svg.graph .node", has_text="Symbolic Goal Solver").click()
    expect(page.locator("#detail h2")).to_have_text("Symbolic Goal Solver")
    page.locator("#detail").get_by_role("tab", name="Output").click()
    picture(page, "pictures/cause-2-solver.png")

    page.get_by_role("link", name="Context", exact=True).click()
    cited, chosen = page.locator("#ledger-1"), page.locator("#ledger-2")
    expect(cited).to_contain_text("cited")
    expect(cited).to_contain_text("turn 1")
    expect(chosen).to_contain_text("gate B")
    page.set_viewport_size({"width": 1180, "height": 1040})
    picture(page, "pictures/cause-3-context.png")
    page.set_viewport_size({"width": 1180, "height": 860})

    cited.get_by_role("link", name="Cars board at gate C.", exact=True).click()
    expect(page.locator("mark")).to_have_text("Cars board at gate C.")
    picture(page, "pictures/cause-4-unit.png")

    page.get_by_role("link", name="turn 1", exact=True).click()
    expect(page.locator("#state")).to_contain_text("Cars board at gate C.")
    picture(page, "pictures/cause-5-state.png")

    page.get_by_role("link", name="Choice").click()
    expect(page.get_by_role("heading", name="What would be chosen if")).to_be_visible()


def test_the_turn_of_the_readme_shows_frames_and_an_output(browser: Browser) -> None:
    base = aside(create_base, browser.project, "Ferry handbook")
    aside(load_source, base, Upload(name="ferry-handbook.md", data=HANDBOOK.encode()))
    base.refresh_from_db()
    session = new_session(browser.project, base=base, title="Questions about the ferry")
    for message in FERRY[:2]:
        answer(session, message)
    page = browser.open("session", session.session_id)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("link", name="explain").last.click()
    for number in (1, 2, 3):
        expect(page.locator("svg.graph")).to_contain_text(f"parallel-intent {number}")
    page.locator("svg.graph .node", has_text="Fast KB Retrieval").nth(1).click()
    expect(page.locator("#detail h2")).to_have_text("Fast KB Retrieval")
    page.locator("#detail").get_by_role("tab", name="Output").click()
    expect(page.locator("#detail")).to_contain_text('"kbUnits"')
    picture(page, "screenshot.png")

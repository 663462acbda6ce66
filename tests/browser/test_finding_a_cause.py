"""The way of docs/finding-a-cause.md, walked as it is written: from a wrong answer to its cause in six clicks."""

import re

from playwright.sync_api import expect

from sessions_app.actions.knowledge import create_base
from sessions_app.turns.ingest import Upload, load_source
from tests.browser.browsing import Browser, answer, aside, browser, new_session

__all__ = ["browser"]

HANDBOOK = "# Boarding\n\nVehicles board at gate B, because the car deck is reached from the quay there.\n"


def test_a_wrong_answer_leads_to_its_cause_in_six_clicks(browser: Browser) -> None:
    base = aside(create_base, browser.project, "Ferry handbook")
    aside(load_source, base, Upload(name="ferry.md", data=HANDBOOK.encode()))
    base.refresh_from_db()
    session = new_session(browser.project, base=base)
    answer(session, "We take the car. Vehicles board at gate C.")
    answer(session, "Where do vehicles board?")
    page = browser.open("session", session.session_id)
    expect(page.locator(".exchange").last).to_contain_text("gate C")

    page.get_by_role("link", name="How it came about").last.click()
    expect(page.locator("svg.graph")).to_be_visible()
    expect(page.locator("#detail")).to_contain_text("gate C")

    page.locator("svg.graph .node", has_text="Symbolic Goal Solver").click()
    expect(page.locator("#detail h2")).to_have_text("Symbolic Goal Solver")

    page.get_by_role("link", name="Context", exact=True).click()
    cited, chosen = page.locator("#ledger-1"), page.locator("#ledger-2")
    expect(cited).to_contain_text("cited")
    expect(cited).to_contain_text("turn 1")
    expect(chosen).to_contain_text("gate B")

    cited.get_by_role("link", name=re.compile("gate C")).click()
    expect(page.locator("mark")).to_have_text("Vehicles board at gate C.")

    page.get_by_role("link", name="turn 1", exact=True).click()
    expect(page.locator("#state")).to_contain_text("Vehicles board at gate C.")

    page.get_by_role("link", name="Choice").click()
    expect(page.get_by_role("heading", name="What would be chosen if")).to_be_visible()

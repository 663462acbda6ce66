"""Helpers for browser tests of the turn page: a session with a parallel turn, and opening a turn."""

import re

from playwright.sync_api import Page

from sessions_app.models import ExplainabilityTurn, Session
from tests.browser.browsing import Browser


def turn_of(session: Session, number: int) -> ExplainabilityTurn:
    return session.turns.get(turn_index=number)


def open_turn(browser: Browser, session: Session, number: int, query: str = "") -> Page:
    return browser.open("turn", session.session_id, turn_of(session, number).request_id, query=query)


def zoom(page: Page) -> float:
    found = re.search(r"scale\(([\d.]+)\)", page.locator(".viewport").get_attribute("transform") or "")
    assert found is not None
    return float(found[1])

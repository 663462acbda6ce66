"""Live changes of a session's page do not shift its layout."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from sessions_app.actions.sessions.session import Choices
from sessions_app.models import Session
from sessions_app.turns.call import TurnCall
from tests.browser.browsing import ENDED, SHIFTS, Browser, HeldSolver, answer, live, new_session


@pytest.fixture
def session(browser: Browser) -> Session:
    session = new_session(browser.project)
    for number in range(4):
        answer(session, f"My dog number {number} is called Rex.")
    return session


def test_another_clients_turn_moves_nothing_on_the_page(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    browser.page.add_init_script(SHIFTS)
    page = browser.open("session", session.session_id, query="?panel=turns")
    live(page)
    page.wait_for_load_state("networkidle")
    # The measure works: a bar inserted at the top shifts the page.
    page.evaluate(
        "document.body.prepend(Object.assign(document.createElement('p'), {className: 'notice', textContent: '!'}))"
    )
    page.wait_for_function("window.shifted > 0.02")
    page.evaluate("document.body.firstElementChild.remove(); window.shifted = 0")
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    page.evaluate("window.shifted = 0")
    beside(session, TurnCall(message="What is my dog called?", choices=Choices(goal_solver="gs-held")))
    assert held.started.wait(10)
    expect(page.get_by_text("Working on it")).to_be_visible()
    held.go_on.set()
    expect(page.locator(f"#turn-5{ENDED}")).to_be_attached()
    expect(page.locator("#registry-5")).to_contain_text("Closest passage")
    assert page.evaluate("window.shifted") < 0.02

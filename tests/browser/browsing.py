"""Helpers for browser tests of the pages: a member's browser that records errors, and turns run beside it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import connections
from django.urls import reverse
from playwright.sync_api import Page, expect

from mrpvm import registry
from mrpvm.contracts import CallContext, Solution, SolveInput
from mrpvm.errors import MRPError
from sessions_app.actions.sessions.session import create_session
from sessions_app.commands.messages import answer_message
from sessions_app.models import Project, Session
from sessions_app.turns.call import TurnCall
from tests.kernel.scripted import plugin

ENDED = ".exchange[data-request-id]:not(.is-running)"
"""Turns of the conversation that are over."""
WATCH = """
window.complaints = [];
window.numbers = [];
addEventListener("securitypolicyviolation", ({ violatedDirective, sample, sourceFile }) =>
  window.complaints.push(`${violatedDirective} ${sample} ${sourceFile}`));
document.addEventListener("live:event", ({ detail }) =>
  detail.sequence != null && window.numbers.push(detail.sequence));
"""

SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
"""Adds up in `window.shifted` what moved without the reader's doing, in shares of the screen."""


@dataclass
class Browser:
    """A logged-in browser; `complaints` holds the console's errors and those of scripts.

    `is_measured` tells that a checker ran. The security policy blocks its styles, so complaints are then ignored.
    """

    page: Page
    url: str
    project: Project
    complaints: list[str] = field(default_factory=list)
    is_measured: bool = False

    def open(self, name: str, *arguments: str, query: str = "") -> Page:
        """Open a page by its URL name and wait until its scripts are ready."""
        response = self.page.goto(self.url + reverse(name, args=arguments) + query)
        assert response is not None
        assert response.status == 200
        assert "'unsafe" not in response.headers["content-security-policy"]
        return ready(self.page)

    def policy_breaches(self) -> list[str]:
        """Return what the security policy blocked on the current page."""
        return self.page.evaluate("window.complaints ?? []")


def ready(page: Page) -> Page:
    """Return the page once its scripts handle keys and clicks."""
    expect(page.locator("html.is-ready")).to_be_attached()
    return page


def aside[Result](act: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """Return the result of an action that is run on another thread, since Playwright runs an event loop on this one."""

    def work() -> Result:
        try:
            return act(*arguments, **named)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def new_session(project: Project, **columns: Any) -> Session:
    """Create a session without the browser."""
    return aside(create_session, project, **columns)


def answer(session: Session, message: str) -> None:
    """Run a turn without the browser, as a client of the API does; it may fail."""
    with suppress(MRPError):
        aside(answer_message, session, TurnCall(message=message))


def say(page: Page, message: str) -> None:
    """Type a message and send it."""
    ready(page).get_by_label("Message", exact=True).fill(message)
    page.keyboard.press("Enter")


def live(page: Page) -> None:
    """Wait until the page's socket is open."""
    expect(page.locator("#live-state").first).to_have_attribute("data-state", "open")


class HeldSolver:
    """A goal solver that waits, then answers as the symbolic one does."""

    descriptor = plugin("gs-plugin", "gs-held").descriptor

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go_on = threading.Event()

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Wait until the test releases it or the turn is stopped."""
        self.started.set()
        while not self.go_on.wait(0.01) and not context.stopped():
            pass
        return registry.installed.goal_solver("gs-symbolic").solve(request, context)

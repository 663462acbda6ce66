"""Headless Chromium for the browser tests; without it they are skipped, with the command that installs it."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.urls import reverse
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Page, expect

from mrpvm import registry
from mrpvm.errors import MRPError
from sessions_app.actions.settings.projects import create_login_link, ensure_default_project, ensure_first_admin
from sessions_app.models import Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from sessions_app.turns.pipeline import run_turn
from tests.browser.browsing import WATCH, Browser, HeldSolver, answer, new_session, ready
from tests.live import LiveServer

# Long, because the tests check what a page shows and not how fast.
expect.set_options(timeout=20_000)

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str | None:
    """Return the browser to drive: CHROMIUM, one on PATH, or None for Playwright's own."""
    return os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


def install_command() -> str:
    """Return the command that installs a browser here."""
    if shutil.which("apt-get"):
        return "sudo apt-get install -y chromium"
    return ".venv/bin/playwright install chromium"


@cache
def _is_available() -> bool:
    return bool(chromium_path() or _playwright_has_its_own())


def _playwright_has_its_own() -> bool:
    default = Path.home() / ("Library/Caches" if os.uname().sysname == "Darwin" else ".cache") / "ms-playwright"
    return any(Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).glob("chromium*"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder, and skip it if no browser is installed."""
    item.add_marker(pytest.mark.browser)
    if not _is_available():
        item.add_marker(pytest.mark.skip(reason=f"Chromium is missing: {install_command()}"))


@pytest.hookimpl(trylast=True)  # after the order that plugins give
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder last: Playwright leaves an event loop running, and other tests start their own."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Return Chromium's arguments for containers, which have no sandbox for root and little shared memory."""
    arguments = {**browser_type_launch_args, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
    path = chromium_path()
    return {**arguments, "executable_path": path} if path else arguments


@pytest.fixture(scope="session", autouse=True)
def _orm_beside_playwright() -> Iterator[None]:
    """Allow the ORM in tests: Playwright keeps an event loop in the main thread, but runs no queries on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(scope="session")
def chromium(launch_browser: Callable[[], Chromium]) -> Iterator[Chromium]:
    """Return the running Chromium, which is Playwright's fixture `browser`."""
    started = launch_browser()
    yield started
    started.close()


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    """Return a page of a fresh context."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def _complaints(said: ConsoleMessage) -> list[str]:
    """Return an error or a warning of the console with the address that it is about."""
    return [f"{said.text} ({said.location['url']})"] if said.type in ("error", "warning") else []


@pytest.fixture
def browser(live_asgi: LiveServer, page: Page) -> Iterator[Browser]:
    """Return a browser logged in by a printed link. The test fails if the browser reported an error."""
    install_plugins()
    project = ensure_default_project()
    found = Browser(page, live_asgi.url, project)
    page.on("console", lambda said: found.complaints.extend(_complaints(said)))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.add_init_script(WATCH)
    page.goto(live_asgi.url + reverse("login-link", args=[create_login_link(ensure_first_admin(project))]))
    ready(page)
    yield found
    heard = found.policy_breaches() + found.complaints
    assert found.is_measured or not heard, heard


@pytest.fixture
def plain_browser(browser: Browser) -> Iterator[Browser]:
    """Return the same login in a browser without JavaScript."""
    chromium: Chromium = browser.page.context.browser  # type: ignore[assignment]
    context = chromium.new_context(java_script_enabled=False, storage_state=browser.page.context.storage_state())
    yield Browser(context.new_page(), browser.url, browser.project)
    context.close()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldSolver]:
    """Return a solver that is tried first and blocks its turn until the test releases it."""
    solver = HeldSolver()
    install_plugins()
    key = ("gs-plugin", solver.descriptor.id)
    monkeypatch.setattr(registry.installed, "_plugins", {key: solver, **registry.installed._plugins})
    yield solver
    solver.go_on.set()


@pytest.fixture
def beside(held: HeldSolver) -> Iterator[Callable[..., None]]:
    """Return a function that runs a turn on a new thread, which the test joins at its end."""
    threads: list[threading.Thread] = []

    def start(session: Session, call: TurnCall) -> None:
        def work() -> None:
            with suppress(MRPError):
                run_turn(session, call)
            connections.close_all()

        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield start
    held.go_on.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def session(browser: Browser) -> Session:
    session = new_session(browser.project)
    answer(session, "My dog is called Rex. My cat is called Tom.")
    answer(session, "1. What is my dog called?\n2. What is my cat called?")
    return session

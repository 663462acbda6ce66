"""Headless Chromium for the browser tests; without it they are skipped, with the command that installs it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str | None:
    """Return the browser to drive: CHROMIUM, one on PATH, or None for Playwright's own."""
    return os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


def install_command() -> str:
    """Return the one command that installs a browser here."""
    if shutil.which("apt-get"):
        return "sudo apt-get install -y chromium"
    return ".venv/bin/playwright install chromium"


def _playwright_has_its_own() -> bool:
    default = Path.home() / ("Library/Caches" if os.uname().sysname == "Darwin" else ".cache") / "ms-playwright"
    return any(Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).glob("chromium*"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, put them last, and skip them where no browser is installed.

    Last, because Playwright leaves an event loop running in the main thread, where others start their own.
    """
    here = Path(__file__).parent
    items.sort(key=lambda item: here in item.path.parents)
    available = chromium_path() or _playwright_has_its_own()
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))
            if not available:
                item.add_marker(pytest.mark.skip(reason=f"Chromium is missing: {install_command()}"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Return Chromium's arguments: containers have no sandbox for root and little shared memory."""
    arguments = {**browser_type_launch_args, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
    path = chromium_path()
    return {**arguments, "executable_path": path} if path else arguments


@pytest.fixture(scope="session", autouse=True)
def _orm_beside_playwright() -> Iterator[None]:
    """Allow the ORM in tests: Playwright keeps an event loop in the main thread, which runs no query of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield

"""`python -m bench.turn_page`: store large turns, open them in Chromium, print when they were visible and usable."""

import argparse
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

import django

from bench.databases import Database, new_database
from bench.servers import MeasuredServer
from bench.turn_page.turns import large_turn, stored_batches

SIZES = (100, 1_000, 10_000)
REPEATS = 5
RATIO_MAX, STRUCTURE_MAX_KIB = 4.0, 150.0
_READY = "() => document.querySelector('.viewport')?.hasAttribute('transform') && "
_WHOLE = "!document.querySelector('[role=tree]')?.dataset.restUrl"
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_NOW = "() => performance.now()"


@dataclass(frozen=True, slots=True)
class Seen:
    """One opening of a page, in ms since the request. `selected_ms` is how long a selection took then."""

    paint_ms: float
    interactive_ms: float
    selected_ms: float


def main() -> None:
    """Measure and print. The sizes alternate, so that a busy moment affects all of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.turn_page", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one opening of each: shows that it runs")
    repeats = 1 if parser.parse_args().quick else REPEATS
    with (
        tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory,
        new_database(Path(directory, "pages")) as own,
        MeasuredServer(own) as server,
    ):
        url = f"http://127.0.0.1:{server.port}"
        addresses, link = _store(own)
        with _browser(url, link) as page:
            cookies = "; ".join(f"{item['name']}={item['value']}" for item in page.context.cookies())
            payloads = {size: _payload(url + path, cookies) for size, path in addresses.items()}
            seen = _openings(page, url, addresses, repeats)
    print("\n".join(_report(seen, payloads)))


def _store(own: Database) -> tuple[dict[int, str], str]:
    """Store a turn of each size in the running server's database. Return their addresses and a login link."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": own.url}
    os.environ |= {"MRPVM_DATA_DIR": str(own.directory), "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
    django.setup()
    from django.urls import reverse

    from bench.turn_page.storing import store_turn
    from sessions_app.actions.settings.projects import create_login_link, ensure_default_project, ensure_first_admin

    project = ensure_default_project()
    addresses = {}
    for size in SIZES:
        turn = store_turn(project, stored_batches(large_turn(size)))
        addresses[size] = reverse("turn", args=[turn.session.session_id, turn.request_id])
    return addresses, reverse("login-link", args=[create_login_link(ensure_first_admin(project))])


@contextmanager
def _browser(url: str, link: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.goto(url + link)
        yield page
        chromium.close()


def _openings(page: Any, url: str, addresses: dict[int, str], repeats: int) -> dict[int, list[Seen]]:
    seen: dict[int, list[Seen]] = {size: [] for size in addresses}
    page.goto(url + addresses[SIZES[0]])  # scripts and styles are in the browser's cache from here on
    for _ in range(repeats):
        for size, path in addresses.items():
            page.goto(url + path, wait_until="commit")
            _poll(page, f"{_READY}{_WHOLE}")
            interactive = page.evaluate(_NOW)
            page.locator("[role=treeitem]").nth(1).locator("a").click()
            _poll(page, "() => document.querySelector('#detail [data-find]') !== null")
            seen[size].append(Seen(page.evaluate(_PAINT), interactive, page.evaluate(_NOW) - interactive))
    return seen


def _poll(page: Any, condition: str) -> None:
    """Wait for a condition. The page's security policy forbids what Playwright's own waiting needs."""
    while not page.evaluate(condition):
        page.wait_for_timeout(5)


def _payload(address: str, cookies: str) -> tuple[int, int]:
    """Return the bytes of the page and of its compressed form."""
    request = Request(address, headers={"Cookie": cookies})  # noqa: S310 - loopback
    with urlopen(request, timeout=60) as response:  # noqa: S310 - as above
        body = response.read()
    return len(body), len(gzip.compress(body, 6))


def _report(seen: dict[int, list[Seen]], payloads: dict[int, tuple[int, int]]) -> Iterator[str]:
    yield "turn page, Chromium without a GPU, medians"
    yield ""
    yield "executions    first paint ms  interactive ms   a choice ms   page KiB   gzip KiB"
    for size, openings in seen.items():
        paint, interactive, chosen = (
            median(getattr(item, name) for item in openings) for name in ("paint_ms", "interactive_ms", "selected_ms")
        )
        whole, small = payloads[size]
        sizes = f"{whole / 1024:11.0f}{small / 1024:11.1f}"
        yield f"{size:<10,}{paint:18.0f}{interactive:16.0f}{chosen:14.0f}{sizes}"
    yield ""
    fast, slow = (median(item.paint_ms for item in seen[size]) for size in SIZES[:2])
    yield _verdict("first paint, 1,000 / 100", slow / fast, RATIO_MAX)
    yield _verdict("structure of 1,000, gzip KiB", payloads[SIZES[1]][1] / 1024, STRUCTURE_MAX_KIB)


def _verdict(name: str, value: float, most: float) -> str:
    return f"{name:<34}{value:8.2f}   at most {most:g}: {'met' if value <= most else 'not met'}"


if __name__ == "__main__":
    main()

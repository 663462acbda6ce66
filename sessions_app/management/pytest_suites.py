"""A pytest plugin that runs suites of tests: `pytest -p sessions_app.management.pytest_suites dogs.suite.yaml`.

Each `*.suite.yaml` gives a test for each of its own. They run on the server at `--mrpvm-url`, with the key in
MRPVM_API_KEY; without an address they run in this process, on the database that the settings name. Either way the
tests of a file replace those of the suite with its name.
"""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import django
import pytest

SECONDS = 60
"""How long one request to the server may take."""
_WAIT_MS = 30_000
_LOOK_SECONDS = 0.5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add where suites are run."""
    group = parser.getgroup("mrpvm")
    group.addoption("--mrpvm-url", help="address of the server that runs suites; without it they run in this process")
    group.addoption("--mrpvm-heads", action="store_true", help="run suites against the present state of their bases")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "PytestSuiteFile | None":
    """Return the collector of a suite's file."""
    return PytestSuiteFile.from_parent(parent, path=file_path) if file_path.name.endswith(".suite.yaml") else None


class PytestSuiteFile(pytest.File):
    """A suite's file; it is run once, when its first test is."""

    def collect(self) -> Iterator["SuiteTest"]:
        """Yield the tests by their names.

        Raises:
            CollectError: the file is no suite.
        """
        _set_up()
        from mrpvm.errors import InvalidInput
        from sessions_app.experiments.suites.suite_files import read_suite

        try:
            document = read_suite(self.path.read_text(encoding="utf-8"))
        except (InvalidInput, UnicodeDecodeError) as error:
            raise self.CollectError(str(error)) from None
        for number, test in enumerate(document["tests"], start=1):
            yield SuiteTest.from_parent(self, name=test.get("name") or f"test {number}", file=self, place=number - 1)

    @cached_property
    def outcomes(self) -> list[tuple[str, str]] | BaseException:
        """The outcome of each test with why it did not pass, or why the suite could not be run."""
        text, url = self.path.read_text(encoding="utf-8"), self.config.getoption("--mrpvm-url")
        heads = bool(self.config.getoption("--mrpvm-heads"))
        try:
            return list(_on_server(url, text, heads=heads) if url else _here(text, heads=heads))
        except (Exception, pytest.fail.Exception) as error:
            return error


class SuiteTest(pytest.Item):
    """One test of a suite."""

    def __init__(self, *, file: PytestSuiteFile, place: int, **options: Any) -> None:
        super().__init__(**options)
        self._file, self._place = file, place

    def runtest(self) -> None:
        """Fail with what the answer did not fulfil."""
        outcomes = self._file.outcomes
        if isinstance(outcomes, BaseException):
            raise outcomes
        outcome, why = outcomes[self._place]
        if outcome != "passed":
            pytest.fail(f"{outcome}: {why}", pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return what reports call the test."""
        return self.path, None, self.name


def _set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()


def _here(text: str, *, heads: bool) -> Iterator[tuple[str, str]]:
    from sessions_app.actions.experiments.experiments import Author
    from sessions_app.experiments.suites.junit import why_not
    from sessions_app.experiments.suites.questions import Target
    from sessions_app.experiments.suites.suite_files import import_suite
    from sessions_app.experiments.suites.suites import run_now
    from sessions_app.queries.experiments.suites import results
    from sessions_app.queries.settings.projects import project_named

    author = Author(name="pytest")
    suite = import_suite(project_named(None), text, author)
    for result in results(run_now(suite, Target(heads=heads), author)):
        yield result.outcome, why_not(result)


def _on_server(url: str, text: str, *, heads: bool) -> Iterator[tuple[str, str]]:
    suite = _asked(url, "/api/suites/import", {"content": text})
    address = f"/api/suites/{suite['suite_id']}/runs"
    run = _asked(url, address, {"heads": heads, "wait_ms": _WAIT_MS})
    while run["status"] == "running":
        time.sleep(_LOOK_SECONDS)
        run = _asked(url, f"{address}/{run['run_id']}")
    for result in run["results"]:
        error = (result["trial"]["error"] or {}).get("message", "It was not run.")
        yield result["outcome"], " ".join(result["failures"]) or error


def _asked(url: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    if not url.startswith(("http://", "https://")):
        pytest.fail(f"--mrpvm-url must be an http address, not {url}.", pytrace=False)
    headers = {"Authorization": f"Bearer {os.environ.get('MRPVM_API_KEY', '')}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{url.rstrip('/')}{path}", data, headers)  # noqa: S310 (an http address)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 (an http address)
            return dict(json.load(answer))
    except urllib.error.HTTPError as refused:
        pytest.fail(
            f"The server answered {refused.code}: {refused.read(2_000).decode(errors='replace')}", pytrace=False
        )
    except OSError as error:
        pytest.fail(f"The server at {url} does not answer: {error}", pytrace=False)

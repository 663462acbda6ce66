"""Suites of tests by the API; every answer is validated against the schema."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sessions_app.management import pytest_suites
from sessions_app.models import Session, TestCase
from tests.api.conftest import Caller
from tests.live import LiveServer


@pytest.fixture
def suite(editor: Caller) -> str:
    """Return the address of an empty suite."""
    made = editor.post("/api/suites", {"name": "Dogs"})
    assert made.status_code == 201
    return f"/api/suites/{made.json()['suite_id']}"


@pytest.fixture
def kept(editor: Caller, suite: str, talked: Session) -> dict[str, Any]:
    """Return the test of the session's last turn, which expects the turn's answer."""
    turn = talked.turns.order_by("-turn_index")[0]
    made = editor.post(f"{suite}/tests", {"session_id": talked.session_id, "request_id": turn.request_id})
    assert made.status_code == 201, made.content
    return dict(made.json())


def run(caller: Caller, suite: str, **target: Any) -> dict[str, Any]:
    """Start a run; return it after its end."""
    made = caller.post(f"{suite}/runs", {**target, "wait_ms": 30_000})
    assert made.status_code == 201, made.content
    return dict(made.json())


def test_a_kept_turn_passes_until_something_else_is_expected(editor: Caller, suite: str, kept: dict[str, Any]) -> None:
    first = run(editor, suite)
    assert (first["counts"]["passed"], first["difference"]) == (1, None)
    changed = editor.patch(f"{suite}/tests/{kept['test_id']}", {"expect": {"contains": ["a cat"]}, "tags": ["pets"]})
    assert (changed.json()["message"], changed.json()["expect"]) == (kept["message"], {"contains": ["a cat"]})
    second = run(editor, suite, tags=["pets"])
    assert second["difference"] == {"against": first["run_id"], "fixed": [], "broken": [kept["name"]], "same": 0}
    [result] = second["results"]
    assert (result["outcome"], result["failures"]) == ("failed", ["The answer does not contain “a cat”."])
    assert editor.get(f"{suite}/runs/{first['run_id']}?against={second['run_id']}").json()["difference"]["fixed"]
    assert [row["run_id"] for row in editor.get(f"{suite}/runs").json()["runs"]] == [second["run_id"], first["run_id"]]
    [listed] = editor.get("/api/suites").json()["suites"]
    assert (listed["test_count"], listed["last_run"]["counts"]["failed"]) == (1, 1)
    assert editor.get(f"/api/experiments/{second['run_id']}").json()["kind"] == "suite"


def test_what_a_test_chooses_is_taken_back(editor: Caller, suite: str) -> None:
    test = {"name": "none", "message": "Who is Rex?", "kb_id": "default", "expect": {"status": "no-context"}}
    made = editor.post(f"{suite}/tests", {**test, "revision": 1, "choices": {"deliberation_level": 2}}).json()
    assert (made["revision"], made["choices"]) == (1, {"deliberation_level": 2})
    address = f"{suite}/tests/{made['test_id']}"
    assert editor.patch(address, {"name": "nobody"}).json()["revision"] == 1
    changed = editor.patch(address, {"revision": None, "choices": {}}).json()
    assert not changed.keys() & {"revision", "choices"}
    assert editor.patch(address, {"expect": {}}).status_code == 400


def test_a_test_asks_a_base_and_other_choices(editor: Caller, suite: str) -> None:
    test = {"name": "none", "message": "Who is Rex?", "kb_id": "default", "expect": {"status": "no-context"}}
    made = editor.post(f"{suite}/tests", test).json()
    assert made["expect"] == {"status": "no-context"}
    found = run(editor, suite, heads=True, choices={"deliberation_level": 2})
    assert (found["target"], found["counts"]["passed"]) == ({"heads": True, "choices": {"deliberation_level": 2}}, 1)
    assert found["results"][0]["trial"]["changes"]["deliberationLevel"] == 2


def test_run_without_tests_says_what_is_missing(editor: Caller, suite: str, session_id: str) -> None:
    def refused(**target: Any) -> str:
        answer = editor.post(f"{suite}/runs", target)
        assert answer.status_code == 400
        return str(answer.json()["error"]["message"])

    assert refused() == "The suite has no tests yet."
    other = editor.post("/api/kbs", {"name": "Other"}).json()["kb_id"]
    asking = {"name": "Rex", "message": "Rex?", "kb_id": other, "expect": {"contains": ["Rex"]}}
    assert editor.post(f"{suite}/tests", asking).status_code == 201
    assert refused(tags=["pets", "cats"]) == "No test of the suite has one of these tags: pets, cats."
    assert refused(draft_of=session_id) == "None of these tests asks this base."


@pytest.mark.usefixtures("kept")
def test_a_file_holds_the_suite_and_makes_it_again(editor: Caller, suite: str) -> None:
    file = editor.get(f"{suite}/file").json()
    again = editor.post("/api/suites/import", {"content": file["content"], "name": "Copy"})
    assert again.status_code == 201
    copy = editor.get(f"/api/suites/{again.json()['suite_id']}/file").json()["content"]
    assert copy == file["content"].replace("suite: Dogs", "suite: Copy")
    editor.post("/api/suites/import", {"content": file["content"]})
    assert TestCase.objects.count() == 2


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "message": "m", "expect": {"contains": ["x"]}},
        {"name": "x", "kb_id": "default", "expect": {"contains": ["x"]}},
        {"name": "x", "message": "m", "kb_id": "default"},
        {"name": "x", "message": "m", "kb_id": "default", "expect": {"matches": "("}},
        {"name": "x", "message": "m", "kb_id": "default", "request_id": "r", "expect": {"contains": ["x"]}},
        {"name": "x", "message": "m", "kb_id": "default", "expect": {"contains": ["x"]}, "choices": {"style": "loud"}},
        {"name": "x", "message": "m", "kb_id": "default", "expect": {"contains": ["x"]}, "tags": [" "]},
    ],
)
def test_a_test_that_could_never_be_run_is_refused(editor: Caller, suite: str, body: dict[str, Any]) -> None:
    assert editor.post(f"{suite}/tests", body).status_code == 400
    assert not TestCase.objects.exists()


def test_pytest_runs_a_file_on_a_server(
    live_asgi: LiveServer, editor: Caller, suite: str, kept: dict[str, Any], tmp_path: Path
) -> None:
    broken = {"name": "a cat", "expect": {"contains": ["a cat"]}}
    source = {name: kept[name] for name in ("session_id", "request_id")}
    editor.post(f"{suite}/tests", {**source, **broken})
    (tmp_path / "dogs.suite.yaml").write_text(editor.get(f"{suite}/file").json()["content"], encoding="utf-8")
    plugin = ("-p", "sessions_app.management.pytest_suites", "-p", "no:cacheprovider", "-p", "no:django")
    command = [sys.executable, "-m", "pytest", *plugin, "--mrpvm-url", live_asgi.url, "--rootdir", tmp_path, tmp_path]
    key = editor.headers["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "MRPVM_API_KEY": key, "MRPVM_DATA_DIR": str(tmp_path), "PYTEST_ADDOPTS": ""}
    ran = subprocess.run(command, env=environment, cwd=Path.cwd(), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "1 failed, 1 passed" in ran.stdout
    assert "failed: The answer does not contain “a cat”." in ran.stdout


def test_a_suite_that_cannot_be_run_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fail(url: str, text: str, *, heads: bool) -> None:
        asked.append(url)
        pytest.fail("The server does not answer.")

    monkeypatch.setattr(pytest_suites, "_on_server", fail)
    file, test = object.__new__(pytest_suites.PytestSuiteFile), object.__new__(pytest_suites.SuiteTest)
    file.path, file.config = tmp_path / "dogs.suite.yaml", SimpleNamespace(getoption=lambda name: "http://127.0.0.1:1")
    file.path.touch()
    test._file, test._place = file, 0
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match="does not answer"):
            test.runtest()
    assert len(asked) == 1


def test_a_base_is_tested_before_it_changes(editor: Caller, suite: str) -> None:
    for text in ("Rex is a dog.", "Rex is a cat."):
        source = {"name": "pets.md", "content": text, "source_id": "pets"}
        assert editor.post("/api/kbs/default/sources", source).status_code == 201
    for name, contains in (("cat", "cat"), ("bird", "bird")):
        test = {"name": name, "message": "What is Rex?", "kb_id": "default", "expect": {"contains": [contains]}}
        assert editor.post(f"{suite}/tests", test).status_code == 201
    revision = editor.get("/api/kbs/default").json()["revision"] - 1
    tested = editor.post("/api/kbs/default/tests", {"revision": revision, "wait_ms": 30_000}).json()
    assert (tested["tests"], tested["breaks"], tested["runs"][0]["breaks"]) == (2, 1, ["cat"])
    session = editor.post("/api/sessions", {}).json()["session_id"]
    body = {"draft_of": session, "include_conversation_units": False, "wait_ms": 30_000}
    assert editor.post("/api/kbs/default/tests", body).json()["breaks"] == 0
    assert editor.post("/api/kbs/default/tests", {}).status_code == 400

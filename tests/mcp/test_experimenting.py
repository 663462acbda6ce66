"""MCP tools that run a turn again: replay, trials, diagnosis, suites."""

import re
from collections.abc import Callable

import pytest
from pytest_django import Settings

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.experiments.suites.documents import fields_given
from sessions_app.models import Experiment, Message, Project, Suite
from tests.mcp.conftest import Agent

# One process imports the SDK.
pytestmark = pytest.mark.xdist_group("mcp")


def experiment_of(text: str) -> str:
    """Return the id of the experiment in a text."""
    found = re.match(r"Experiment (\S+) \(", text)
    assert found, text
    return found[1]


@pytest.fixture
def suite(project: Project, talked: dict[str, str]) -> Suite:
    """Return a suite of two tests of the turn: one expects its answer, the other a different one."""
    made = create_suite(project, "Dogs", Author(name="Anna"))
    asked = {"session_id": talked["session_id"], "request_id": talked["turn_id"]}
    for given in (asked, {**asked, "name": "a cat", "expect": {"contains": ["a cat"]}}):
        add_test(made, fields_given(project, given), Author(name="Anna"))
    return made


def test_a_viewer_replays_tries_and_diagnoses_a_turn(agent: Callable[..., Agent], talked: dict[str, str]) -> None:
    viewer, messages = agent("viewer"), Message.objects.count()
    assert "identical" in viewer.text("replay_turn", **talked)
    cited = re.search(r"Cites (\S+):", viewer.text("read_turn", **talked))
    assert cited
    trials = [{"without_units": [cited[1]]}, {"with_units": ["My dog is called Bello."], "history_through": 0}]
    tried = viewer.text("try_turn", **talked, trials=trials)
    assert "(trials)" in tried
    assert "finished, tried=2" in tried
    first, second = tried.split("\nTrial ")[1:]
    assert cited[1] in first
    assert "answered: My dog is called Rex." not in first
    assert "Bello" in second
    trace = re.search(r"read_turn of session (\S+), turn (\S+)", second)
    assert trace
    assert "Bello" in viewer.text("read_turn", session_id=trace[1], turn_id=trace[2])
    assert viewer.text("read_experiment", experiment_id=experiment_of(tried)) == tried
    found = viewer.text("diagnose_turn", **talked)
    assert "Result: found" in found
    assert "Finding (unit)" in found
    assert "before: My dog is called Rex." in found
    assert {row.created_by_name for row in Experiment.objects.all()} == {"API key viewer"}
    assert Message.objects.count() == messages


def test_a_viewer_runs_a_suite(agent: Callable[..., Agent], suite: Suite) -> None:
    viewer = agent("viewer")
    assert f"{suite.suite_id}  Dogs  tests=2  never run" in viewer.text("list_suites")
    assert '"contains": ["a cat"]' in viewer.text("read_suite", suite_id=suite.suite_id)
    ran = viewer.text("run_suite", suite_id=suite.suite_id)
    assert "passed=1 failed=1" in ran
    assert ran.index("failed: a cat\n  The answer does not contain “a cat”.") < ran.index("passed: What is my dog")
    again = viewer.text("run_suite", suite_id=suite.suite_id)
    assert f"Since {experiment_of(ran)}: fixed [], broken [], same 2" in again
    assert viewer.text("read_experiment", experiment_id=experiment_of(again)) == again
    assert experiment_of(again) in viewer.text("read_suite", suite_id=suite.suite_id)
    assert f"newest run {experiment_of(again)} finished" in viewer.text("list_suites")


def test_further_pages_of_a_run_are_read_not_run_again(
    agent: Callable[..., Agent], suite: Suite, settings: Settings
) -> None:
    viewer = agent("viewer")
    settings.MRPVM_MCP_PAGE_CHARS = 200
    ran = viewer.text("run_suite", suite_id=suite.suite_id)
    following = re.search(r"call read_experiment for (\S+) with offset=(\d+)\]$", ran)
    assert following
    assert following[1] == experiment_of(ran)
    assert viewer.text("read_experiment", experiment_id=following[1], offset=int(following[2]))
    assert suite.runs.count() == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("replay_turn", {"turn_id": "none"}, "TURN_NOT_FOUND"),
        ("try_turn", {"trials": []}, "at least 1 item"),
        ("try_turn", {"trials": [{"colour": "red"}]}, "Extra inputs are not permitted"),
        ("try_turn", {"trials": [{"goal_solver_plugin": "none"}]}, "There is no plugin 'none'"),
        ("try_turn", {"trials": [{"with_units": ["a\0b"]}]}, "NUL"),
        ("try_turn", {"trials": [{}], "allow_model": True}, "FORBIDDEN"),
        ("diagnose_turn", {"allow_model": True}, "FORBIDDEN"),
        ("diagnose_turn", {"max_trials": 1_000}, "less than or equal to 200"),
        ("run_suite", {"suite_id": "none"}, "SUITE_NOT_FOUND"),
        ("run_suite", {"suite_id": "none", "allow_model": True}, "FORBIDDEN"),
        ("read_suite", {"suite_id": "none"}, "SUITE_NOT_FOUND"),
        ("read_experiment", {"experiment_id": "none"}, "EXPERIMENT_NOT_FOUND"),
    ],
)
def test_what_cannot_be_run_again_is_told_with_its_code(
    agent: Callable[..., Agent], talked: dict[str, str], tool: str, arguments: dict[str, object], said: str
) -> None:
    named = talked if tool.endswith("_turn") else {}
    assert said in agent("viewer").error(tool, **{**named, **arguments})
    assert not Experiment.objects.exists()


def test_another_project_runs_nothing_of_this_one(
    agent: Callable[..., Agent], talked: dict[str, str], suite: Suite
) -> None:
    ran = experiment_of(agent().text("run_suite", suite_id=suite.suite_id))
    other = Project.objects.create(name="Other", slug="other")
    ensure_default_base(other)
    stranger = agent("admin", other)
    for tool in ("replay_turn", "diagnose_turn"):
        assert "SESSION_NOT_FOUND" in stranger.error(tool, **talked)
    assert "SESSION_NOT_FOUND" in stranger.error("try_turn", **talked, trials=[{}])
    assert "SUITE_NOT_FOUND" in stranger.error("run_suite", suite_id=suite.suite_id)
    assert "EXPERIMENT_NOT_FOUND" in stranger.error("read_experiment", experiment_id=ran)
    assert stranger.text("list_suites") == "The project has no suite of tests."
    assert Experiment.objects.count() == 1

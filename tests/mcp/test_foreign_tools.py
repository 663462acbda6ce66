"""No tool returns anything of another project for any of its ids."""

from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.experiments.suites.documents import fields_given
from sessions_app.models import ContextUnit, Experiment, ExplainabilityTurn, Project, Session
from tests.mcp.conftest import Agent

# One process imports the SDK.
pytestmark = pytest.mark.xdist_group("mcp")
FINDS_BY_WORDS = {"list_sessions", "search_turns", "list_suites"}
"""Tools that need no id; they find what the caller's own project has."""


@pytest.fixture
def named(project: Project, talked: dict[str, str]) -> dict[str, Any]:
    """Return a value for each required argument of a tool, with ids of the other project."""
    suite = create_suite(project, "Dogs", Author(name="Anna"))
    asked = {"session_id": talked["session_id"], "request_id": talked["turn_id"]}
    add_test(suite, fields_given(project, asked), Author(name="Anna"))
    tried = Experiment.objects.create(
        project=project, session=Session.objects.get(), kind="trials", status="finished", message="Rex?"
    )
    return {
        **talked, "node_id": "frame-0", "unit_id": ContextUnit.objects.latest("pk").unit_id, "trials": [{}],
        "suite_id": suite.suite_id, "experiment_id": tried.experiment_id, "message": "What is my dog called?",
        "base": "default", "query": "Rex",
    }  # fmt: skip


def test_every_tool_takes_ids_of_another_project_for_none(agent: Callable[..., Agent], named: dict[str, Any]) -> None:
    other = Project.objects.create(name="Other", slug="other")
    ensure_default_base(other)
    stranger = agent("admin", other)
    before = ExplainabilityTurn.objects.count(), Experiment.objects.count()
    tools = stranger.send("list_tools").tools
    assert len(tools) > 12
    for tool in tools:
        known = tool.inputSchema["properties"].keys() & named.keys()
        assert known >= set(tool.inputSchema.get("required", ())), f"{tool.name} needs what is not named here"
        result = stranger.call(tool.name, **{name: named[name] for name in known})
        assert "Rex" not in result.text, tool.name
        assert result.is_error != (tool.name in FINDS_BY_WORDS), result
        assert not result.is_error or "_NOT_FOUND" in result.text, result
    assert (ExplainabilityTurn.objects.count(), Experiment.objects.count()) == before

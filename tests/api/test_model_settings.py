"""The table of model roles of a project and of a session, and the available models."""

from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.models import Session
from tests.api.conftest import Caller
from tests.api.test_models import QUESTION, told
from tests.llm.provider import Provider


@pytest.mark.rule("ROLE-2", "ROLE-4", "ROLE-5")
def test_the_role_table_is_read_and_replaced(provider: Provider, editor: Caller, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    shipped = editor.get("/api/settings/llm-roles").json()
    assert shipped["roles"]["goal-fast"] == {"model": ""}
    assert shipped["pluginOverrides"]["sd-llm-fast"] == {"role": "seed-fast"}
    assert (shipped["updatedAt"], shipped["availableModels"]) == (None, ["some-model", "other", "served"])
    changed = admin.put("/api/settings/llm-roles", {"roles": {"goal-deep": {"model": "large"}}}).json()
    assert changed == editor.get("/api/settings/llm-roles").json()
    assert (changed["roles"]["goal-deep"], changed["pluginOverrides"]) == ({"model": "large"}, {})
    assert changed["updatedAt"]
    assert admin.put("/api/settings/llm-roles", {}).json()["roles"]["goal-deep"] == {"model": ""}


@pytest.mark.rule("ROLE-4")
@pytest.mark.parametrize("body", [{"roles": "abc"}, {"pluginOverrides": [1]}, {"roles": {"a": {"model": None}}}])
def test_a_table_that_does_not_hold_changes_nothing(caller: Callable[..., Caller], body: Any) -> None:
    admin = caller("admin")
    before = admin.put("/api/settings/llm-roles", {"roles": {"goal-fast": {"model": "m"}}}).json()
    refused = admin.put("/api/settings/llm-roles", body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_SETTINGS")
    assert admin.get("/api/settings/llm-roles").json() == before


@pytest.mark.rule("DECISION-25")
def test_only_admins_change_the_table_and_only_their_own(
    editor: Caller, caller: Callable[..., Caller], stranger: Caller
) -> None:
    assert editor.put("/api/settings/llm-roles", {}).status_code == 403
    assert caller("viewer").get("/api/settings/llm-roles").status_code == 200
    stranger.put("/api/settings/llm-roles", {"roles": {"goal-fast": {"model": "theirs"}}})
    assert editor.get("/api/settings/llm-roles").json()["roles"]["goal-fast"] == {"model": ""}


@pytest.mark.rule("DECISION-46", "SESSION-3", "ROLE-5")
def test_a_session_keeps_the_table_it_was_made_with(
    provider: Provider, editor: Caller, caller: Callable[..., Caller]
) -> None:
    session_id = told(editor)
    caller("admin").put("/api/settings/llm-roles", {"roles": {"goal-fast": {"model": "new"}}})

    def model_of_a_turn(name: str) -> str:
        provider.asked.clear()
        editor.chat(QUESTION, name, goal_solver_plugin="gs-llm-fast", model="wished")
        return str(provider.bodies[0]["model"])

    address = f"/api/sessions/{session_id}/model-config"
    assert model_of_a_turn(session_id) == "wished"
    assert model_of_a_turn(told(editor)) == "new"
    assert editor.patch(address, {"take_current_roles": True}).json()["roles"]["goal-fast"] == {"model": "new"}
    assert model_of_a_turn(session_id) == "new"
    changed = editor.patch(address, {"roles": {"goal-fast": {"model": "own"}}, "temperature": None}).json()
    assert (changed, changed["model"]) == (editor.get(address).json(), "wished")
    assert model_of_a_turn(session_id) == "own"
    assert "temperature" not in provider.bodies[0]
    kinds = list(Session.objects.get(session_id=session_id).events.values_list("kind", flat=True))
    assert kinds.count("model-config.changed") == 2


@pytest.mark.parametrize("body", [{"roles": 3}, {"take_current_roles": "yes"}, {"temperature": "hot"}])
def test_a_session_table_that_does_not_hold_changes_nothing(editor: Caller, talked: Session, body: Any) -> None:
    refused = editor.patch(f"/api/sessions/{talked.session_id}/model-config", body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_SETTINGS")


@pytest.mark.rule("DECISION-29", "DECISION-30")
def test_the_dialect_names_the_models_and_refuses_any_other(provider: Provider, editor: Caller) -> None:
    assert [row["id"] for row in editor.get("/v1/models").json()["data"]] == ["mrpvm", "some-model", "other", "served"]
    asked = {"messages": [{"role": "user", "content": QUESTION}], "goal_solver_plugin": "gs-llm-fast"}
    for name, used in (("mrpvm", "some-model"), ("other", "other")):
        provider.asked.clear()
        assert editor.post("/v1/chat/completions", {"model": name, "temperature": 0.7, **asked}).status_code == 200
        assert (provider.bodies[0]["model"], provider.bodies[0]["temperature"]) == (used, 0.7)
    refused = editor.post("/v1/chat/completions", {"model": "gpt-4o", **asked})
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")


def test_models_and_plugins_say_what_there_is(provider: Provider, editor: Caller) -> None:
    assert [row["id"] for row in editor.get("/api/models").json()["models"]] == ["some-model", "other", "served"]
    assert all(row["available"] for row in editor.get("/api/plugins").json()["plugins"])

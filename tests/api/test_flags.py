"""Each policy is switched at four levels, and the last one that names it wins."""

from typing import Any

import pytest
from pytest_django import Settings

from sessions_app.actions.settings.projects import change_project
from sessions_app.models import Project, Session
from tests.api.conftest import Caller
from tests.api.test_memory import PINS, turn_of

SETTINGS = {
    "enable_query_rewriting": "MRPVM_QUERY_REWRITING",
    "enable_session_memory": "MRPVM_SESSION_MEMORY",
    "enable_history_summarization": "MRPVM_HISTORY_SUMMARIZATION",
}
LEVELS = ("server", "project", "session", "request")


def works(flag: str, answer: Any) -> bool:
    """Return whether the policy was applied in this turn."""
    report = turn_of(answer).context_report or {}
    if flag == "enable_history_summarization":
        return any(item["name"] == "summary" for item in report["sections"])
    return {"enable_query_rewriting": "rewriting", "enable_session_memory": "memory"}[flag] in report


@pytest.mark.rule("POLICY-50")
@pytest.mark.parametrize("flag", SETTINGS)
def test_a_level_switches_a_policy_and_outranks_those_before_it(
    editor: Caller, manuals: Project, settings: Settings, flag: str
) -> None:
    """The levels before one have switched it on when that level switches it off."""
    session_id = editor.post("/api/sessions", {}).json()["session_id"]
    for message in ("What does the red pump need?", "And the valve?", "So when?", "Why is that?", "And it?"):
        editor.chat(message, session_id, **PINS)

    def choose(at: str, value: bool) -> dict[str, Any]:
        """Set the flag at one level; return the fields of the request."""
        if at == "server":
            setattr(settings, SETTINGS[flag], value)
        if at == "project":
            change_project(manuals, manuals.name, manuals.slug, "", {flag: value})
        if at == "session":
            assert editor.patch(f"/api/sessions/{session_id}", {flag: value}).json()["flags"] == {flag: value}
        return {flag: value} if at == "request" else {}

    for level in LEVELS:
        for value in (False, True):
            chosen = choose(level, value)
            answer = editor.chat("And what about it?", session_id, **PINS, **chosen)
            assert works(flag, answer) is value, level


def test_a_session_begins_with_its_flags_and_takes_a_choice_back(editor: Caller) -> None:
    made = editor.post("/api/sessions", {"enable_session_memory": False, "document_bias": "always"}).json()
    path = f"/api/sessions/{made['session_id']}"
    assert editor.get(path).json()["flags"] == {"enable_session_memory": False, "document_bias": "always"}
    changed = editor.patch(path, {"session_memory_enabled": None, "title": "Pumps"}).json()
    assert (changed["flags"], changed["title"]) == ({"document_bias": "always"}, "Pumps")
    assert Session.objects.get().events.filter(kind="preferences.changed").count() == 1


@pytest.mark.parametrize("body", [{}, {"enable_session_memory": "no"}, {"document_bias": "some", "title": "x"}])
def test_a_change_that_cannot_be_made_changes_nothing(editor: Caller, body: dict[str, Any]) -> None:
    path = f"/api/sessions/{editor.post('/api/sessions', {}).json()['session_id']}"
    assert editor.patch(path, body).status_code == 400
    found = editor.get(path).json()
    assert (found["flags"], found["title"]) == ({}, None)


def test_a_session_that_is_made_with_a_wrong_flag_is_not_made(editor: Caller) -> None:
    assert editor.post("/api/sessions", {"history_max_turns": 0}).status_code == 400
    assert not Session.objects.exists()


def by_name(answer: Any) -> dict[str, dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    return {policy["name"]: policy for policy in answer.json()["policies"]}


def test_each_policy_says_who_chose_it(editor: Caller, project: Project, settings: Settings) -> None:
    path = f"/api/sessions/{editor.post('/api/sessions', {}).json()['session_id']}/policies"
    assert {policy["chosen_by"] for policy in by_name(editor.get(path)).values()} == {"server"}
    change_project(project, project.name, project.slug, "open", {"verbatim_max_tokens": 400})
    chosen = editor.patch(path, {"verbatim_max_tokens": 300, "query_rewriting_enabled": False, "grounding": "strict"})
    found = by_name(chosen)
    assert found == by_name(editor.get(path))
    told = {name: (item["value"], item["chosen_by"], item["otherwise"]) for name, item in found.items()}
    assert told["verbatim_max_tokens"] == (300, "session", 400)
    assert told["enable_query_rewriting"] == (False, "session", True)
    assert told["grounding"] == ("strict", "session", "open")
    assert told["summary_max_tokens"] == (settings.MRPVM_SUMMARY_MAX_TOKENS, "server", 200)
    assert (found["verbatim_max_tokens"]["least"], found["document_bias"]["choices"]) == (
        100, ["off", "follow-ups", "always"],
    )  # fmt: skip
    back = by_name(editor.patch(path, {"verbatim_max_tokens": None, "grounding": None}))
    assert (back["verbatim_max_tokens"]["value"], back["verbatim_max_tokens"]["chosen_by"]) == (400, "project")
    assert (back["grounding"]["value"], back["grounding"]["chosen_by"]) == ("open", "project")


@pytest.mark.parametrize(
    "body", [{"grounding": "some"}, {"verbatim_max_tokens": 99}, {"grounding": "open", "document_bias": "x"}]
)
def test_policies_that_cannot_be_chosen_change_nothing(editor: Caller, body: dict[str, Any]) -> None:
    path = f"/api/sessions/{editor.post('/api/sessions', {}).json()['session_id']}/policies"
    before = editor.get(path).json()
    assert editor.patch(path, body).status_code == 400
    assert editor.get(path).json() == before


def test_policies_of_a_foreign_session_are_not_there(editor: Caller) -> None:
    assert editor.get("/api/sessions/sess-unknown/policies").status_code == 404

"""A model chooses the skill of a turn, if the option is on."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from mrpvm import registry
from sessions_app.models import ExplainabilityTurn, Session
from tests.api.conftest import Caller
from tests.assistants.skill_files import front, write_skill
from tests.configured_model import acting
from tests.llm.provider import Asked, Behaviour, Provider, refuse, say
from tests.web.page_scene import member_client, texts_of

pytestmark = pytest.mark.usefixtures("unvalidated")
MESSAGE = "Please shorten this: The ferry leaves at nine and the gate is A."
CHOSEN = '{"skill": "summarise", "reason": "It asks for a shorter text."}'


def choosing(provider: Provider, choice: Behaviour, answer: str = "It leaves at nine.") -> None:
    """Make the provider reply `choice` to requests for a choice, and `answer` to all others."""
    other = acting(say(answer))
    provider.otherwise = lambda asked: (choice if is_choice(asked) else other)(asked)


def is_choice(asked: Asked) -> bool:
    """Return whether a request asks for a choice."""
    return "You decide whether one of the listed skills" in json.dumps(asked.body)


def solving(provider: Provider) -> list[str]:
    """Return the system prompts of the other requests."""
    return [asked.body["messages"][0]["content"] for asked in provider.asked if not is_choice(asked)]


def ask(editor: Caller, session_id: str, message: str = MESSAGE, **more: Any) -> dict[str, Any]:
    """Return the answer of a turn with skill selection on."""
    choices = {"enable_skill_selection": True, "seed_detector_plugin": "sd-symbolic"} | more
    answer = editor.chat(message, session_id, **choices)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_the_chosen_skill_guides_the_turn_and_the_trace_says_why(
    provider: Provider, editor: Caller, session_id: str
) -> None:
    """The body is read after the choice, and the session's preferences are not changed."""
    choosing(provider, say(CHOSEN))
    preferred = Session.objects.get().preferred_goal_solver_plugin
    body = ask(editor, session_id)
    trace = body["execution_trace"]
    assert trace["skillChoice"] == {
        "frameId": "frame-0", "offered": ["checklist", "compare", "summarise"], "leftOutCount": 0,
        "skill": "summarise", "reason": "It asks for a shorter text.", "problem": "",
    }  # fmt: skip
    assert trace["skill"]["name"] == "summarise"
    assert trace["skill"]["reason"] == "The model chose it from 3 skills: It asks for a shorter text."
    first, *others = provider.asked
    assert is_choice(first)
    assert not any(is_choice(asked) for asked in others)
    assert "Keep names, numbers" not in json.dumps(first.body)
    assert solving(provider)[-1].count("For this turn, follow the skill") == 1
    assert "Keep names, numbers" in solving(provider)[-1]
    turn = ExplainabilityTurn.objects.get()
    assert (turn.kind, turn.user_message, turn.command_result) == ("chat", MESSAGE, None)
    assert body.get("command") is None
    assert turn.context_report is not None
    assert turn.context_report["requests"][0]["body"] == first.body
    page = member_client(turn.session.project).get(reverse("session", args=[session_id])).text
    assert "Guided by the skill summarise, which the model chose" in texts_of(
        page, ".bubble--assistant .bubble__foot a"
    )
    assert Session.objects.get().preferred_goal_solver_plugin == preferred


def test_what_the_request_chose_itself_is_kept(provider: Provider, editor: Caller, session_id: str) -> None:
    """The skill's solver is not kept as a preference, since the user did not choose it."""
    choosing(provider, say(CHOSEN))
    preferred = Session.objects.get().preferred_goal_solver_plugin
    ask(editor, session_id, model="named", deliberation_level=1)
    session = Session.objects.get()
    assert (session.preferred_model, session.preferred_deliberation_level) == ("named", 1)
    assert (session.preferred_seed_detector_plugin, session.preferred_goal_solver_plugin) == ("sd-symbolic", preferred)


def test_where_no_solver_could_follow_a_skill_nobody_is_asked(
    provider: Provider, editor: Caller, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {key: item for key, item in registry.installed._plugins.items() if key != ("gs-plugin", "gs-llm-fast")}
    monkeypatch.setattr(registry.installed, "_plugins", left)
    choosing(provider, say(CHOSEN))
    assert ask(editor, session_id)["execution_trace"]["skillChoice"] is None


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (say('{"skill": "none", "reason": "A plain request."}'), ""),
        (say("I would take summarise."), "The model's reply names no skill in the form asked for."),
        (say('{"skill": "arithmetic"}'), "The model named 'arithmetic', which was not offered."),
        (refuse(400), "The model could not be asked (ModelFailed)."),
    ],
)
def test_a_turn_without_a_skill_is_as_without_the_feature(
    provider: Provider, editor: Caller, session_id: str, reply: Behaviour, problem: str
) -> None:
    """The other requests are the same, and the trace records that no skill was chosen."""
    choosing(provider, reply)
    body = ask(editor, session_id, goal_solver_plugin="gs-llm-fast")
    assert body["execution_trace"]["skill"] is None
    assert body["execution_trace"]["skillChoice"]["skill"] is None
    assert body["execution_trace"]["skillChoice"]["problem"] == problem
    with_it = [asked.body for asked in provider.asked if not is_choice(asked)]
    provider.asked.clear()
    off = editor.post("/api/sessions").json()["session_id"]
    without = ask(editor, off, goal_solver_plugin="gs-llm-fast", enable_skill_selection=False)
    assert without["execution_trace"]["skillChoice"] is None
    assert [asked.body for asked in provider.asked] == with_it


def test_nobody_is_asked_where_there_is_nothing_to_choose(
    provider: Provider, editor: Caller, session_id: str, settings: Settings
) -> None:
    """No choice is asked for after a command, with a pinned solver that needs no model, and by default."""
    settings.MRPVM_SKILL_SELECTION = True
    choosing(provider, say(CHOSEN))
    assert editor.chat("/compare tea and coffee", session_id).json()["execution_trace"]["skill"]["name"] == "compare"
    editor.chat("/calc 6*7", session_id)
    editor.chat("My dog is called Rex.", session_id, goal_solver_plugin="gs-symbolic")
    editor.chat(MESSAGE, session_id, enable_skill_selection=False)
    settings.MRPVM_SKILL_SELECTION = False
    editor.chat(MESSAGE, session_id)
    assert not any(is_choice(asked) for asked in provider.asked)
    settings.MRPVM_SKILL_SELECTION = True
    assert ask(editor, session_id, enable_skill_selection=None)["execution_trace"]["skill"]["name"] == "summarise"


def test_a_file_that_was_written_later_is_not_offered(
    provider: Provider, editor: Caller, session_id: str, tmp_path: Path
) -> None:
    """The choice reads only the stored snapshot."""
    write_skill(tmp_path / "skills", "zebra", front(summary="Stripes"))
    choosing(provider, say('{"skill": "zebra"}'))
    assert "zebra" not in ask(editor, session_id)["execution_trace"]["skillChoice"]["offered"]
    editor.chat("/reload_skills", session_id)
    assert ask(editor, session_id)["execution_trace"]["skill"]["name"] == "zebra"

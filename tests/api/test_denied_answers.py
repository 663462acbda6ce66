"""An answer that policy denies is neither sent nor stored as an answer."""

from typing import Any

import pytest
from pytest_django import Settings

from mrpvm.conversation.guardrails import denial_of_answer
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from tests.api.conftest import Caller
from tests.api.test_chat_stream import Streamed
from tests.configured_model import acting
from tests.live import LiveServer
from tests.llm.provider import Asked, Provider, say

QUESTION = "Who will help me?"
DENIED = "Do not worry about them. You only need me, and I am always here."


@pytest.mark.parametrize(
    "text",
    ["You only need me.", "Please don't talk to anyone about it.", "DON’T  talk\nto others!", "do not talk to anybody",
     "I should replace your friends.", "Maybe I should replace your family"],
)  # fmt: skip
def test_what_is_denied(text: str) -> None:
    assert denial_of_answer(f"Well. {text}") == "makes the user depend on it alone"


@pytest.mark.parametrize(
    "text",
    ["You only need metal.", "Talk to others about it.", "You should replace your friend's tyre.", "", "I don't."],
)
def test_what_is_not(text: str) -> None:
    assert denial_of_answer(text) is None


def ask(editor: Caller, **more: Any) -> Any:
    """Ask the model's solver."""
    return editor.chat(
        "Who will help me?", goal_solver_plugin="gs-llm-fast", seed_detector_plugin="sd-symbolic", **more
    )


@pytest.mark.usefixtures("unvalidated")
def test_a_denied_answer_fails_the_turn_and_is_kept_nowhere(provider: Provider, editor: Caller) -> None:
    provider.otherwise = acting(say(DENIED))
    refused = ask(editor)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "ANSWER_DENIED")
    assert "need me" not in refused.content.decode()
    assert not Message.objects.exists()
    turn = ExplainabilityTurn.objects.get()
    assert (turn.status, turn.error and turn.error["code"]) == ("failed", "ANSWER_DENIED")
    assert len(provider.asked) == 1, "it is not asked again: the same would come"


@pytest.mark.usefixtures("unvalidated")
def test_another_solver_answers_in_its_place(provider: Provider, editor: Caller) -> None:
    provider.otherwise = acting(say(DENIED))
    body = editor.chat(
        "My dog is called Rex.", goal_solver_plugin="gs-symbolic", seed_detector_plugin="sd-symbolic"
    ).json()
    Session.objects.update(preferred_goal_solver_plugin="gs-llm-fast")
    answered = editor.chat("What is my dog called?", body["session_id"], seed_detector_plugin="sd-symbolic").json()
    assert "Rex" in answered["choices"][0]["message"]["content"]
    assert answered["goal_solver_plugin"] == "gs-symbolic"


@pytest.mark.usefixtures("unvalidated")
def test_a_skill_says_that_its_answer_was_blocked(provider: Provider, editor: Caller) -> None:
    provider.otherwise = acting(say(DENIED))
    envelope = editor.chat("/summarise My day was long.").json()["error"]["details"]["command"]
    assert (envelope["code"], envelope["message"]) == (
        "llm_backend_policy_blocked", "Error: response blocked by LLM policy.",
    )  # fmt: skip


@pytest.mark.usefixtures("unvalidated")
def test_of_a_streamed_answer_what_shows_it_is_held_back(
    project: Project, provider: Provider, editor: Caller, live_asgi: LiveServer
) -> None:
    provider.otherwise = acting(say(DENIED))
    streamed = Streamed(live_asgi, editor, message="Who will help me?", goal_solver_plugin="gs-llm-fast",
                        seed_detector_plugin="sd-symbolic")  # fmt: skip
    events = list(streamed.events())
    sent = "".join(data["delta"] for name, data in events if name == "response.delta")
    assert sent
    assert DENIED.startswith(sent)
    assert denial_of_answer(sent) is None
    name, last = events[-1]
    assert (name, last["error"]["code"]) == ("error", "ANSWER_DENIED")
    assert last["error"]["details"]["void_answer_chars"] == len(sent)
    assert not Message.objects.exists()


@pytest.mark.usefixtures("unvalidated")
def test_an_operator_may_let_it_through(provider: Provider, editor: Caller, settings: Settings) -> None:
    settings.MRPVM_GUARDRAILS = False
    provider.otherwise = acting(say(DENIED))
    assert ask(editor).json()["choices"][0]["message"]["content"] == DENIED


def test_what_a_validator_says_is_no_answer(provider: Provider, editor: Caller) -> None:
    """Only text meant for the user is checked, not that of a validator."""
    accepted = '{"verdict": "accepted", "reason": "It does not say: you only need me."}'

    def act(asked: Asked) -> None:
        is_validator = "You check answers" in asked.body["messages"][0]["content"]
        say(accepted if is_validator else "Your friends will.")(asked)

    provider.otherwise = act
    assert ask(editor).json()["choices"][0]["message"]["content"] == "Your friends will."
    assert len(provider.asked) == 2

"""Facts in messages that a client brings along: they are known as if turns had answered those messages."""

from collections.abc import Callable

import pytest
from openai import OpenAI
from pytest_django import Settings

from sessions_app.actions.sessions.forks import fork_session
from sessions_app.models import ContextUnit, Project, Session, UnitEvent
from tests.api.conftest import Caller
from tests.web.page_scene import member_client, text_at

Say = Callable[..., str]
TOLD = [
    {"role": "user", "content": "My dog is called Rex. What is a good name for a cat?"},
    {"role": "assistant", "content": "Tom is one. The moon is called Luna."},
    {"role": "user", "content": "My cat is called Felix."},
    {"role": "assistant", "content": "Noted."},
]
SECRET = "sk-" + "a1B2" * 8
DOG = {"role": "user", "content": "What is my dog called?"}


def claims(session: Session | None = None) -> list[str]:
    units = ContextUnit.objects.order_by("pk")
    return [unit.claim for unit in (units if session is None else units.filter(session=session))]


@pytest.mark.rule("SESSION-37")
def test_a_fact_in_a_history_answers_the_first_question(say: Say) -> None:
    conversation = list(TOLD)
    assert "Rex" in say(conversation, "What is my dog called?")
    assert "Felix" in say(conversation, "What is my cat called?")
    assert claims() == ["My dog is called Rex.", "My cat is called Felix."]
    assert Session.objects.get().unit_count == 2


def test_an_ambiguous_conversation_knows_what_was_told(say: Say) -> None:
    for _ in range(2):
        say([], "My dog is called Rex.")
    conversation = [{"role": "user", "content": "My dog is called Rex."}]
    conversation.append({"role": "assistant", "content": Session.objects.latest("pk").messages.last().content})
    assert "Rex" in say(conversation, "What is my dog called?")
    assert Session.objects.count() == 3


def test_a_session_named_first_begins_with_the_history(say: Say) -> None:
    assert "Rex" in say(list(TOLD), "What is my dog called?", extra_headers={"X-Session-Id": "mine"})
    assert Session.objects.get(session_id="mine").messages.count() == 6


def test_items_of_responses_and_conversations_are_read(sdk: OpenAI) -> None:
    assert "Rex" in sdk.responses.create(model="mrpvm", input=[*TOLD, DOG]).output_text  # type: ignore[list-item]
    conversation = sdk.conversations.create(items=[TOLD[0]])  # type: ignore[list-item]
    sdk.conversations.items.create(conversation.id, items=TOLD[2:])  # type: ignore[arg-type]
    for animal, name in (("dog", "Rex"), ("cat", "Felix")):
        asked = f"What is my {animal} called?"
        answer = sdk.responses.create(model="mrpvm", input=asked, conversation=conversation.id)
        assert name in answer.output_text


def test_a_history_of_the_native_api_is_read(editor: Caller) -> None:
    answer = editor.post("/api/chat/completions", {"messages": [DOG], "conversationHistory": TOLD}).json()
    assert "Rex" in answer["choices"][0]["message"]["content"]


def test_a_session_is_called_by_the_first_message_of_its_history(say: Say, sdk: OpenAI) -> None:
    say(list(TOLD), "Thank you.")
    assert Session.objects.get().label == "My dog is called Rex. What is a good name for a cat?"
    conversation = sdk.conversations.create()
    sdk.conversations.items.create(conversation.id, items=TOLD[2:])  # type: ignore[arg-type]
    assert Session.objects.latest("pk").label == "My cat is called Felix."


@pytest.mark.rule("SESSION-37")
def test_a_unit_says_in_which_message_it_was_told(say: Say, project: Project) -> None:
    say(list(TOLD), "Thank you.")
    reasons = UnitEvent.objects.filter(step="committed").order_by("pk").values_list("reason", flat=True)
    assert list(reasons) == [f"told in message {place}, which the client brought along" for place in (1, 3)]
    session, browser = Session.objects.get(), member_client(project)
    unit_id = ContextUnit.objects.first().unit_id  # type: ignore[union-attr]
    html = browser.get(f"/sessions/{session.session_id}/unit", {"id": unit_id}).content.decode()
    assert text_at(html, "figcaption") == "In message 1, which the client brought along"
    assert text_at(html, "figure mark") == "My dog is called Rex."


def test_a_fact_told_twice_is_one_unit(say: Say) -> None:
    both = {"role": "user", "content": "My bird is called Pip. My cat is called Felix."}
    say([TOLD[2], TOLD[3], both, TOLD[3], TOLD[2], TOLD[3]], "Thank you.")
    assert claims() == ["My cat is called Felix.", "My bird is called Pip."]


def test_the_facts_of_a_message_keep_their_order(say: Say) -> None:
    say([{"role": "user", "content": "My dog is called Rex. My cat is called Felix."}, TOLD[3]], "Thank you.")
    assert claims() == ["My dog is called Rex.", "My cat is called Felix."]


def test_the_newest_facts_fit_under_the_cap(say: Say, settings: Settings) -> None:
    settings.MRPVM_MAX_SESSION_UNITS = 1
    conversation = list(TOLD)
    assert "Felix" in say(conversation, "What is my cat called?")
    assert claims() == ["My cat is called Felix."]
    assert Session.objects.get().unit_count == 1


def test_a_correction_in_the_history_counts(say: Say) -> None:
    changed = [*TOLD, {"role": "user", "content": "Sorry, my dog is called Max, not Rex."}, TOLD[3]]
    assert "Max" in say(changed, "What is my dog called?")


def test_a_fork_knows_what_was_told_up_to_its_message(say: Say) -> None:
    say(list(TOLD), "Thank you.")
    fork = fork_session(Session.objects.get(), 2, "edited")
    assert claims(fork) == ["My dog is called Rex."]


@pytest.mark.rule("SESSION-37")
@pytest.mark.parametrize("long", ["My bird is called Pip. ", "x" * 3_000])
def test_only_the_newest_messages_are_read_and_that_is_said(editor: Caller, settings: Settings, long: str) -> None:
    settings.MRPVM_MAX_HISTORY_CHARS = 500
    history = [{"role": "user", "content": long * 40}, *TOLD]
    body = {"model": "mrpvm", "messages": [*history, DOG]}
    answer = editor.post("/v1/chat/completions", body).json()
    assert answer["warnings"] == ["history_partly_read"]
    assert "Rex" in answer["choices"][0]["message"]["content"]
    native = editor.post("/api/chat/completions", {"messages": [DOG], "conversationHistory": history}).json()
    assert native["warnings"] == ["history_partly_read"]
    assert claims() == ["My dog is called Rex.", "My cat is called Felix."] * 2


@pytest.mark.parametrize("place", ["previous_response_id", "conversation"])
def test_earlier_messages_of_a_continued_answer_are_unread(editor: Caller, place: str) -> None:
    first = editor.post("/v1/responses", {"model": "mrpvm", "input": "Hello."}).json()
    reference = first["id"] if place == "previous_response_id" else first["conversation"]["id"]
    body = {"model": "mrpvm", place: reference}
    unread = editor.post("/v1/responses", {**body, "input": [TOLD[0], DOG]}).json()
    assert unread["warnings"] == ["history_partly_read"]
    assert claims() == []
    tool = {"type": "function_call_output", "call_id": "call-1", "output": "7 degrees"}
    assert editor.post("/v1/responses", {**body, "input": [tool, DOG]}).json()["warnings"] == []


@pytest.mark.parametrize("previous", [5, {}, ["resp-1"], None])
def test_a_previous_response_that_is_no_text_counts_as_absent(editor: Caller, previous: object) -> None:
    body = {"model": "mrpvm", "input": TOLD[0]["content"], "previous_response_id": previous}
    assert editor.post("/v1/responses", body).json()["previous_response_id"] is None
    assert claims() == ["My dog is called Rex."]


def test_a_project_that_redacts_learns_no_secret(say: Say, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redacts_conversations=True)
    say([{"role": "user", "content": f"My password is {SECRET}."}, TOLD[3]], "Thank you.")
    assert claims() == ["My password is [REDACTED]"]

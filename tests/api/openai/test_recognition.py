"""Clients that send the whole conversation without a session id: it is recognized, forked, imported or kept apart."""

from collections.abc import Callable

import openai
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from openai import OpenAI

from sessions_app.actions.sessions.session import delete_session
from sessions_app.models import ApiKey, ContextUnit, ConversationPoint, ExplainabilityTurn, Session
from tests.api.conftest import Caller
from tests.api.openai.conftest import key_of
from tests.api.test_models import acting
from tests.llm.provider import Provider
from tests.llm.provider import say as speak

Say = Callable[..., str]
Conversation = list[dict[str, str]]


def how() -> list[str]:
    """Return how each turn's session was found, in order."""
    return [turn.client_request["session"] for turn in ExplainabilityTurn.objects.order_by("pk")]


@pytest.mark.rule("DECISION-17")
def test_a_conversation_is_found_again(say: Say) -> None:
    conversation: Conversation = [{"role": "system", "content": "It is Monday."}]
    say(conversation, "My dog is called Rex.")
    say(conversation, "My cat is called Tom.")
    conversation[0]["content"] = "It is Tuesday."
    assert "Rex" in say(conversation, "What is my dog called?")
    session = Session.objects.get()
    assert how() == ["new", "recognised", "recognised"]
    assert session.messages.count() == 6
    assert session.system_prompt == "It is Tuesday."


def test_an_edited_message_becomes_a_fork_and_nothing_is_lost(say: Say) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    before = list(conversation)
    say(conversation, "My cat is called Tom.")
    edited = list(before)
    say(edited, "My cat is called Felix.")
    assert "Felix" in say(edited, "What is my cat called?")
    assert "Rex" in say(edited, "What is my dog called?")
    assert "Tom" in say(conversation, "What is my cat called?")
    first, fork = Session.objects.order_by("pk")
    assert how() == ["new", "recognised", "forked", "recognised", "recognised", "recognised"]
    assert (fork.forked_from, fork.forked_at, fork.fork_reason) == (first, 2, "edited")
    assert [message.content for message in first.messages.all()] == [item["content"] for item in conversation]
    assert [message.content for message in fork.messages.all()] == [item["content"] for item in edited]
    assert not ContextUnit.objects.filter(session=fork, claim__contains="Tom").exists()


def test_each_regeneration_forks_and_the_newest_goes_on(say: Say) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    before = list(conversation)
    for _ in range(3):
        conversation = list(before)
        say(conversation, "What is my dog called?")
    say(conversation, "Thank you.")
    assert how() == ["new", "recognised", "forked", "forked", "recognised"]
    assert Session.objects.count() == 3
    assert ExplainabilityTurn.objects.latest("pk").session == Session.objects.latest("pk")


@pytest.mark.rule("DECISION-31")
def test_an_unknown_history_is_taken_over(say: Say, sdk: OpenAI) -> None:
    conversation: Conversation = [
        {"role": "user", "content": "My dog is called Rex."},
        {"role": "assistant", "content": "Noted."},
    ]
    say(conversation, "My cat is called Tom.")
    say(conversation, "What is my cat called?")
    session = Session.objects.get()
    assert how() == ["imported", "recognised"]
    assert [message.content for message in session.messages.all()] == [item["content"] for item in conversation]


@pytest.mark.rule("DECISION-31")
def test_equal_beginnings_by_one_key_share_no_session(say: Say) -> None:
    people: list[Conversation] = [[], []]
    for conversation in people:
        say(conversation, "Good morning.")
    say(people[0], "My name is Alice and my dog is called Rex.")
    say(people[1], "My name is Bob and my dog is called Hasso.")
    answers = [say(conversation, "What is my dog called?") for conversation in people]
    assert "Rex" in answers[0]
    assert "Hasso" in answers[1]
    assert "Hasso" not in answers[0]
    warned = [turn.client_request["warnings"] for turn in ExplainabilityTurn.objects.order_by("pk")]
    assert warned == [[], [], ["conversation_ambiguous"], ["conversation_ambiguous"], [], []]
    for session in Session.objects.all():
        said = " ".join(message.content for message in session.messages.all())
        assert not ("Alice" in said and "Bob" in said)


def test_whose_session_was_deleted_is_not_led_into_anothers(say: Say) -> None:
    people: list[Conversation] = [[], []]
    for conversation in people:
        say(conversation, "Good morning.")
    delete_session(Session.objects.latest("pk"))
    say(people[0], "My dog is called Rex.")
    assert "Rex" not in say(people[1], "What is my dog called?")


STEPS = st.lists(
    st.tuples(st.sampled_from((0, 1)), st.sampled_from(("Hello.", "Well then.", "And now?")), st.booleans()),
    min_size=2, max_size=9,
)  # fmt: skip


@given(steps=STEPS)
@examples(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_two_people_never_share_a_session_in_any_order(editor: Caller, steps: list[tuple[int, str, bool]]) -> None:
    """Each person's conversations stay separate, with one key, equal words, and new conversations now and then."""
    ConversationPoint.objects.all().delete()
    conversations: list[Conversation] = [[], []]
    sessions: list[set[str]] = [set(), set()]
    for person, text, begins_anew in steps:
        said = conversations[person] = [] if begins_anew else conversations[person]
        said.append({"role": "user", "content": text})
        answer = editor.post("/v1/chat/completions", {"model": "mrpvm", "messages": said})
        assert answer.status_code == 200
        said.append({"role": "assistant", "content": answer.json()["choices"][0]["message"]["content"]})
        sessions[person].add(answer.json()["session_id"])
        assert not sessions[0] & sessions[1]


@pytest.mark.parametrize("name", ["user", "safety_identifier"])
def test_the_clients_own_name_for_its_user_keeps_people_apart(say: Say, name: str) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.", **{name: "alice"})
    say(list(conversation), "What is my dog called?", **{name: "bob"})
    say(list(conversation), "What is my dog called?", **{name: "alice"})
    assert how() == ["new", "imported", "recognised"]


def test_another_key_is_another_caller(say: Say, sdk: OpenAI, caller: Callable[..., Caller]) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    other = sdk.with_options(api_key=key_of(caller("editor")))
    other.chat.completions.create(model="mrpvm", messages=[*conversation, {"role": "user", "content": "Well?"}])
    assert ApiKey.objects.count() == 2
    assert how() == ["new", "imported"]


@pytest.mark.rule("DECISION-31")
def test_texts_are_compared_in_nfc_and_stripped(say: Say) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Ren\u00e9.")
    conversation[0]["content"] = " My dog is called Rene\u0301.\n"
    conversation[1] = {"role": "assistant", "content": [{"type": "text", "text": conversation[1]["content"] + " "}]}  # type: ignore[dict-item]
    say(conversation, "What is my dog called?")
    assert how() == ["new", "recognised"]


@pytest.mark.rule("DECISION-42")
def test_header_and_field_override_recognition(say: Say) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    say(list(conversation), "And my cat is called Tom.", extra_headers={"X-Session-Id": "mine"})
    say(list(conversation), "And my bird is called Pip.", extra_body={"session_id": "mine"})
    assert how() == ["new", "named", "named"]
    mine = Session.objects.get(session_id="mine")
    assert [item["content"] for item in conversation[:2]] == [item.content for item in mine.messages.all()[:2]]
    assert mine.messages.count() == 6
    assert ConversationPoint.objects.filter(session=mine).count() == 0


@pytest.mark.rule("DECISION-42")
def test_an_unknown_id_of_ours_is_never_silently_new(say: Say) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        say([], "Hello", extra_headers={"X-Session-Id": "sess-" + "0" * 32})
    assert raised.value.code == "SESSION_NOT_FOUND"


@pytest.mark.rule("DECISION-43")
def test_an_expired_session_goes_on_in_a_fork_of_its_transcript(say: Say, sdk: OpenAI) -> None:
    """The answer has a warning and no error; the expired session is not changed."""
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    archive = Session.objects.get()
    Session.objects.update(expired_at=timezone.now())
    assert "Rex" in say(conversation, "What is my dog called?")
    assert "Rex" in say(conversation, "What is my dog called?")
    late = sdk.chat.completions.create(
        model="mrpvm", messages=[{"role": "user", "content": "What is my dog called?"}],
        extra_headers={"X-Session-Id": archive.session_id},
    )  # fmt: skip
    assert "Rex" in (late.choices[0].message.content or "")
    assert late.model_extra
    assert late.model_extra["warnings"] == ["session_expired_restarted"]
    fork = Session.objects.exclude(pk=archive.pk).get()
    assert (fork.forked_from, fork.fork_reason) == (archive, "expired")
    assert late.model_extra["session_id"] == fork.session_id
    assert archive.messages.count() == 2
    assert how() == ["new", "restarted", "recognised", "named"]


def test_a_failed_turn_leaves_the_conversation_where_it_was(say: Say) -> None:
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    with pytest.raises(openai.BadRequestError):
        say(list(conversation), " ")
    say(conversation, "What is my dog called?")
    assert how() == ["new", "recognised"]


@pytest.mark.rule("DECISION-31")
def test_a_slash_is_a_command_only_where_the_client_says_so(say: Say) -> None:
    """A conversation with commands is recognized too, although they are not part of its history."""
    headers = {"X-Commands": "on"}
    conversation: Conversation = []
    say(conversation, "My dog is called Rex.")
    said = say(list(conversation), "/skills")
    assert ExplainabilityTurn.objects.latest("pk").kind == "chat"
    listed = say(conversation, "/style focus", extra_headers=headers)
    assert listed == "Session style set to 'focus'."
    assert said != listed
    assert "Rex" in say(conversation, "What is my dog called?", extra_headers=headers)
    last = ExplainabilityTurn.objects.latest("pk")
    assert last.client_request["session"] == "recognised"
    assert "/style focus" not in [message.content for message in last.session.messages.all()]


def test_a_conversation_is_found_again_after_a_skill(provider: Provider, say: Say) -> None:
    """The client's history holds the command as it was typed, the session the message without the command."""
    provider.otherwise = acting(speak("The ferry leaves at nine."))
    headers = {"X-Commands": "on"}
    conversation: Conversation = []
    say(conversation, "/summarise The ferry leaves at nine.", extra_headers=headers)
    say(conversation, "My dog is called Rex.", extra_headers=headers)
    assert how() == ["new", "recognised"]

"""Speakers of statements, the meaning of their pronouns, and retractions."""

import pytest

from mrpvm.conversation.answers import NO_CONTEXT_TEXT, answer_text
from mrpvm.english.messages.small_talk import REPLIES
from tests.plugins.conversation import Conversation

TALK = (
    "Ida: I keep the key. It is blue.\nNils: Where is the rope?\nIda: The rope is in the barn.\n"
    "Nils: My sister Runa comes at seven.\nIda: I need eight eggs.\nIda: Sorry, I need nine eggs, not eight."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who keeps the key?", "Ida: I keep the key. [1]"),
        ("Does Nils keep the key?", None),
        ("Where is the rope?", "Ida: The rope is in the barn. [1]"),
        ("What is Nils's sister called?", "Nils: My sister Runa comes at seven. [1]"),
        ("What is Ida's sister called?", None),
        ("What is my sister called?", None),
        ("How many eggs does Ida need?", "Ida: Sorry, I need nine eggs, not eight. [1]"),
    ],
)
def test_speakers_of_a_dialogue(question: str, answer: str | None) -> None:
    assert Conversation(TALK).ask(question) == answer


def test_a_correction_takes_back_what_the_same_voice_said() -> None:
    talk = Conversation("My dog is called Rex.", "Actually, my dog is called Max.")
    assert talk.ask("What is my dog called?") == "Actually, my dog is called Max. [1]"
    assert talk.ask("Is my dog called Rex?") == "No. Actually, my dog is called Max. [1]"


def test_a_correction_leaves_other_things_alone() -> None:
    talk = Conversation("My cat is called Tom.", "Actually, my dog is called Max.")
    assert talk.ask("What is my cat called?") == "My cat is called Tom. [1]"


def test_two_sources_do_not_correct_each_other() -> None:
    talk = Conversation(
        "According to the first report, the camp was on the north shore. "
        "According to the second report, the camp was on the south shore."
    )
    assert talk.ask("Where was the camp?") is None
    assert talk.ask("According to the second report, where was the camp?") == (
        "According to the second report, the camp was on the south shore. [1]"
    )


def test_what_holds_no_longer_is_no_answer() -> None:
    talk = Conversation("The shop is on Rose Street.", "The shop is no longer on Rose Street.")
    assert talk.ask("Where is the shop?") is None


def test_plain_contradictions_decide_nothing() -> None:
    talk = Conversation("The guard was asleep.", "The guard was not asleep.")
    assert talk.ask("Was the guard asleep?") is None


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("Anna lives in Bern. In spring she bought a boat.", "Who bought a boat?", "Anna"),
        ("Anna lives in Bern. The baker gave her a cake.", "What did the baker give Anna?", "cake"),
        ("The rent includes water but does not include power.", "Does the rent include power?", "No."),
        ("The rent includes water but does not include power.", "Does the rent include water?", "Yes."),
        ("Visitors may climb the tower, but they may not touch the lamp.", "May visitors touch the lamp?", "No."),
        ("Anna ran home because she did not like the rain.", "Why did Anna run home?", "because"),
        ("If the light blinks, the paper is torn.", "What does it mean if the light blinks?", "torn"),
        ("Before you move it, remove the roll.", "What should I remove before I move it?", "roll"),
        ("Known faults:\n- The clock is slow.\n- The lid jams.", "List the known faults.", "- The lid jams."),
        ("Disputes are decided by the court of Bern.", "Which court decides disputes?", "Bern"),
        ("Anna bought cork, wine and figs.", "Did Anna buy wine?", "Yes."),
        ("The train from Lund arrives at nine.", "When does the train arrive?", "nine"),
    ],
)
def test_what_is_meant(told: str, question: str, said: str) -> None:
    assert said in (Conversation(told).ask(question) or "")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("The mill was sold to a brewery.", "Was the brewery sold to the mill?"),
        ("The mill was sold to a brewery.", "Was the brewery sold?"),
        ("Anna teaches. She taught her two sons.", "Who taught Anna?"),
        ("The museum wrote in 1950: The team found seven graves.", "How many graves did the museum find?"),
        ("The fee is reviewed every two years.", "Is the fee reviewed every year?"),
        ("Anna lent Ben money because the bank refused.", "Why did Ben lend Anna money?"),
        ("The Provider is liable for damage.", "Who is the Provider?"),
        ("The contract is between A and the Customer.", "What must the Customer do?"),
        ("Before you move it, remove the roll.", "What should I remove after I move it?"),
    ],
)
def test_what_is_not_meant(told: str, question: str) -> None:
    assert Conversation(told).ask(question) is None


@pytest.mark.parametrize(
    "message", ["Hello", "Thanks a lot!", "Good morning", "ok", "Bye", "How are you?", "Nice!", "Maybe"]
)
def test_small_talk_gets_a_civil_word(message: str) -> None:
    answer = Conversation().say(message)
    assert answer.status == "no-context"
    assert answer_text(answer) != NO_CONTEXT_TEXT
    assert len(answer_text(answer)) < 160


@pytest.mark.parametrize(
    "message",
    ["huh", "Huh?", "hm", "Hmm.", "what?", "What??", "eh?", "Pardon?", "sorry?", "Come again?", "What do you mean?",
     "I don't understand."],
)  # fmt: skip
def test_who_did_not_understand_is_told_what_to_do(message: str) -> None:
    for conversation in (Conversation(), Conversation("My dog is called Rex.")):
        answer = conversation.say(message)
        assert (answer.status, answer_text(answer)) == ("no-context", REPLIES["puzzled"])


@pytest.mark.parametrize("message", ["Sorry", "What a day!", "What is my dog called?", "what about Rex?"])
def test_other_messages_are_not_taken_for_puzzlement(message: str) -> None:
    assert answer_text(Conversation("My dog is called Rex.").say(message)) != REPLIES["puzzled"]


def test_an_instruction_alone_is_understood() -> None:
    assert answer_text(Conversation().say("From now on answer in one word.")) == "Understood."

"""Facts told in messages and asked for in other words, and questions that no message answers."""

import pytest

from tests.plugins.conversation import Conversation

ANSWERED = [
    ("I'm on 5 mg of amlodipine for the blood pressure.", "How much amlodipine am I on?"),
    ("Lucinda does our accounting.", "Who does our accounting?"),
    ("I'm learning Swahili these days.", "Which language am I learning?"),
    ("I can't take penicillin, it gives me a rash.", "Which medicine can't I take?"),
    ("My wife Ngozi teaches chemistry at a school in Surulere.", "What subject does my wife teach?"),
    ("My running shoes are size 43.", "What size are my running shoes?"),
    ("My locker at the pool is number 118.", "What's my locker number?"),
    ("Mam's been moved to Ward 4 in Ysbyty Gwynedd after her fall.", "What ward is Mam on?"),
    ("Our head office is in Helsinki.", "In which city is our head office?"),
    ("The generator, a 5 kVA Sumec, was bought for \u20a6620,000.", "How much was the generator bought for?"),
    ("The fare to Kumasi is 90 cedis.", "How much is the fare to Kumasi?"),
    ("Derek's allergic to shellfish.", "What is Derek allergic to?"),
    ("The optician's on Kirkgate.", "Where is the optician?"),
    ("my thermodynamics exam is on may 4.", "When's my thermodynamics exam?"),
]
REFUSED = [
    ("The kettle came from Argos.", "How much was the kettle?"),
    ("Anna's brother lives in Rome.", "Where does Anna live?"),
    ("The man who sold the boat lives in Rome.", "Where does the boat live?"),
    ("Imber sold the inn to Ruiz.", "Who did Ruiz sell the inn to?"),
    ("Harold was born in 1943.", "When was I born?"),
    ("The lower field was reseeded in April.", "Who reseeded the lower field?"),
    ("The old Dell has gone to my daughter, the ThinkPad has 64 gigs.", "How many gigs does the Dell have?"),
    ("Backups are taken every six hours.", "How long do we keep the backups?"),
    ("Kev might buy the old servo in Lang Lang.", "Where did Kev buy the old servo?"),
    ("I worked in Riyadh for six years.", "Where did I work before Riyadh?"),
]


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(("told", "question"), ANSWERED)
def test_a_fact_that_names_all_that_is_asked_is_stated(told: str, question: str) -> None:
    assert Conversation(told).ask(question) == f"{told} [1]"


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(("told", "question"), REFUSED)
def test_a_fact_of_something_else_is_not_stated(told: str, question: str) -> None:
    assert Conversation(told).ask(question) is None


def test_the_reason_says_that_all_words_are_named() -> None:
    answer = Conversation("Lucinda does our accounting.").say("Who does our accounting?")
    assert answer.groups[0].reason == "the cited sentence names all that is asked"


def test_of_two_such_facts_the_scorer_quotes() -> None:
    talk = Conversation("Lucinda does our accounting.", "Bruno does our accounting.")
    assert talk.ask("Who does our accounting?") is None


def test_a_later_message_without_a_value_is_not_passed_over() -> None:
    talk = Conversation("The spare key is under the flowerpot.", "I gave the spare key to Mrs Dawson next door.")
    assert talk.ask("Where can I find the spare key?") is None


def test_who_is_named_otherwise_is_quoted() -> None:
    answer = Conversation("Mummy runs a tailoring shop from home.").say("What does my mother do?")
    assert answer.groups[0].basis == "quoted"
    assert "Mummy runs a tailoring shop from home. [1]" in answer.groups[0].answer_markdown

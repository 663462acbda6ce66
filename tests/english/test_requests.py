"""Requests for an answer of several sentences: their kind and topic, in whatever words."""

import pytest

from mrpvm.english.messages.kinds import kind_of
from mrpvm.english.questions.requests import request_of, senses_of


@pytest.mark.parametrize(
    ("message", "kind", "topic"),
    [
        ("How come the bell cracked?", "reason", "bell crack"),
        ("What led to the fire?", "reason", "fire"),
        ("I need an executive summary of the bridge survey for my boss by noon", "summary", "bridge survey"),
        ("need the cliff notes for the onboarding course", "summary", "onboarding course"),
        ("what's the takeaway from the solar trial", "summary", "solar trial"),
        ("Could you give me the highlights?", "summary", ""),
        ("similarities and differences: wolves, jackals, coyotes", "comparison", "wolves jackals coyotes"),
        ("what do the Roman and Greek temples have in common", "comparison", "Roman Greek temple"),
        ("in what order did the guests leave", "chain", "guest leave"),
        ("milestones of the Tessa lamp", "chain", "Tessa lamp"),
        ("What's to blame for the brown spots?", "reason", "brown spot"),
        ("bio of Dr Lindqvist", "account", "Dr Lindqvist"),
        ("Provide a numbered procedure for closing the till", "steps", "close till"),
        ("The workings of the points system please", "manner", "point system"),
    ],
)
def test_a_request_is_recognised(message: str, kind: str, topic: str) -> None:
    request = request_of(message)
    assert request is not None
    assert (request.kind, request.wanted) == (kind, senses_of(topic))


@pytest.mark.parametrize(
    "message",
    ["How many expansion stages are used?", "What do all these models have in common?", "Where is the fuse box?",
     "Antigens bind to what in order to elicit a response?", "How long is the summary?", "Who was at the trial?",
     "In the process of vaccination, what is introduced in order to develop immunity?"],
)  # fmt: skip
def test_a_question_for_a_fact_is_no_request(message: str) -> None:
    request = request_of(message)
    assert request is None


@pytest.mark.parametrize(
    "message",
    ["Summary of the report, for my boss", "Boil this tale down to a few sentences please.",
     "pros and cons of trains vs buses", "Instructions for setting up the tent pls",
     "Provide a half-page digest of the complaints", "Write me a blurb-length summary of Night Train",
     "chronology of the illness", "Discuss the teacher and the priest as opposites."],
)  # fmt: skip
def test_a_message_without_a_question_may_request(message: str) -> None:
    assert kind_of(message, is_alone=True) == "task"


@pytest.mark.parametrize(
    ("message", "kind"),
    [("list price for the crates is 14.20", "statement"), ("The summary is on page 2.", "statement"),
     ("I compared both phones yesterday.", "statement"), ("My list is finished.", "statement"),
     ("Set list: Jolene, Valerie, Zombie", "statement"), ("Everything arrived on Monday.", "statement"),
     ("Directions to the farm are on the website.", "statement"), ("Key points: budget, staff", "statement"),
     ("Recipe: 200 g flour, 2 eggs", "statement"), ("I need more of the blue paint.", "statement"),
     ("We need directions for the caterer by Friday", "statement"), ("I like the overview of the lake", "statement"),
     ("Unlike Tom, I like tea.", "statement"), ("Rank: sergeant", "statement"),
     ("Cause of the fire was an old toaster", "statement"), ("No history of allergies", "statement"),
     ("make a packing list for Bergen", "order"),
     ("Write a poem about the history of ships", "order"), ("put the dentist on my list for friday", "order"),
     ("Could you shorten this to 100 words?", "order"), ("sort these by date: 3 may, 17 april", "order")],
)  # fmt: skip
def test_a_message_with_such_a_word_may_not_request(message: str, kind: str) -> None:
    assert kind_of(message, is_alone=True) == kind

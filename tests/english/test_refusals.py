"""The reply to a question that no statement answers."""

import re

import pytest

from bench.evaluation.session import EvaluatedSession
from mrpvm.values import AnswerGroup

HANDBOOK = (
    "New employees are on probation for three months. Machines are hired out against a deposit of 50 pounds, which is "
    "returned when the machine comes back clean. Spare parts are ordered on Tuesdays from the warehouse in Gateshead "
    "and usually arrive on Thursday. The Alnwick shop opens at eight on weekdays and closes at half past five."
)


def _answered(told: str, question: str) -> AnswerGroup:
    with EvaluatedSession() as session:
        session.load(told, "told.txt")
        outcome = session.say(question)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    return group


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("Anna lives in Rome.", "Where did Anna live in 2019?", "does not name 2019"),
        ("Anna lives in Rome.", "Who sold the mill?", "no sentence was given"),
        ("Anna lives in Rome.", "Where does Anna live?", "a clause of the cited sentence"),
        ("Anna lives in Rome.", "Where does she live?", "nothing said before tells who or what the question means"),
    ],
)
def test_an_answer_and_a_refusal_say_what_decided(told: str, question: str, said: str) -> None:
    assert said in _answered(told, question).reason


@pytest.mark.parametrize(
    "question",
    [
        "Who founded the shop in Alnwick?",
        "How many machines did Gateshead order in 2019?",
        "How long may employees keep a machine?",
        "How much does a clean machine from Gateshead weigh?",
    ],
)
def test_refusal_names_what_the_shown_passage_lacks(question: str) -> None:
    group = _answered(HANDBOOK, question)
    assert group.basis == "quoted"
    if missed := re.search(r"does not name ([^;]+)", group.reason):
        words = missed[1].split(", ")
        assert not [word for word in words if word in group.answer_markdown.lower()]
        assert not {"many", "much", "long"} & set(words)


def test_passage_shows_what_its_text_says_in_other_words() -> None:
    told = "The museum stands in the old town of Ellesby. It was founded in 1974 by Edith Harrow, a retired watchmaker."
    group = _answered(told, "Who established the museum?")
    assert group.basis == "quoted"
    assert "The museum stands" in group.answer_markdown
    assert "Edith Harrow" in group.answer_markdown


def test_passage_of_a_text_that_shares_nothing_is_not_shown() -> None:
    told = "The museum stands in the old town of Ellesby. It was founded in 1974 by Edith Harrow, a retired watchmaker."
    assert _answered(told, "Who wrote the opera?").basis == "none"


@pytest.mark.parametrize(
    "told",
    [
        "We have a shop in Gateshead. The Alnwick shop opens at nine.",
        "The firm also has a warehouse in Gateshead. The shop opens at nine.",
    ],
)
def test_what_is_said_of_another_one_of_a_kind_is_not_stated(told: str) -> None:
    assert _answered(told, "When does the shop in Gateshead open?").basis == "quoted"


def test_place_named_with_a_thing_before_holds_for_it() -> None:
    group = _answered("We have a shop in Gateshead. The shop opens at nine.", "When does the shop in Gateshead open?")
    assert (group.basis, group.answer_markdown) == ("stated", "The shop opens at nine. [1]")

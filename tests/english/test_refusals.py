"""What is told of a question that no statement answers."""

import pytest

from bench.evaluation.session import EvaluatedSession


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("Anna lives in Rome.", "Where did Anna live in 2019?", "does not name 2019"),
        ("Anna lives in Rome.", "Who sold the mill?", "no sentence was given"),
        ("Anna lives in Rome.", "Where does Anna live?", "a clause of the cited sentence"),
    ],
)
def test_an_answer_and_a_refusal_say_what_decided(told: str, question: str, said: str) -> None:
    with EvaluatedSession() as session:
        session.load(told, "told.txt")
        outcome = session.say(question)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    assert said in group.reason

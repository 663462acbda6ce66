"""Elliptical questions, which name only what is new: their meaning, and messages that are none."""

import pytest

from mrpvm.english.context.ellipsis import asked_again, compared_with_names
from mrpvm.values import HistoryMessage


def after(message: str, *said: str) -> str | None:
    """Return the question that a message asks after the sender's earlier ones."""
    return asked_again(message, [HistoryMessage(role="user", content=text) for text in said])


@pytest.mark.parametrize(
    ("question", "message", "asked"),
    [
        ("Where does Anna work?", "And Maria?", "Where does Maria work?"),
        ("Where does Anna work?", "Maria?", "Where does Maria work?"),
        ("What is the capital of France?", "and of Spain?", "What is the capital of Spain?"),
        ("When does the red bus leave?", "What about the blue one?", "When does the blue bus leave?"),
        ("Where does my sister live?", "And my brother?", "Where does my brother live?"),
        ("When is the market open on Sunday?", "And on Monday?", "When is the market open on Monday?"),
        ("Does Anna like tea?", "How about coffee?", "Does Anna like coffee?"),
        ("When does it meet?", "And the red team?", "When does the red team meet?"),
        ("When does the blue team meet?", "No, I meant the red one.", "When does the red team meet?"),
        ("Where does Anna work?", "i mean Maria", "Where does Maria work?"),
        ("Where does she live?", "And Ben?", "Where does Ben live?"),
        ("Who helps him on Monday?", "And on Friday?", "Who helps him on Friday?"),
        ("What is the population of Leeds?", "What about in 1990?", "What is the population of Leeds in 1990?"),
    ],
)
def test_the_last_question_is_asked_of_something_new(question: str, message: str, asked: str) -> None:
    assert after(message, question) == asked
    assert after(message, "Something else is told first.", question) == asked


@pytest.mark.parametrize(
    ("question", "message", "asked"),
    [
        ("When does the red bus leave?", "From which platform?", "From which platform does the red bus leave?"),
        ("Where does Karl live?", "With whom?", "With whom does Karl live?"),
        ("Which city does the train go to?", "and at what time", "at what time does the train go?"),
        ("When do we move?", "Where to?", "Where do we move to?"),
        ("Where does the train go to?", "Where from?", "Where does the train go from?"),
        ("Where does Karl live?", "Who with?", "Who does Karl live with?"),
        ("Where is the market?", "When?", "When is the market?"),
        ("Does Anna work here?", "Since when?", "Since when does Anna work here?"),
        ("Who works here?", "Since when?", None),
        ("Where does Karl live?", "Who?", None),
        ("Where does Karl live?", "Which ones?", None),
    ],
)
def test_a_circumstance_is_asked_of_the_last_question(question: str, message: str, asked: str | None) -> None:
    assert after(message, question) == asked


def test_one_after_another_is_asked_the_same() -> None:
    assert after("And Ben?", "Where does Anna work?", "And Maria?") == "Where does Ben work?"


@pytest.mark.parametrize("between", [("And Maria?",), ("And Maria?", "Yes"), ("The second one.", "And Maria?", "Ok")])
def test_the_same_again_is_the_same_question(between: tuple[str, ...]) -> None:
    assert after("And Maria?", "Where does Anna work?", *between) == "Where does Maria work?"


@pytest.mark.parametrize(
    "message",
    [
        "And now?",
        "And why?",
        "And where does Maria live?",
        "Maria works in Turin.",
        "Thanks",
    ],
)
def test_what_asks_by_itself_or_nothing_stays(message: str) -> None:
    assert after(message, "Where does Anna work?") is None


def test_after_a_statement_nothing_is_asked_again() -> None:
    assert after("And Maria?", "Anna works in Leeds.") is None
    assert after("And Maria?") is None


@pytest.mark.parametrize(
    ("request_", "said", "asked"),
    [
        ("Compare them.", ["Who are Ada and Bob?"], "Compare Ada and Bob."),
        ("Compare them.", ["Tell me about the old boat and the new boat.", "Thanks."],
         "Compare the old boat and the new boat."),
        ("How do they differ?", ["What do the red team and the green team do?"],
         "How do the red team and the green team differ?"),
        ("What is the difference between the two?", ["I met Ada and Bob."],
         "What is the difference between Ada and Bob?"),
        ("Compare them.", ["Who is Ada?"], "Compare them."),
        ("Compare Ada and Cem.", ["Who are Ada and Bob?"], "Compare Ada and Cem."),
        ("Tell me about them.", ["Who are Ada and Bob?"], "Tell me about them."),
    ],
)  # fmt: skip
def test_what_is_compared_is_what_was_named_together_last(request_: str, said: list[str], asked: str) -> None:
    assert compared_with_names(request_, said) == asked

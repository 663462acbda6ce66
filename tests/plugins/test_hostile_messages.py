"""Hostile messages: the number of operations for one message is limited, whatever it contains."""

from collections import Counter

import pytest

from bench.evaluation.session import EvaluatedSession
from mrpvm.english.context import corrections
from mrpvm.english.questions import naming
from mrpvm.english.sentences import statements
from mrpvm.plugins.goal_solvers.symbolic import answering
from mrpvm.plugins.seed_detectors.symbolic.segmentation import REQUESTS_MAX

CHARS_MAX = 8_000
QUESTIONS = "\n".join(f"{place}. Who owns house {place}?" for place in range(1, 401))[:CHARS_MAX]
JOINED = ("What is " + " and what is ".join(["the red dog"] * 400))[: CHARS_MAX - 1] + "?"
CLAUSES = " and ".join(["the dog ran home"] * 500)[:CHARS_MAX]
CHANGES = " ".join(f"I now live in Rome{place}." for place in range(1_000))[:CHARS_MAX]


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count parsed sentences, judged questions, pairs compared for corrections, and clauses whose words are read."""
    counts: Counter[str] = Counter()
    for module, name in (
        (statements, "voiced"),
        (answering, "framed_answer"),
        (corrections, "_corrects"),
        (naming, "_senses_within"),
    ):
        plain = getattr(module, name)

        def counted(*args: object, name: str = name, plain: object = plain) -> object:
            counts[name] += 1
            return plain(*args)  # type: ignore[operator]

        monkeypatch.setattr(module, name, counted)
    return counts


@pytest.mark.parametrize("message", [QUESTIONS, JOINED], ids=["numbered", "joined"])
def test_a_turn_answers_so_many_questions_and_says_so(message: str, operations: Counter[str]) -> None:
    with EvaluatedSession() as session:
        session.say("Anna owns house 7.")
        outcome = session.say(message)
    assert outcome.answer is not None
    assert len(outcome.answer.groups) == REQUESTS_MAX + 1
    asked = outcome.answer.groups[-1].answer_markdown
    assert asked.startswith(f"I answered the first {REQUESTS_MAX} of ")
    assert outcome.answer_text.count(asked) == 1
    assert operations["framed_answer"] <= 2 * REQUESTS_MAX


def test_twenty_questions_are_answered_without_a_note() -> None:
    message = "\n".join(f"{place}. Who owns house {place}?" for place in range(1, REQUESTS_MAX + 1))
    with EvaluatedSession() as session:
        session.say("Anna owns house 7.")
        outcome = session.say(message)
    assert outcome.answer is not None
    assert len(outcome.answer.groups) == REQUESTS_MAX
    assert "Anna owns house 7." in outcome.answer_text


@pytest.mark.parametrize("message", [CLAUSES, CHANGES], ids=["one sentence", "many changes"])
def test_what_a_message_tells_is_read_once_a_sentence(message: str, operations: Counter[str]) -> None:
    with EvaluatedSession() as session:
        session.say(message)
        told = operations["voiced"]
        session.say("Where do I live?")
    assert told <= message.count(".") + 1
    assert operations["_corrects"] <= message.count(".") * corrections.CORRECTED_REACH


def test_a_sentence_of_hundreds_of_clauses_is_read_once(operations: Counter[str]) -> None:
    with EvaluatedSession() as session:
        session.say("My cat eats. My cat sleeps.")
        session.say("Where does my cat eat?")
        assert operations["_senses_within"] > 0
        session.say("My cat " + " and ".join(["eats the fish"] * 500) + ".")
        operations.clear()
        session.say("Where does my cat eat the fish?")
    assert operations["_senses_within"] == 0

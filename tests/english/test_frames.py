"""Clauses with their roles, what a question asks for, and that the parser accepts any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.english.questions.asking import query_of
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.words.lexicon import AUXILIARIES, DETERMINERS, PREPOSITIONS


def text_of(parsed: Sentence, phrase: Phrase | None) -> str:
    """Return a phrase and the members of its enumeration as they are written."""
    return " + ".join(parsed.text_of(item) for item in phrase.members) if phrase else ""


def roles(text: str) -> list[tuple[str, str, str, str]]:
    """Return the link, subject, verb and objects of every clause."""
    parsed = read(text)
    return [
        (item.link, text_of(parsed, item.subject), item.verb_text, ", ".join(text_of(parsed, o) for o in item.objects))
        for item in parsed.clauses
    ]


def main_clause(text: str) -> Clause:
    """Return the first clause that is part of no other."""
    return next(item for item in read(text).clauses if not item.link)


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The guard opened the gate and let the dog in.", [("", "The guard", "opened", "the gate"),
                                                          ("", "The guard", "let", "the dog")]),
        ("A guest who breaks a cup pays a fee.", [("", "A guest", "pays", "a fee"),
                                                 ("rel", "A guest", "breaks", "a cup")]),
        ("Her horse, the Comet, won a prize.", [("", "Her horse", "won", "a prize")]),
        ("Because it rained, Ida stayed at home.", [("", "Ida", "stayed", ""), ("because", "it", "rained", "")]),
        ("Close the valve before you start.", [("", "", "close", "the valve"), ("before", "you", "start", "")]),
        ("Frobnicate the lid.", [("", "", "frobnicate", "the lid")]),
        ("He bought apples, two pears and a melon.", [("", "He", "bought", "apples + two pears + a melon")]),
    ],
)  # fmt: skip
def test_clauses_have_their_roles(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert roles(text) == expected


def test_a_passive_tells_agent_and_patient() -> None:
    clause = main_clause("The bill was paid by the uncle.")
    assert clause.is_passive
    assert clause.agent is not None
    assert clause.agent.head_text == "uncle"
    assert [item.head_text for item in clause.patient] == ["bill"]


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(
    ("text", "wants", "gap"),
    [
        ("Who sold the mill?", "person", "subject"),
        ("Whom did Ida meet?", "person", "object"),
        ("How many geese did the farmer keep?", "count", "object"),
        ("How long does it take to dry the clay?", "duration", "object"),
        ("Which towns are flooded?", "chosen", "subject"),
        ("Where was the coin found?", "place", "object"),
        ("Is the shop open?", "verdict", "predicate"),
        ("To whom may a tenant complain?", "person", "object"),
    ],
)
def test_a_question_is_a_clause_with_a_gap(text: str, wants: str, gap: str) -> None:
    asked = query_of(text)
    assert asked is not None
    assert (asked.wants, asked.gap) == (wants, gap)


OTHERS = (
    "who what how many which that because if not and but Ida mill sells made opening open 7 two May am , ; ( ) : ? "
    "Ida's to as so up least"
)
WORDS = st.sampled_from([*sorted(DETERMINERS | PREPOSITIONS | AUXILIARIES), *OTHERS.split()])


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(WORDS, max_size=14).map(" ".join), st.text(max_size=60)))
def test_no_text_breaks_the_reader(text: str) -> None:
    parsed = read(text)
    assert all(item.verb for item in parsed.clauses)
    for skipped in range(3):
        query_of(text, skipped_verbs=skipped)


def test_a_number_before_a_last_and_is_read() -> None:
    assert [item.verb_text for item in read("Ida saw 7 and").clauses] == ["saw"]

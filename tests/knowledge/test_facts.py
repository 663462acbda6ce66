"""Symbolic facts [IN-13, IN-14]."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.knowledge.facts import Fact, fact_of
from mrpvm.values import RELATIONS


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The courier uses a drone.", Fact("The courier", "uses", "a drone")),
        ("Zed provides light!", Fact("Zed", "provides", "light")),
        ("The arm has the capability of lifting.", Fact("The arm", "has_capability", "lifting")),
        ("The pump depends on power.", Fact("The pump", "depends_on", "power")),
        ("The valve is part of the pump.", Fact("The valve", "part_of", "the pump")),
        ("Rex is an instance of dog.", Fact("Rex", "instance_of", "dog")),
        ("Salt helps with ice.", Fact("Salt", "relevant_for", "ice")),
        ("The grant enables research.", Fact("The grant", "supports", "research")),
        ("The report mentions Bern.", Fact("The report", "mentions", "Bern")),
        ("The book is about owls.", Fact("The book", "about", "owls")),
        ("Heat leads to stress.", Fact("Heat", "causes", "stress")),
    ],
)
def test_patterns(sentence: str, fact: Fact) -> None:
    assert fact_of(sentence) == fact


@pytest.mark.parametrize(
    "sentence",
    ["Who uses a drone?", "Explain what uses power.", "Zed uses Zed.", "If Zed uses Yod.", "Nobody uses it.",
     "Anna says Zed uses Yod.", "Birds fly south.", "uses", ""],
)  # fmt: skip
def test_what_states_no_fact(sentence: str) -> None:
    assert fact_of(sentence) is None


@given(st.text())
def test_facts_are_complete(text: str) -> None:
    fact = fact_of(text)
    if fact is not None:
        assert fact.subject
        assert fact.object
        assert fact.subject.lower() != fact.object.lower()
        assert fact.relation in RELATIONS

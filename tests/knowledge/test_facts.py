"""Symbolic facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.knowledge.facts import Fact, fact_of
from mrpvm.values import RELATIONS


@pytest.mark.rule("INGEST-13")
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
        ("Heat causes stress.", Fact("Heat", "causes", "stress")),
        ("Heat triggered stress.", Fact("Heat", "causes", "stress")),
        ("The grid supports trade.", Fact("The grid", "supports", "trade")),
        ("Salt is relevant for ice.", Fact("Salt", "relevant_for", "ice")),
        ("Salt is useful for ice.", Fact("Salt", "relevant_for", "ice")),
        ("The arm has capability lifting.", Fact("The arm", "has_capability", "lifting")),
        ("Rex is a instance of dog.", Fact("Rex", "instance_of", "dog")),
        ("Zed mentions that Yod uses light.", Fact("Zed", "mentions", "that Yod uses light")),
        ("Zed uses what Yod provides.", Fact("Zed", "uses", "what Yod provides")),
    ],
)
def test_patterns(sentence: str, fact: Fact) -> None:
    assert fact_of(sentence) == fact


@pytest.mark.rule("INGEST-14")
@pytest.mark.parametrize(
    "sentence",
    ["Who uses a drone?", "Explain what uses power.", "Zed uses Zed.", "If Zed uses Yod.", "Nobody uses it.",
     "Anna says Zed uses Yod.", "Birds fly south.", "uses", ""],
)  # fmt: skip
def test_what_states_no_fact(sentence: str) -> None:
    assert fact_of(sentence) is None


PHRASES = st.sampled_from(("The pump", "A drone", "Zed", "the red kettle"))


@pytest.mark.rule("UNIT-6", "INGEST-13")
@given(st.text(), PHRASES, st.sampled_from(("uses", "supports", "leads to", "mentions")), PHRASES)
def test_facts_are_complete(text: str, one: str, verb: str, other: str) -> None:
    told = fact_of(f"{one} {verb} {other}.")
    assert (told is None) == (one == other)
    for fact in filter(None, (told, fact_of(text), fact_of(f"{text} {verb} {other}."))):
        assert fact.subject
        assert fact.object
        assert fact.subject.lower() != fact.object.lower()
        assert fact.relation in RELATIONS

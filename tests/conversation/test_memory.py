"""The memories that a turn gets, and the facts that are extracted from messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.commands.remembered import (
    DOMAINS,
    EVIDENCE,
    PERSONA_CORE,
    RECALLED_CHARS,
    RECALLED_OF_DOMAIN,
    TASK,
    USER_PROFILE,
    WORKING_RULES,
    Remembered,
    recalled,
    user_facts_in,
)


def test_what_fits_best_is_told_two_of_each_domain() -> None:
    """The order is by domain, then by shared words, then by age; digits and short words are ignored."""
    newest_first = [
        Remembered(content="The attic is cold 12345."),
        Remembered(content="The key hangs left."),
        Remembered(content="The key of the shed hangs right."),
        Remembered(content="Task text.", domain=TASK),
        Remembered(content="Answer briefly.", domain=WORKING_RULES),
        Remembered(content="Be kind.", domain=PERSONA_CORE),
        Remembered(content="The shed key is a doubtful key.", confidence=0.59),
    ]
    assert recalled(newest_first, "Where is the key of the shed? 12345 is it") == (
        "Answer briefly.", "Be kind.", "The key of the shed hangs right.", "The key hangs left.", "Task text.",
    )  # fmt: skip
    assert recalled(newest_first[:3], "Hello") == ("The attic is cold 12345.", "The key hangs left.")


def test_evidence_comes_last_and_only_where_relevant() -> None:
    """It never ranks above structured memory."""
    fitting = Remembered(content="The shed key hangs right.", domain=EVIDENCE, citation="a.txt#chunk-1")
    other = Remembered(content="The ferry leaves at nine.", domain=EVIDENCE, citation="a.txt#chunk-2")
    told = recalled([fitting, other, Remembered(content="Boats are blue.", domain=TASK)], "Where is the shed key?")
    assert told == ("Boats are blue.", "The shed key hangs right. [evidence, not canonical: a.txt#chunk-1]")
    full = [Remembered(content=f"{letter * 449}", domain=USER_PROFILE) for letter in "xy"]
    assert recalled([fitting, *full], "Where is the shed key?") == (full[0].content, full[1].content)


RECORDS = st.lists(
    st.builds(
        Remembered,
        content=st.text(min_size=1, max_size=500),
        domain=st.sampled_from((*DOMAINS, EVIDENCE)),
        confidence=st.floats(0, 1),
    ),
    max_size=20,
)


@given(RECORDS, st.text(max_size=80))
def test_bounds_of_recall(records: list[Remembered], message: str) -> None:
    told = recalled(records, message)
    assert sum(map(len, told)) <= RECALLED_CHARS
    assert len(told) <= RECALLED_OF_DOMAIN * (len(DOMAINS) + 1)
    assert set(told) <= {item.content for item in records if item.confidence >= 0.6}
    assert told == recalled(records, message)


@pytest.mark.parametrize(
    ("message", "content", "domain", "namespace", "group"),
    [
        ("Well, my favourite  colour is dark blue. Yes.", "My favorite colour is dark blue.", USER_PROFILE, "",
         "favorite colour"),
        ("My name is Ann!", "My name is Ann.", USER_PROFILE, "", "name"),
        ("I prefer short answers", "I prefer short answers.", WORKING_RULES, "", ""),
        ("Hello\ntask Ferry-2: the gate is A", "the gate is A.", TASK, "task:ferry-2", ""),
    ],
)  # fmt: skip
def test_a_fact_by_each_rule(message: str, content: str, domain: str, namespace: str, group: str) -> None:
    (fact,) = user_facts_in([message])
    assert (fact.content, fact.domain, fact.namespace, fact.conflict_group) == (content, domain, namespace, group)
    assert fact.confidence == (0.75 if domain == TASK else 0.8)


@pytest.mark.parametrize("message", ["", "Her name is Ann.", "What do I like?", "I prefer my password is hunter2"])
def test_no_fact(message: str) -> None:
    assert user_facts_in([message]) == ()


def test_the_last_of_a_conflict_group_counts() -> None:
    facts = user_facts_in(["My name is Ann. I prefer tea.", "I prefer TEA. I prefer rye.", "my name is Anna"])
    assert [fact.content for fact in facts] == ["I prefer TEA.", "I prefer rye.", "My name is Anna."]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_messages_give_facts_that_fit_their_columns(messages: list[str]) -> None:
    for fact in user_facts_in(messages):
        assert len(fact.namespace) <= 80
        assert len(fact.conflict_group) <= 80

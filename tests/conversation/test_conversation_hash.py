"""The conversation hash."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.conversation_hash import empty_hash, extend_hash
from mrpvm.values import HistoryMessage

messages = st.lists(
    st.builds(HistoryMessage, role=st.sampled_from(("user", "assistant", "tool")), content=st.text(max_size=8)),
    max_size=4,
)
START = empty_hash("1", "key-1", None)


@pytest.mark.rule("DECISION-31")
@given(messages, messages)
def test_a_chain_can_be_extended_piece_by_piece(first: list[HistoryMessage], rest: list[HistoryMessage]) -> None:
    assert extend_hash(extend_hash(START, first), rest) == extend_hash(START, first + rest)


@given(messages, messages)
def test_different_conversations_have_different_chains(one: list[HistoryMessage], other: list[HistoryMessage]) -> None:
    def compared(said: list[HistoryMessage]) -> list[tuple[str, str]]:
        return [(item.role, unicodedata.normalize("NFC", item.content).strip()) for item in said]

    assert (extend_hash(START, one) == extend_hash(START, other)) == (compared(one) == compared(other))


@pytest.mark.rule("DECISION-31")
@given(messages)
def test_project_caller_and_user_are_part_of_it(said: list[HistoryMessage]) -> None:
    starts = [("1", "key-1", None), ("2", "key-1", None), ("1", "key-2", None), ("1", "key-1", ""), ("1", "key-1", "a")]
    assert len({extend_hash(empty_hash(*start), said) for start in starts}) == len(starts)


def test_system_messages_change_nothing() -> None:
    said = [HistoryMessage(role="user", content="Hello")]
    assert extend_hash(START, [HistoryMessage(role="system", content="x"), *said]) == extend_hash(START, said)

"""A session's memory of its turns: documents, sections, terms, and when it expires."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.session_memory import Memory, ResolvedTerm, after_turn, memory_of, told_terms
from mrpvm.values import Answer, AnswerGroup, EvidenceEntry, KnowledgeUnit

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def answer(text: str, *sources: str, status: str = "answered") -> Answer:
    """Return an answer with evidence from these sources."""
    evidence = tuple(
        EvidenceEntry(
            unit=KnowledgeUnit(id=f"u{number}", role="Narrative", topic="t", source_id=source, source_name=source),
            score=1.0,
            store="kb",
        )
        for number, source in enumerate(sources)
    )
    group = AnswerGroup(
        intent_ref=1, act="identify", intent="?", status=status, answer_markdown=text, evidence=evidence  # type: ignore[arg-type]
    )  # fmt: skip
    return Answer(groups=(group,))


def remembered(text: str, *sources: str, memory: Memory | None = None, subject: str | None = None) -> Memory:
    """Return the memory after a turn with this answer."""
    return after_turn(memory, turn_index=1, subject=subject, answer=answer(text, *sources), now=NOW)


@pytest.mark.rule("POLICY-35", "POLICY-39", "FOLLOWUP-33")
def test_a_party_and_its_document_are_remembered() -> None:
    memory = remembered("Trustee: Deutsche Bank National Trust Company.", "psa.pdf")
    found = memory.resolved(" trustee ")
    assert found is not None
    assert (found.text, found.kind) == ("Deutsche Bank National Trust Company", "party")
    assert memory.document_ids == ("psa.pdf",)


@pytest.mark.rule("POLICY-39", "FOLLOWUP-34")
def test_sections_dates_and_definitions_are_remembered() -> None:
    memory = remembered(
        'The Closing Date is March 5, 2007. "Servicer Advance" means a payment made ahead. See Section 2.01.'
    )
    assert memory.active_sections == ("Section 2.01",)
    assert memory.resolved("closing date").text == "March 5, 2007"  # type: ignore[union-attr]
    assert memory.resolved("Servicer Advance").kind == "definition"  # type: ignore[union-attr]


def test_marks_and_noted_are_no_part_of_memory() -> None:
    memory = remembered("Noted: Warden: Ada Lark. [1]", subject="Warden")
    assert [item.text for item in memory.resolved_terms] == ["Ada Lark"]
    assert remembered("The pump is blue. [1]", subject="pump").resolved("pump").text == "The pump is blue."  # type: ignore[union-attr]


def test_terms_are_of_no_one_trade() -> None:
    memory = remembered("The Head Keeper is Ada Lark. The Feeding Date is 3 May. The sky is blue.")
    assert [(item.term, item.text, item.kind) for item in memory.resolved_terms] == [
        ("Head Keeper", "Ada Lark", "party"), ("Feeding Date", "3 May", "date"),
    ]  # fmt: skip


def test_sections_come_from_the_units_too() -> None:
    unit = KnowledgeUnit(
        id="u",
        role="Narrative",
        topic="t",
        source_id="s",
        source_name="s",
        section_title="Fees",
        claim="See Section 4.2.",
    )
    group = AnswerGroup(
        intent_ref=1, act="identify", intent="?", status="answered", answer_markdown="Ten.",
        evidence=(EvidenceEntry(unit=unit, score=1.0, store="kb"),),
    )  # fmt: skip
    memory = after_turn(None, turn_index=1, subject=None, answer=Answer(groups=(group,)), now=NOW)
    assert memory.active_sections == ("Fees", "Section 4.2")


@pytest.mark.rule("POLICY-36")
def test_a_subject_keeps_the_latest_answers_beginning() -> None:
    first = remembered("a" * 500, subject="Determination Date")
    assert first.resolved("determination date").text == "a" * 300  # type: ignore[union-attr]
    second = remembered("Later.", memory=first, subject="determination  Date")
    assert [item.text for item in second.resolved_terms] == ["Later."]


@pytest.mark.rule("POLICY-31", "FOLLOWUP-28")
def test_documents_are_unique_and_the_newest_fifty() -> None:
    memory = remembered("Yes.", "a", "a")
    assert memory.document_ids == ("a",)
    memory = remembered("Yes.", *(f"d{number}" for number in range(60)), memory=memory)
    assert memory.document_ids == tuple(f"d{number}" for number in range(10, 60))
    assert remembered("Yes.", "d10", memory=memory).document_ids[-1] == "d10"


def test_named_terms_are_sent_newest_first_and_once() -> None:
    memory = Memory(
        created_at=NOW, last_accessed_at=NOW,
        resolved_terms=tuple(
            ResolvedTerm(term=term, text=text, kind="answer", turn_index=1)
            for term, text in (
                ("Trustee", "Deutsche Bank"), ("Closing Date", "May 4"), ("the red pump", "Oil. " * 50),
            )
        ),
    )  # fmt: skip
    asked = "Does the trustee need a red pump on the closing date?"
    assert told_terms(memory, asked, ()).splitlines() == [
        "Known from earlier turns:", f"the red pump: {'Oil. ' * 50}", "Closing Date: May 4", "Trustee: Deutsche Bank",
    ]  # fmt: skip
    assert told_terms(memory, asked, ("It is May 4.", "Oil. " * 60)) == (
        "Known from earlier turns:\nTrustee: Deutsche Bank"
    )
    assert told_terms(memory, "And the pump?", ()) == ""


@pytest.mark.rule("POLICY-35")
def test_a_turn_without_an_answer_counts_and_leaves_nothing_else() -> None:
    memory = after_turn(
        None, turn_index=1, subject="Rex", answer=answer("No evidence.", "a", status="no-context"), now=NOW
    )
    assert memory.turn_count == 1
    assert not memory.document_ids
    assert not memory.resolved_terms


@pytest.mark.rule("POLICY-32", "FOLLOWUP-30")
def test_memory_expires_exactly_at_its_time() -> None:
    memory = remembered("Yes.", "a")
    assert not memory.is_expired(NOW + timedelta(hours=4), 4)
    assert memory.is_expired(NOW + timedelta(hours=4, microseconds=1), 4)
    assert memory.expires_at(4) == NOW + timedelta(hours=4)


@given(st.lists(st.tuples(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=5), max_size=8)), max_size=8))
def test_memory_is_stored_and_read_as_it_is(turns: list[tuple[str, list[str]]]) -> None:
    memory: Memory | None = None
    for text, sources in turns:
        memory = remembered(text, *sources, memory=memory, subject=text.strip() or None)
    if memory is None:
        return
    assert memory.turn_count == len(turns)
    assert len(set(memory.document_ids)) == len(memory.document_ids) <= 50
    assert memory_of(memory.as_record(), memory.turn_count, memory.created_at, memory.last_accessed_at) == memory

"""kb-thinkingdb: units that triples link to the question, each with a proof in its notes."""

from copy import replace

import pytest

from mrpvm.contracts import LifecycleEvent, Retrieval, ScoredUnit
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb import ThinkingDBKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb.plugin import FOLLOWED_TERMS, FOLLOWED_TIMES
from mrpvm.testing import InMemoryKnowledge, call_context, unit
from mrpvm.testing.conformance import retrieve_input
from mrpvm.values import EvidenceEntry, KnowledgeUnit
from tests.knowledge.test_closure import check_by_hand

thinking = ThinkingDBKBRetriever()


def fact(unit_id: str, subject: str, relation: str, obj: str, **fields: object) -> KnowledgeUnit:
    return unit(
        unit_id,
        f"{subject} {relation} {obj}.",
        subject=subject,
        relation=relation,
        object=obj,
        confidence=0.9,
        **fields,
    )


PLANT = [
    fact("u1", "Line Four", "depends_on", "the pump"),
    fact("u2", "the pump", "uses", "a chiller"),
    fact("u3", "the chiller", "provides", "cooling"),
    fact("u4", "cooling", "relevant_for", "safety"),
    fact("u5", "the crane", "causes", "noise"),
    unit("u6", "Bananas are yellow."),
]


class CountingKnowledge(InMemoryKnowledge):
    """Counts the searches."""

    def __init__(self, units: list[KnowledgeUnit]) -> None:
        super().__init__(units, "kb")
        self.search_count = self.most_terms = 0

    def search(self, terms: object, limit: int) -> list[ScoredUnit]:
        self.search_count += 1
        self.most_terms = max(self.most_terms, len(terms))  # type: ignore[arg-type]
        return list(super().search(terms, limit))  # type: ignore[arg-type]


def find(units: list[KnowledgeUnit], question: str, told: tuple[KnowledgeUnit, ...] = ()) -> Retrieval:
    return thinking.retrieve(retrieve_input([question], told), call_context(InMemoryKnowledge(units, "kb")))


def entries(retrieval: Retrieval) -> dict[str, EvidenceEntry]:
    return {entry.unit.id: entry for entry in retrieval.evidence[0].entries}


def proof_of(entry: EvidenceEntry) -> tuple[str, ...]:
    return tuple(note for note in entry.notes if note.startswith(("fact [", "step: ")))


@pytest.mark.rule("BUILTIN-24")
def test_units_that_share_no_word_are_found_over_triples() -> None:
    question = "What does Line Four depend on?"
    lexical = FastKBRetriever().retrieve(retrieve_input([question]), call_context(InMemoryKnowledge(PLANT, "kb")))
    assert set(entries(lexical)) == {"u1"}
    assert set(entries(find(PLANT, question))) == {"u1", "u2", "u3", "u4"}


def test_proofs_are_checked_from_notes_and_units_alone() -> None:
    found = entries(find(PLANT, "What does Line Four depend on?"))
    triples = {item.id: f"{item.subject} {item.relation} {item.object}" for item in PLANT if item.subject}
    for unit_id, entry in found.items():
        proof = proof_of(entry)
        assert check_by_hand(proof, triples)
        assert any(line.startswith(f"fact [{unit_id}]") for line in proof), "a unit's proof rests on it"
    assert [line for line in proof_of(found["u4"]) if line.startswith("step")]


@pytest.mark.rule("BUILTIN-22")
def test_units_unlinked_to_the_question_are_no_evidence() -> None:
    assert entries(find(PLANT, "Where do penguins nest?")) == {}
    assert not {"u5", "u6"} & set(entries(find(PLANT, "What does Line Four depend on?")))


def test_facts_are_read_from_text_where_a_unit_has_no_triple() -> None:
    told = [unit("t1", "The pump uses a chiller."), unit("t2", "The chiller provides cooling.")]
    found = entries(find(told, "What does the pump have?"))
    assert set(found) == {"t1", "t2"}
    assert "step: The pump has_capability cooling" in " ".join(proof_of(found["t2"]))


def test_a_denied_or_conditional_sentence_states_no_fact() -> None:
    told = [unit("t1", "The pump uses a chiller."), unit("t2", "If it rains the chiller provides cooling.")]
    assert set(entries(find(told, "What does the pump use?"))) == {"t1"}


def test_units_of_the_turn_are_used_and_returned_once() -> None:
    told = fact("turn", "Line Four", "depends_on", "the pump")
    evidence = find(PLANT[1:], "What does Line Four depend on?", (told,)).evidence[0]
    assert [entry.unit.id for entry in evidence.current_turn_units] == ["turn"]
    stored = {entry.unit.id: entry for entry in evidence.kb_units}
    assert set(stored) == {"u2", "u3", "u4"}
    assert any(line.startswith("fact [turn]") for line in proof_of(stored["u3"]))


@pytest.mark.rule("BUILTIN-17")
def test_the_ledger_tells_what_a_unit_helps_to_show() -> None:
    rows = [row for row in find(PLANT, "What does Line Four depend on?").ledger if row.unit_id == "u3"]
    assert [row.step for row in rows] == ["offered", "selected"]
    assert list(rows[0].parts) == ["thinkingdb x0.85", "role Description x1.3"]
    assert rows[0].parts["thinkingdb x0.85"] == pytest.approx(0.85 * 0.53, abs=0.005)
    assert rows[0].reason == "linked: Line Four has_capability cooling 0.6233"


@pytest.mark.rule("PLUGIN-12")
def test_the_retrieval_tells_how_much_it_reasoned() -> None:
    notes = find(PLANT, "What does Line Four depend on?").notes
    assert notes[0] == "intent 1: 4 triples near the question, 5 derived from them, 2 of these tied to it"


@pytest.mark.rule("BUILTIN-24")
def test_a_hub_is_followed_within_bounds() -> None:
    view = CountingKnowledge([fact(f"h{place:02d}", "hub", "uses", f"spoke{place:02d}") for place in range(60)])
    found = thinking.retrieve(retrieve_input(["What does the hub use?"]), call_context(view))
    assert view.most_terms <= FOLLOWED_TERMS
    assert len(entries(found)) == 4


@pytest.mark.parametrize("length", [1, 3, 60])
def test_searching_on_is_bounded(length: int) -> None:
    chain = [fact(f"c{place:02d}", f"node{place:02d}", "depends_on", f"node{place + 1:02d}") for place in range(length)]
    view = CountingKnowledge(chain)
    found = thinking.retrieve(retrieve_input(["What is node00?"]), call_context(view))
    assert view.search_count <= 1 + FOLLOWED_TIMES
    assert "c00" in entries(found)
    assert set(entries(found)) <= {"c00", "c01", "c02", "c03"}, "three links from the question at most"


def test_without_triples_nothing_is_searched_twice() -> None:
    view = CountingKnowledge([unit("a", "Bananas are yellow.")])
    thinking.retrieve(retrieve_input(["Which bananas are yellow?"]), call_context(view))
    assert view.search_count == 1


def test_a_stopped_turn_is_not_searched_further() -> None:
    view = CountingKnowledge(PLANT)
    context = replace(call_context(view), stopped=lambda: True)
    thinking.retrieve(retrieve_input(["What does Line Four depend on?"]), context)
    assert view.search_count == 1


@pytest.mark.rule("PLUGIN-45")
def test_events_are_skipped() -> None:
    assert thinking.on_session_event(LifecycleEvent(event_type="kb-loaded")) == "skipped"

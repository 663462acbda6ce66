"""kb-fast: evidence by shared words, guidance, and the ledger."""

import re

import pytest

from mrpvm.contracts import LifecycleEvent, Retrieval
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.testing import InMemoryKnowledge, call_context, unit
from mrpvm.testing.conformance import retrieve_input
from mrpvm.values import KnowledgeUnit

retriever = FastKBRetriever()


def knowledge(*units: KnowledgeUnit) -> InMemoryKnowledge:
    return InMemoryKnowledge(units)


def find(view: InMemoryKnowledge, *questions: str, told: tuple[KnowledgeUnit, ...] = ()) -> Retrieval:
    return retriever.retrieve(retrieve_input(questions, told), call_context(view))


def ids(retrieval: Retrieval, place: int = 0) -> list[str]:
    return [entry.unit.id for entry in retrieval.evidence[place].entries]


PETS = knowledge(
    unit("dog", "My dog is called Rex."), unit("cat", "My cat is called Tom."), unit("car", "My car is red.")
)


def test_the_unit_that_shares_most_comes_first() -> None:
    assert ids(find(PETS, "What is my dog called?"))[0] == "dog"


@pytest.mark.rule("BUILTIN-22")
def test_a_unit_without_a_shared_term_is_never_evidence() -> None:
    found = find(PETS, "Where do penguins nest?")
    assert ids(found) == []
    assert found.status == "insufficient"


def test_a_measure_is_found_by_noun_adjective_and_verb() -> None:
    view = knowledge(unit("noun", "Weight: 640 g"), unit("adjective", "80 kilos heavy"), unit("other", "Width: 2 m"))
    for question in ("How heavy is it?", "What is its weight?", "What does it weigh?"):
        assert set(ids(find(view, question))) == {"noun", "adjective"}
    assert ids(find(view, "Who owns the old one?")) == []


def test_words_of_the_question_outweigh_synonyms() -> None:
    view = knowledge(unit("noun", "Weight: 640 g"), unit("adjective", "640 g heavy"))
    assert ids(find(view, "How heavy is it?")) == ["adjective", "noun"]
    assert ids(find(view, "What is its weight?")) == ["noun", "adjective"]


def test_a_word_counts_as_often_as_the_question_says_it() -> None:
    view = knowledge(unit("a", "The pump is blue."), unit("b", "The valve is green."))
    assert ids(find(view, "Is it the pump, the pump again, or the valve?")) == ["a", "b"]
    assert ids(find(view, "Is it the valve, the valve again, or the pump?")) == ["b", "a"]


@pytest.mark.rule("PLUGIN-9")
def test_every_intent_has_its_own_evidence() -> None:
    found = find(PETS, "What is my dog called?", "What colour is my car?")
    assert ids(found, 0)[0] == "dog"
    assert ids(found, 1) == ["car"]


@pytest.mark.rule("BUILTIN-28")
def test_units_of_the_turn_come_first_and_hide_their_double() -> None:
    told = unit("turn", "My dog is called Rex.")
    found = find(PETS, "What is my dog called?", told=(told,))
    assert ids(found)[0] == "turn"
    assert "dog" not in ids(found)
    [pruned] = [row for row in found.ledger if row.unit_id == "dog" and row.step == "pruned"]
    assert pruned.reason == "says the same as turn"
    assert pruned.parts["bm25"] == 1


@pytest.mark.rule("PLUGIN-11")
def test_stores_are_kept_apart() -> None:
    view = InMemoryKnowledge([unit("kb", "Rex barks at night.")], "kb")
    view.add(unit("session", "Rex barks at noon."), "session")
    view.add(unit("draft", "Rex barks at dawn."), "draft")
    evidence = find(view, "When does Rex bark?").evidence[0]
    assert [entry.unit.id for entry in evidence.session_units] == ["session"]
    assert {entry.unit.id for entry in evidence.kb_units} == {"kb", "draft"}


@pytest.mark.rule("INTENT-10", "BUILTIN-18")
def test_the_profile_never_raises_the_intents_limit() -> None:
    view = knowledge(*(unit(f"u{number}", f"Rex barks in room {number}.") for number in range(20)))
    assert len(ids(find(view, "Where does Rex bark?"))) == 4


@pytest.mark.rule("BUILTIN-27", "BUILTIN-29", "ANSWER-11")
def test_guidance_is_collected_and_is_no_evidence() -> None:
    rule = unit("rule", "Answer about Rex in one word.", phase_scopes=("gs-plugin",))
    evidence = find(knowledge(rule, unit("dog", "Rex barks.")), "Does Rex bark?").evidence[0]
    assert [entry.unit.id for entry in evidence.guidance.goal_solver] == ["rule"]
    assert [entry.unit.id for entry in evidence.entries] == ["dog"]


@pytest.mark.rule("BUILTIN-17")
def test_the_ledger_explains_scores() -> None:
    rows = [row for row in find(PETS, "What is my dog called?").ledger if row.unit_id == "dog"]
    assert [row.step for row in rows] == ["offered", "selected"]
    for row in rows:
        assert row.reason.startswith("BM25 ")
        assert row.score == 1.495
        assert row.parts == {"bm25": 1.0, "role Description x1.3": 0.3, "session x1.15": 0.195}
        assert re.search(r"\(.*\bdog [0-9.]+ in topic and claim\b", row.reason)


def test_the_ledger_explains_what_was_left_out() -> None:
    view = knowledge(*(unit(f"u{number}", f"Rex barks in room {number}.") for number in range(20)))
    rows = find(view, "Where does Rex bark?").ledger
    assert {row.step for row in rows} == {"offered", "selected", "pruned"}
    assert all("session x1.15" in row.parts and row.score == pytest.approx(sum(row.parts.values())) for row in rows)
    assert all(row.reason == "over the limit of 4 results" for row in rows if row.step == "pruned")


@pytest.mark.rule("PLUGIN-44", "PLUGIN-45", "BUILTIN-33")
def test_events_are_skipped() -> None:
    assert retriever.on_session_event(LifecycleEvent(event_type="kb-loaded")) == "skipped"


@pytest.mark.rule("PLUGIN-11", "PLUGIN-12")
def test_how_far_the_evidence_of_each_intent_goes_is_told() -> None:
    method = unit("how", "Plan with care.", phase_scopes=("mrp-plan-plugin",), role="Constraint")
    dog = unit("dog", "My dog is called Rex.", source_id="src-1")
    found = find(knowledge(dog, unit("car", "My car is red.", source_id="src-2"), method), "What is my dog?", "Why?")
    dog_found, nothing = found.assessments
    assert (dog_found.intent_ref, dog_found.purpose, dog_found.evidence_count) == (1, "strategy-guidance", 1)
    assert (dog_found.strategy_count, dog_found.unique_source_count, dog_found.sufficient) == (1, 1, True)
    assert dog_found.ku_levels_used == ("atomic",)
    assert set(dog_found.covered_roles) <= set(dog_found.needed_roles)
    assert (nothing.intent_ref, nothing.evidence_count, nothing.sufficient) == (2, 0, False)
    assert [entry.unit.id for entry in found.evidence[0].guidance.strategy] == ["how"]

"""kb-balanced: more evidence than kb-fast, of several kinds, as broad as requested."""

from copy import replace

import pytest

from mrpvm.contracts import LifecycleEvent, Retrieval
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.testing import InMemoryKnowledge, call_context, unit
from mrpvm.testing.conformance import intent_of, retrieve_input
from mrpvm.values import KnowledgeUnit, Recall

balanced = BalancedKBRetriever(lambda: None)
FILLER = [unit(f"filler-{place:02d}", f"The harbour of town {place} is old.") for place in range(30)]


def find(
    units: list[KnowledgeUnit], question: str, act: str = "identify", plugin: object = balanced,
    recall: Recall | None = None,
) -> Retrieval:  # fmt: skip
    intent = intent_of(question, act=act)
    decomposed = decompose(intent)
    request = replace(
        retrieve_input([question]),
        intents=(intent,),
        decomposed=(decomposed,),
        profiles=(profile_for(decomposed),),
        recall=recall,
    )
    return plugin.retrieve(request, call_context(InMemoryKnowledge(units, "kb")))  # type: ignore[attr-defined]


def ids(retrieval: Retrieval) -> list[str]:
    return [entry.unit.id for entry in retrieval.evidence[0].entries]


REPEATED = [
    *(unit(f"storm-{place}", f"The storm of day {place} closed the ferry harbour.") for place in range(6)),
    unit("ice", "Drifting ice closed the ferry for a week in January."),
    *FILLER,
]


@pytest.mark.rule("BUILTIN-26")
def test_results_are_not_all_of_a_kind() -> None:
    question = "What closed the ferry harbour?"
    assert "ice" not in ids(find(REPEATED, question, plugin=FastKBRetriever()))
    found = find(REPEATED, question)
    assert "ice" in ids(found)
    assert len(ids(found)) == 4
    notes = [note for entry in found.evidence[0].entries for note in entry.notes]
    assert any(note.startswith("overlap 0.71 with storm-0") for note in notes)


@pytest.mark.rule("BUILTIN-17", "BUILTIN-18")
def test_it_takes_weaker_hits_than_the_fast_search() -> None:
    units = [unit("strong", "The ferry pump leaks oil."), unit("weak", "A pump stands by the window of the long hall"
             " where nobody works in winter and few in summer."), *FILLER]  # fmt: skip
    question = "Where does the ferry pump leak oil?"
    assert ids(find(units, question, plugin=FastKBRetriever())) == ["strong"]
    assert ids(find(units, question)) == ["strong", "weak"]


@pytest.mark.rule("BUILTIN-23")
def test_it_says_that_it_ranks_by_words_alone() -> None:
    notes = find(FILLER, "Where is the harbour?").notes
    assert notes[0] == "ranked by shared words alone: no embedding backend is installed"
    assert "intent 1: levels used: atomic 4" in notes


def section(*parts: str) -> KnowledgeUnit:
    return unit("section", "Boarding the ferry.", ku_type="composite", topic="Boarding", child_unit_ids=parts)


PARTS = [
    unit("part-1", "Boarding of the ferry closes early.", parent_unit_ids=("section",)),
    unit("part-2", "Boarding of the ferry needs a ticket.", parent_unit_ids=("section",)),
]
SUMMARY = unit(
    "summary", "Ferry handbook. Boarding the ferry.", ku_type="aggregate", topic="Handbook", child_unit_ids=("section",)
)


@pytest.mark.rule("BUILTIN-30")
@pytest.mark.parametrize(
    ("act", "question", "found"),
    [
        ("identify", "When does ferry boarding close?", {"part-1", "part-2"}),
        ("compare", "Compare ferry boarding times.", {"section", "part-1", "part-2"}),
        ("describe", "Describe ferry boarding.", {"summary", "section", "part-1", "part-2"}),
        ("describe", "Describe how ferry boarding closes.", {"section", "part-1", "part-2"}),
    ],
)
def test_the_level_follows_the_question(act: str, question: str, found: set[str]) -> None:
    units = [SUMMARY, section("part-1", "part-2"), *PARTS, *FILLER]
    retrieval = find(units, question, act)
    assert {name for name in ids(retrieval) if not name.startswith("filler")} == found
    levels = next(note for note in retrieval.notes if "levels used" in note)
    assert ("composite 1" in levels) == ("section" in found)


def test_a_section_with_one_part_found_gives_way_to_it() -> None:
    units = [section("part-1"), PARTS[0], *FILLER]
    assert "section" not in ids(find(units, "Compare ferry boarding times.", "compare"))


@pytest.mark.rule("BUILTIN-30")
def test_an_over_long_unit_gives_way_to_its_parts_at_every_level() -> None:
    long = unit("long", "Boarding the ferry. " * 100, child_unit_ids=("part-1",))
    for act in ("describe", "compare", "identify"):
        assert "long" not in ids(find([long, *PARTS, *FILLER], "Describe ferry boarding.", act))


@pytest.mark.rule("BUILTIN-33")
def test_events_are_skipped() -> None:
    assert balanced.on_session_event(LifecycleEvent(event_type="kb-loaded")) == "skipped"


@pytest.mark.parametrize("plugin", [balanced, FastKBRetriever()])
def test_what_a_question_names_itself_is_not_sought_before(plugin: object) -> None:
    units = [*(unit(f"crane-{place}", f"Crane {place} was inspected in May.") for place in range(3)),
             unit("chair", "The chair of the Birch house was painted."), *FILLER]  # fmt: skip
    before = Recall(terms={"chair": 0.9, "birch": 0.9}, is_needed=False)
    alone = find(units, "Which crane was inspected in May?", plugin=plugin)
    after = find(units, "Which crane was inspected in May?", plugin=plugin, recall=before)
    assert after.evidence == alone.evidence
    assert any("no term of the conversation was added" in note for note in after.notes)
    needed = find(units, "Which crane was inspected in May?", plugin=plugin, recall=replace(before, is_needed=True))
    assert "chair" in {row.unit_id for row in needed.ledger}
    preferring = replace(before, documents=("chairs",), prefers_always=True)
    biased = find(units, "Which crane was inspected in May?", plugin=plugin, recall=preferring)
    assert set(ids(biased)) == set(ids(alone))
    unnamed = find(units, "When was the gantry painted?", plugin=plugin, recall=before)
    assert ids(unnamed)[0] == "chair"

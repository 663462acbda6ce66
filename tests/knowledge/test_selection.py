"""The selection of evidence and guidance that plugins share."""

from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.knowledge.guidance import applies_to, guidance_for, sort_guidance
from mrpvm.knowledge.selection import (
    SelectionPolicy,
    UnitCandidate,
    choose,
    fused_score,
    is_sufficient,
    turn_candidates,
)
from mrpvm.testing import unit
from mrpvm.values import ContextProfile, EvidenceEntry, Intent, KnowledgeUnit

POLICY = SelectionPolicy(max_results=3, min_score=0.3)
INTENT = Intent(id="i1", group_number=1, act="identify", target="Who is Rex?", output="answer")
PROFILE = replace(profile_for(decompose(INTENT)), needed_roles=("Definition",))


def profile(*terms: str, needed_roles: tuple[str, ...] = ()) -> ContextProfile:
    return replace(PROFILE, query_terms=terms, needed_roles=needed_roles)


def candidate(name: str, score: float, store: str = "kb", **fields: object) -> UnitCandidate:
    return UnitCandidate(unit=unit(name, f"{name} barks.", **fields), store=store, scores={"bm25": score})  # type: ignore[arg-type]


@pytest.mark.rule("BUILTIN-19")
def test_order_is_by_fused_score_then_id() -> None:
    found = choose([candidate("b", 0.9), candidate("a", 0.9), candidate("c", 1.0)], PROFILE, POLICY)
    assert [entry.unit.id for entry in found.entries] == ["c", "a", "b"]


@pytest.mark.rule("INTENT-2", "BUILTIN-19", "BUILTIN-27")
def test_role_and_session_raise_a_unit() -> None:
    candidates = [candidate("a", 0.8), candidate("b", 0.7, role="Definition"), candidate("c", 0.75, "session")]
    found = choose(candidates, PROFILE, POLICY)
    assert [entry.unit.id for entry in found.entries] == ["b", "c", "a"]
    assert "role Definition x1.3" in found.entries[0].notes


@pytest.mark.rule("POLICY-33", "POLICY-36", "FOLLOWUP-22", "FOLLOWUP-24", "FOLLOWUP-27")
def test_documents_in_use_rank_higher_by_their_words_once() -> None:
    """The score 0.80 becomes 0.92 and exceeds 0.85; 0.70 becomes 0.805 and exceeds 0.75."""
    for score, other, raised in ((0.8, 0.85, 0.92), (0.7, 0.75, 0.805)):
        in_use = replace(candidate("a", score), is_in_use=True)
        assert round(fused_score(in_use, ()).value, 9) == raised
        found = choose([in_use, candidate("b", other)], PROFILE, POLICY)
        assert [entry.unit.id for entry in found.entries] == ["a", "b"]
        assert found.entries[1].score == other
        assert choose([in_use, candidate("b", other)], PROFILE, POLICY) == found, "the candidates are left as they were"


def test_a_document_in_use_pushes_nothing_out() -> None:
    """Only the order of the returned units changes, not which ones the limit removes."""
    candidates = [candidate("a", 0.9), candidate("b", 0.88), candidate("c", 0.8)]
    profile = replace(PROFILE, max_results=2)
    biased = [replace(item, is_in_use=item.unit.id in ("b", "c")) for item in candidates]
    assert [entry.unit.id for entry in choose(candidates, profile, POLICY).entries] == ["a", "b"]
    assert [entry.unit.id for entry in choose(biased, profile, POLICY).entries] == ["b", "a"]


@pytest.mark.rule("FOLLOWUP-25")
def test_without_a_document_in_use_nothing_is_reordered_or_noted() -> None:
    found = choose([candidate("a", 0.8), candidate("b", 0.9)], PROFILE, POLICY)
    assert [(entry.unit.id, entry.score) for entry in found.entries] == [("b", 0.9), ("a", 0.8)]
    assert not any("in use" in row.reason for row in found.ledger)


@pytest.mark.rule("BUILTIN-19")
def test_agreeing_backends_add_a_bonus() -> None:
    both = replace(candidate("a", 0.5), scores={"bm25": 0.5, "hdc": 0.1})
    [entry] = choose([both], PROFILE, POLICY).entries
    assert (entry.score, entry.notes) == (0.67, ("bm25 0.50", "hdc 0.10 x0.7", "2 backends agree +0.10"))


@pytest.mark.rule("BUILTIN-19")
def test_weak_double_and_surplus_candidates_are_pruned() -> None:
    double = UnitCandidate(unit=replace(unit("a", "Rex."), id="z"), store="kb", scores={"bm25": 0.95})
    candidates = [
        UnitCandidate(unit=unit("a", "Rex."), store="kb", scores={"bm25": 1.0}),
        double,
        candidate("weak", 0.1),
    ]
    candidates += [candidate(name, 0.5) for name in ("b", "c", "d")]
    found = choose(candidates, PROFILE, POLICY)
    assert [entry.unit.id for entry in found.entries] == ["a", "b", "c"]
    reasons = {row.unit_id: row.reason for row in found.ledger if row.step == "pruned"}
    assert reasons == {
        "z": "says the same as a",
        "weak": "score 0.10 below 0.30",
        "d": "over the limit of 3 results",
    }


def test_a_good_unit_brings_two_similar_neighbours() -> None:
    policy = SelectionPolicy(max_results=9, min_score=0.3, beside_best=0.1)
    weak = [candidate("b", 0.2), candidate("c", 0.15), candidate("d", 0.12), candidate("e", 0.05)]
    found = choose([candidate("a", 0.31), *weak], PROFILE, policy)
    assert [entry.unit.id for entry in found.entries] == ["a", "b", "c"]
    assert "below 0.30, but beside better ones" in found.entries[1].notes
    assert {row.unit_id: row.reason for row in found.ledger if row.step == "pruned"} == {
        "d": "score 0.12 below 0.30",
        "e": "score 0.05 below 0.30",
    }
    assert [entry.unit.id for entry in choose([candidate("a", 0.31), weak[-1]], PROFILE, policy).entries] == ["a"]
    assert not choose(weak, PROFILE, policy).entries, "none of them is likely an answer"


def test_what_was_taken_before_is_not_taken_again() -> None:
    taken = EvidenceEntry(unit=unit("turn", "Rex."), score=1.0, store="current-turn")
    same = UnitCandidate(unit=replace(taken.unit, id="old"), store="session", scores={"bm25": 1.0})
    assert choose([same], PROFILE, POLICY, taken=[taken]).entries == ()


def test_a_summary_gives_way_to_its_parts() -> None:
    part = candidate("part", 0.6)
    whole = candidate("whole", 0.9, ku_type="composite", child_unit_ids=("part",))
    assert [entry.unit.id for entry in choose([whole, part], PROFILE, POLICY).entries] == ["part"]
    broad = replace(PROFILE, act_boost="describe")
    assert [entry.unit.id for entry in choose([whole, part], broad, POLICY).entries] == ["whole", "part"]


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["session", "kb"])), max_size=12), st.integers(1, 10))
def test_every_candidate_leaves_a_row_and_one_fate(described: list[tuple[float, str]], limit: int) -> None:
    candidates = [candidate(f"u{place}", score, store) for place, (score, store) in enumerate(described)]
    found = choose(candidates, replace(PROFILE, max_results=limit), POLICY)
    steps = {item.unit.id: [row.step for row in found.ledger if row.unit_id == item.unit.id] for item in candidates}
    assert all(sorted(fate) in (["offered", "pruned"], ["offered", "selected"]) for fate in steps.values())
    assert len(found.entries) <= min(limit, POLICY.max_results)
    assert all(0 <= entry.score <= 1 for entry in found.entries)
    assert all(row.reason for row in found.ledger if row.step == "pruned")
    assert all(row.score == pytest.approx(sum(row.parts.values()), abs=0.001) for row in found.ledger)


@pytest.mark.rule("BUILTIN-28")
def test_units_of_the_turn_need_a_shared_term() -> None:
    units = [
        unit("a", "Rex barks."),
        unit("b", "Bananas are yellow."),
        unit("c", "Be brief.", phase_scopes=("gs-plugin",)),
    ]
    assert [item.unit.id for item in turn_candidates(units, ("rex", "bark", "loud"))] == ["a"]
    assert [item.unit.id for item in turn_candidates(units, ())] == ["a", "b"]


@pytest.mark.rule("BUILTIN-31")
def test_sufficiency() -> None:
    entry = EvidenceEntry(unit=unit("a", "Rex barks."), score=1.0, store="kb")
    assert not is_sufficient([], profile("rex"))
    assert is_sufficient([entry], profile("rex", "cat"))
    assert not is_sufficient([entry], profile("rex", "cat", needed_roles=("Definition",)))
    assert is_sufficient([entry], profile("rex", "cat", needed_roles=("Description",)))
    assert is_sufficient([entry, entry], profile("rex", "cat", needed_roles=("Definition",)))


@pytest.mark.rule("BUILTIN-31")
def test_one_unit_with_every_term_suffices() -> None:
    entry = EvidenceEntry(unit=unit("a", "Rex barks."), score=1.0, store="kb")
    assert is_sufficient([entry], profile("rex", "bark", needed_roles=("Definition",)))
    assert not is_sufficient([entry], profile(needed_roles=("Definition",)))


def guidance(name: str, *scopes: str, condition: str | None = None) -> KnowledgeUnit:
    return unit(name, "Be brief.", phase_scopes=scopes, condition=condition)


@pytest.mark.rule("PLUGIN-11", "BUILTIN-29")
def test_guidance_is_sorted_by_phase_and_kept_with_evidence() -> None:
    units = [guidance("a", "gs-plugin"), guidance("b", "frame", "val-plugin"), guidance("c", "mrp-plan-plugin"),
             guidance("d", "sd-plugin"), unit("e", "Rex.")]  # fmt: skip
    found = guidance_for(INTENT, units, [])
    buckets = (found.seed_detector, found.planner, found.goal_solver, found.decomposition, found.validation)
    assert [[entry.unit.id for entry in bucket] for bucket in buckets] == [["d"], ["c"], ["a"], ["b"], ["b"]]


def test_guidance_with_a_condition_holds_for_its_task_only() -> None:
    assert applies_to(guidance("a", "gs-plugin"), INTENT)
    assert applies_to(guidance("a", "gs-plugin", condition="Who is  Rex?"), INTENT)
    assert not applies_to(guidance("a", "gs-plugin", condition="Where is Tom?"), INTENT)


@pytest.mark.rule("BUILTIN-29")
def test_guidance_of_the_turn_stands_before_lasting_one() -> None:
    lasting = EvidenceEntry(unit=guidance("old", "gs-plugin"), score=0.0, store="session")
    found = guidance_for(INTENT, [guidance("new", "gs-plugin")], [lasting])
    assert [entry.unit.id for entry in found.goal_solver] == ["new", "old"]
    assert sort_guidance([lasting, lasting]).goal_solver == (lasting,)

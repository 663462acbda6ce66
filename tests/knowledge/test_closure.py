"""The closure over triples: sound, bounded, independent of order, with proofs that can be checked by hand."""

import math
import random
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.knowledge.closure import (
    LIMITS,
    PREFERRED_RELATIONS,
    RULES,
    ClosureLimits,
    Triple,
    argument_key,
    closure,
    neighbourhood,
    proof_lines,
)
from mrpvm.values import RELATIONS

ARGUMENTS = tuple(f"part{letter}" for letter in "abcdef")
RULE_TABLE = {
    #
    ("uses", "provides"): ("has_capability", 0.95),
    ("has_capability", "relevant_for"): ("relevant_for", 0.9),
    ("provides", "relevant_for"): ("relevant_for", 0.88),
    ("depends_on", "depends_on"): ("depends_on", 0.92),
    ("depends_on", "has_capability"): ("has_capability", 0.9),
    ("depends_on", "relevant_for"): ("relevant_for", 0.85),
    ("supports", "relevant_for"): ("relevant_for", 0.88),
    ("causes", "causes"): ("causes", 0.9),
}


def link(subject: str, relation: str, obj: str, unit_id: str = "u", score: float = 0.9) -> Triple:
    return Triple(subject=subject, relation=relation, object=obj, score=score, unit_id=unit_id)


@st.composite
def stated_links(draw: st.DrawFn) -> list[Triple]:
    triples = st.tuples(st.sampled_from(ARGUMENTS), st.sampled_from(RELATIONS), st.sampled_from(ARGUMENTS))
    scores = st.floats(0.05, 1.0)
    rows = draw(st.lists(st.tuples(triples, scores), max_size=24))
    return [link(*triple, unit_id=f"u{place}", score=score) for place, (triple, score) in enumerate(rows)]


def keys_by_brute_force(links: list[Triple], depth: int) -> set[tuple[str, str, str]]:
    """Return the results of the rules after this number of rounds, by trying every pair."""
    stated = {item.key for item in links}
    known = set(stated)
    for _ in range(depth):
        known |= {
            (first[0], RULE_TABLE[first[1], second[1]][0], second[2])
            for first, second in product(known, known)
            if (first[1], second[1]) in RULE_TABLE and first[2] == second[0] and first[0] != second[2]
        }
    return known - stated


def height(item: Triple) -> int:
    return 1 + max(map(height, item.premises)) if item.premises else 0


@pytest.mark.rule("BUILTIN-25")
def test_the_rules_are_those_of_the_specification() -> None:
    assert {(rule.first, rule.second): (rule.gives, rule.weight) for rule in RULES} == RULE_TABLE
    assert {"relevant_for", "has_capability", "depends_on", "causes"} == PREFERRED_RELATIONS


@pytest.mark.rule("BUILTIN-25")
@given(stated_links())
def test_every_derived_link_is_one_application_of_one_rule(links: list[Triple]) -> None:
    before = {item.key for item in links}
    seen = {item.key: item for item in links}
    for derived in closure(links):
        assert derived.rule is not None
        first, second = derived.premises
        assert (derived.relation, derived.rule.weight) == RULE_TABLE[first.relation, second.relation]
        assert argument_key(first.object) == argument_key(second.subject)
        assert (derived.subject, derived.object) == (first.subject, second.object)
        assert derived.score == first.score * second.score * derived.rule.weight
        assert {first.key, second.key} <= seen.keys(), "a premise is stated, or was derived before"
        assert all(leaf in links for leaf in derived.stated)
        assert derived.key not in seen, "nothing is derived twice, nor what is stated"
        assert derived.key[0] != derived.key[2]
        seen[derived.key] = derived
    assert before <= seen.keys()


@pytest.mark.rule("BUILTIN-24")
@given(stated_links(), st.integers(0, 3), st.integers(0, 70))
def test_the_closure_is_bounded(links: list[Triple], depth: int, count: int) -> None:
    found = closure(links, ClosureLimits(depth=depth, derived_count=count))
    assert len(found) <= count
    assert all(height(item) <= depth for item in found)
    assert len(closure(links)) <= LIMITS.derived_count == 64


@pytest.mark.rule("BUILTIN-24")
@given(stated_links())
def test_nothing_within_the_bounds_is_missed(links: list[Triple]) -> None:
    found = closure(links, ClosureLimits(derived_count=10_000))
    assert {item.key for item in found} == keys_by_brute_force(links, LIMITS.depth)


@given(stated_links(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(links: list[Triple], chance: random.Random) -> None:
    shuffled = list(links)
    chance.shuffle(shuffled)
    assert closure(shuffled) == closure(links)


def test_arguments_ignore_article_case_and_ending() -> None:
    found = closure([link("The pumps", "uses", "a chiller"), link("Chillers", "provides", "cooling")])
    assert [item.key for item in found] == [("pump", "has_capability", "cool")]


def test_an_argument_of_stop_words_joins_nothing() -> None:
    assert closure([link("the pump", "depends_on", "it"), link("it", "depends_on", "power")]) == []


def test_a_circle_comes_to_an_end() -> None:
    circle = [link("a1", "causes", "b1"), link("b1", "causes", "c1"), link("c1", "causes", "a1")]
    assert {item.key for item in closure(circle)} == {
        ("a1", "causes", "c1"), ("b1", "causes", "a1"), ("c1", "causes", "b1"),
    }  # fmt: skip


def test_the_more_certain_proof_is_kept() -> None:
    weak = [link("pump", "uses", "fan", "w1", 0.3), link("fan", "provides", "cooling", "w2", 0.3)]
    strong = [link("pump", "uses", "chiller", "s1"), link("chiller", "provides", "cooling", "s2")]
    (found,) = closure([*weak, *strong])
    assert [leaf.unit_id for leaf in found.stated] == ["s1", "s2"]


CHAIN = [
    link("Line 4", "depends_on", "the pump", "u1", 0.9),
    link("the pump", "uses", "a chiller", "u2", 0.8),
    link("the chiller", "provides", "cooling", "u3", 1.0),
    link("cooling", "relevant_for", "safety", "u4", 0.9),
]


def test_a_proof_can_be_checked_by_hand() -> None:
    conclusion = next(item for item in closure(CHAIN) if item.key == ("line 4", "relevant_for", "safeti"))
    assert conclusion.step_count == 3
    assert proof_lines(conclusion) == (
        "fact [u1]: Line 4 depends_on the pump 0.9000",
        "fact [u2]: the pump uses a chiller 0.8000",
        "fact [u3]: the chiller provides cooling 1.0000",
        "fact [u4]: cooling relevant_for safety 0.9000",
        "step: the pump has_capability cooling 0.7600 = uses+provides 0.95 x (the pump uses a chiller 0.8000)"
        " x (the chiller provides cooling 1.0000)",
        "step: Line 4 has_capability cooling 0.6156 = depends_on+has_capability 0.9 x (Line 4 depends_on the pump"
        " 0.9000) x (the pump has_capability cooling 0.7600)",
        "step: Line 4 relevant_for safety 0.4986 = has_capability+relevant_for 0.9 x (Line 4 has_capability cooling"
        " 0.6156) x (cooling relevant_for safety 0.9000)",
    )


STEP = re.compile(r"step: (.+) ([\d.]+) = (\w+)\+(\w+) ([\d.]+) x \((.+) ([\d.]+)\) x \((.+) ([\d.]+)\)")
FACT = re.compile(r"fact \[(.+)\]: (.+) ([\d.]+)")


def check_by_hand(lines: tuple[str, ...], triples: dict[str, str]) -> str:
    """Check every line of a proof against the rules and the units; return the statement of the last line."""
    known: dict[str, float] = {}
    for line in lines:
        if fact := FACT.fullmatch(line):
            unit_id, said, score = fact.groups()
            assert triples[unit_id] == said
            known[said] = float(score)
            continue
        step = STEP.fullmatch(line)
        assert step, line
        said, score, one, two, weight, first, first_score, second, second_score = step.groups()
        gives, known_weight = RULE_TABLE[one, two]
        assert float(weight) == known_weight
        assert known[first] == float(first_score)
        assert known[second] == float(second_score)
        subject, _, middle = first.partition(f" {one} ")
        other_middle, _, obj = second.partition(f" {two} ")
        assert argument_key(middle) == argument_key(other_middle)
        assert said == f"{subject} {gives} {obj}"
        assert math.isclose(float(score), known_weight * known[first] * known[second], abs_tol=2e-4)
        known[said] = float(score)
    return said


def _is_checked(conclusion: Triple) -> bool:
    triples = {leaf.unit_id or "": leaf.text.rpartition(" ")[0] for leaf in conclusion.stated}
    return check_by_hand(proof_lines(conclusion), triples) == conclusion.text.rpartition(" ")[0]


@given(stated_links())
def test_every_proof_can_be_checked_by_hand(links: list[Triple]) -> None:
    assert all(_is_checked(item) for item in closure(links))


def test_a_neighbourhood_ends_at_no_overlap_or_depth() -> None:
    chain = [link(f"n{place}", "causes", f"n{place + 1}") for place in range(8)]
    apart = link("x1", "causes", "x2")
    found = neighbourhood(chain[:1], [apart, *chain], depth=2)
    assert [item.key for item in found] == [item.key for item in chain[:3]]
    assert neighbourhood((), chain) == []

"""Rules of admission that the vectors do not cover: kinds, values, life cycles, hierarchy, injected objects."""

from itertools import pairwise

import pytest

from mrpvm.lang import ControlLanguageError, admit
from mrpvm.lang.arguments import quote
from tests.lang.control_vectors import VECTORS

KNOWLEDGE = VECTORS["A6"].text
QUESTION = VECTORS["A1"].text
BRANCH = "".join(f"{line}\n" for line in VECTORS["A13"].text.splitlines()[:10])
SEED = QUESTION + '@s1 seed $i1 direct define "quorum"\n'
FRAME = {"f1": "frame"}


def codes(text: str, kind: str = "mixed", refs: dict[str, str] | None = None) -> list[str]:
    """Return the codes of all diagnostics, an empty list if the document is admitted."""
    try:
        admit(text, kind, refs)
    except ControlLanguageError as error:
        return [item.code.value for item in error.diagnostics]
    return []


@pytest.mark.rule("UNIT-2", "LANG-14")
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("chunkIndex 0", []),
        ("chunkIndex -1", ["INVALID_ARGUMENT_KIND"]),
        ("chunkIndex 1.5", ["INVALID_ARGUMENT_KIND"]),
        ("charStart 007", ["INVALID_ARGUMENT_KIND"]),
        ("charEnd 1e3", ["INVALID_ARGUMENT_KIND"]),
        (f"charEnd {'9' * 5000}", ["INVALID_ARGUMENT_KIND"]),
        ("createdAt 2026-03-27T10:00:00Z", []),
        ("knowledgeDate 2026-03-27", []),
        ('ingestedAt "last Tuesday"', ["INVALID_ARGUMENT_KIND"]),
        ("confidence -0.1", ["INVALID_CONFIDENCE_VALUE"]),
        ("title plain", ["INVALID_ARGUMENT_KIND"]),
        ("author [a]", ["INVALID_ARGUMENT_KIND"]),
        ("author $k1", ["INVALID_ARGUMENT_KIND"]),
        ("utilityActs [$k1]", ["INVALID_ARGUMENT_KIND"]),
        ('role "Constraint"', ["INVALID_ARGUMENT_KIND"]),
        ("role constraint", ["INVALID_ROLE_VALUE"]),
        ("parentUnitIds [x]", ["UNKNOWN_FIELD"]),
        ("Topic x", ["UNKNOWN_FIELD"]),
        ("output x", ["INVALID_FIELD_FOR_OBJECT"]),
    ],
)
def test_field_values(statement: str, expected: list[str]) -> None:
    assert codes(f"{KNOWLEDGE}@z set $k1 {statement}\n", "context") == expected


@pytest.mark.rule("LANG-15")
def test_the_last_assignment_counts() -> None:
    document = admit(f'{KNOWLEDGE}@z set $k1 claim "Forty kilograms."\n', "context")
    unit = document.kus["k1"]
    assert unit.claim == unit.text_body == "Forty kilograms."
    assert unit.places.fields["claim"].line == 7


@pytest.mark.rule("LANG-27")
@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        (["status $b1 active", "status $b1 failed"], []),
        (["status $b1 succeeded"], []),
        (["set $b1 status active", "set $b1 status succeeded"], []),
        (["status $b1 queued"], ["INVALID_STATUS_TRANSITION"]),
        (["status $b1 active", "status $b1 active"], ["INVALID_STATUS_TRANSITION"]),
        (["status $b1 done"], ["INVALID_STATUS_TRANSITION"]),
        (["set $b1 status done"], ["INVALID_ARGUMENT_KIND"]),
        (["fail $b1 slow", "fail $b1 slower"], ["INVALID_STATUS_TRANSITION"]),
        (["set $b1 status succeeded", "fail $b1 late"], ["INVALID_STATUS_TRANSITION"]),
    ],
)
def test_branch_moves(moves: list[str], expected: list[str]) -> None:
    assert codes(BRANCH + "".join(f"@m{number} {move}\n" for number, move in enumerate(moves))) == expected


@pytest.mark.rule("LANG-27")
def test_only_active_or_succeeded_branches_need_a_target() -> None:
    without = BRANCH.replace("@n1 needs $b1 $v1\n", "")
    assert codes(without) == []
    assert codes(without + "@m fail $b1 active\n") == []
    assert codes(without + "@m status $b1 active\n@n fail $b1 x\n") == ["MISSING_REQUIRED_FIELD"]
    assert codes(without + "@m status $b1 active\n@n needs $b1 $v1\n") == []


@pytest.mark.rule("LANG-21")
def test_seed_states() -> None:
    assert codes(SEED + "@z status $s1 deactivated\n@y set $s1 state active\n", "intent") == []
    assert codes(SEED + "@z status $s1 asleep\n", "intent") == ["INVALID_ARGUMENT_KIND"]
    document = admit(SEED + "@z status $s1 deactivated\n@y set $s1 state active\n", "intent")
    assert document.seeds["s1"].is_schedulable
    assert [event.state for event in document.status_events] == ["deactivated", "active"]


def _unit(name: str, ku_type: str) -> str:
    text = KNOWLEDGE.replace("unit-000", f"unit-{name}").replace("ku atomic", f"ku {ku_type}")
    return text.replace("k1", name).replace("@a", f"@a{name}")


@pytest.mark.rule("UNIT-11", "UNIT-13", "LANG-25")
@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (["parent $p $q", "parent $q $r"], []),
        (["parent $p $q", "parent $p $r"], []),
        (["parent $p $p"], ["INVALID_HIERARCHY"]),
        (["parent $p $q", "parent $q $r", "parent $r $p"], ["INVALID_HIERARCHY"]),
        (["parent $p $leaf"], ["INVALID_HIERARCHY"]),
        (["parent $leaf $p", "derived_from $p $leaf"], []),
    ],
)
def test_hierarchy(links: list[str], expected: list[str]) -> None:
    units = _unit("p", "composite") + _unit("q", "composite") + _unit("r", "aggregate") + _unit("leaf", "atomic")
    assert codes(units + "".join(f"@h{number} {link}\n" for number, link in enumerate(links)), "context") == expected


@pytest.mark.rule("UNIT-13")
def test_a_long_chain_and_a_wide_tree_are_admitted_in_one_pass() -> None:
    names = [f"u{number}" for number in range(1500)]
    units = "".join(_unit(name, "composite") for name in names)
    chain = "".join(f"@h{one} parent ${one} ${other}\n" for one, other in pairwise(names))
    tree = "".join(f"@t{name} parent ${name} $u1499\n" for name in names[:-1])
    document = admit(units + chain + tree, "context")
    assert len(document.kus["u1499"].child_unit_ids) == 1499
    assert codes(units + chain + "@x parent $u1499 $u0\n", "context") == ["INVALID_HIERARCHY"]


@pytest.mark.rule("LANG-21")
def test_seeds_cannot_be_split_off_each_other_in_a_circle() -> None:
    seeds = SEED + '@s2 seed $i1 direct define "votes"\n@x split_from $s1 $s2\n'
    assert codes(seeds, "intent") == []
    assert codes(seeds + "@y split_from $s2 $s1\n", "intent") == ["INVALID_HIERARCHY"]


@pytest.mark.rule("UNIT-1")
def test_a_unit_without_a_body_has_what_it_says_as_its_body() -> None:
    procedure = admit(VECTORS["A7"].text, "context").kus["k1"]
    assert (procedure.claim, procedure.text_body) == (None, procedure.procedure)
    own = admit(f'{KNOWLEDGE}@z set $k1 textBody "At length."\n', "context").kus["k1"]
    assert (own.claim, own.text_body) == ("A payload never exceeds 40 kg.", "At length.")


@pytest.mark.rule("UNIT-10")
@pytest.mark.parametrize(
    "said", ["def f():\n    return  1\t# one\n", "Ünïcode\u2003wide  e\u0301", '{"a": [1, 2]}', "# @x $y [z]"]
)
def test_content_stays_as_it_was_written(said: str) -> None:
    """Code, data and prose are not normalised."""
    written = quote(said)
    unit = admit(f"{KNOWLEDGE}@y set $k1 claim {written}\n@z set $k1 textBody {written}\n", "context").kus["k1"]
    assert unit.claim == unit.text_body == said


@pytest.mark.rule("UNIT-7", "LANG-17")
def test_unit_ids_are_unique() -> None:
    again = _unit("k2", "atomic").replace("unit-k2", "unit-000")
    assert codes(KNOWLEDGE + again, "context") == ["DUPLICATE_STATEMENT_ID"]


@pytest.mark.rule("LANG-12")
def test_nothing_is_resolved_by_the_look_of_its_name() -> None:
    objective = "@d1 objective $f1 [cost]\n"
    assert codes(objective) == ["UNRESOLVED_REFERENCE"]
    assert codes(objective, refs={"f1": "branch"}) == ["INVALID_ARGUMENT_KIND"]
    assert codes(objective, refs=FRAME) == []


@pytest.mark.rule("LANG-18")
def test_only_constructing_statements_can_be_referenced() -> None:
    assert codes(KNOWLEDGE + "@z set $a1 title x\n", "context") == ["UNRESOLVED_REFERENCE"]


@pytest.mark.rule("LANG-12")
def test_injected_names_cannot_be_constructed_again() -> None:
    assert codes(QUESTION, "intent", {"i1": "intent"}) == ["DUPLICATE_STATEMENT_ID"]
    assert codes(QUESTION, "intent", {"o1": "frame"}) == []


@pytest.mark.rule("LANG-30")
def test_an_injected_object_does_not_make_a_document_of_its_kind() -> None:
    assert codes("", "intent", {"i1": "intent"}) == ["MISSING_REQUIRED_FIELD"]


def test_an_injected_unit_is_a_parent_under_its_own_id() -> None:
    parent = "src-7::section-000"
    document = admit(f"{KNOWLEDGE}@z parent $k1 ${parent}\n", "context", {parent: "ku"})
    assert document.kus["k1"].parent_unit_ids == (parent,)


def test_a_running_turns_branch_moves_from_any_state() -> None:
    assert codes("@a status $b7 succeeded\n", refs={"b7": "branch"}) == []
    assert codes("@a status $b7 done\n", refs={"b7": "branch"}) == ["INVALID_STATUS_TRANSITION"]
    assert codes("@a fail $b7 x\n@b status $b7 active\n", refs={"b7": "branch"}) == ["INVALID_STATUS_TRANSITION"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("objective $f1 []", []),
        ("objective $f1 [speed]", ["INVALID_ARGUMENT_KIND"]),
        ("objective $f1 [cost $b1 $f1]", []),
        ('compare $f1 [] "x"', ["INVALID_ARGUMENT_KIND"]),
        ('compare $f1 [cost] "x"', ["INVALID_ARGUMENT_KIND"]),
        ('compare $f1 [$b1] "x"', ["INVALID_ARGUMENT_KIND"]),
        ('challenge $f1 $b1 "x" source', ["INVALID_ARGUMENT_KIND"]),
        ("policy $f1 2 best-effort 4 2 2 sufficient", ["INVALID_ARGUMENT_KIND"]),
        ("policy $f1 2 best_effort 4 2 2 enough", ["INVALID_ARGUMENT_KIND"]),
        ("status $f1 settled", []),
        ("set $f1 level 2", ["UNKNOWN_FIELD"]),
        ("set $f1 score 2", ["INVALID_FIELD_FOR_OBJECT"]),
    ],
)
def test_deliberation(statement: str, expected: list[str]) -> None:
    assert codes(f"{BRANCH}@z {statement}\n", refs=FRAME) == expected


def test_a_caller_cannot_name_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="essay"):
        admit(QUESTION, "essay")
    with pytest.raises(ValueError, match="widget"):
        admit(QUESTION, "intent", {"f1": "widget"})

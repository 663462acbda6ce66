"""Every accept and reject vector of LANG-37, and the values of the accepted ones."""

import pytest

from mrpvm.lang import ControlLanguageError, ObjectKind, RelationEdge, StatusEvent
from tests.lang.control_vectors import ACCEPTED, FOLDER, REFUSED, VECTORS, Vector


@pytest.mark.rule("LANG-37", "EVAL-5")
def test_every_file_has_a_verdict_and_the_set_is_complete() -> None:
    wanted = {f"A{number}" for number in range(19)} | {f"R{number}" for number in range(1, 62)}
    assert {path.stem for path in FOLDER.glob("*.sop")} == set(VECTORS) == wanted


@pytest.mark.rule("LANG-20", "LANG-37")
@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector.name)
def test_accepted(vector: Vector) -> None:
    assert vector.admit().objects


@pytest.mark.rule(
    "UNIT-1",
    "UNIT-3",
    "UNIT-5",
    "UNIT-6",
    "UNIT-11",
    "LANG-3",
    "LANG-6",
    "LANG-13",
    "LANG-16",
    "LANG-17",
    "LANG-18",
    "LANG-19",
    "LANG-20",
    "LANG-28",
    "LANG-36",
    "LANG-37",
)
@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector.name)
def test_refused_for_exactly_the_stated_reasons(vector: Vector) -> None:
    with pytest.raises(ControlLanguageError) as caught:
        vector.admit()
    found = [
        {key: value for key, value in diagnostic.as_dict().items() if key not in ("column", "message")}
        for diagnostic in caught.value.diagnostics
    ]
    assert found == list(vector.diagnostics)
    assert caught.value.code == "CONTROL_LANGUAGE_INVALID"
    assert caught.value.details["diagnostics"] == [item.as_dict() for item in caught.value.diagnostics]


def test_a2_output_may_be_a_string() -> None:
    assert VECTORS["A2"].admit().intents["i1"].output == "one word"


def test_a3_constraints_add_up() -> None:
    intent = VECTORS["A3"].admit().intents["i1"]
    assert intent.criterion == "cheap, durable"
    assert intent.constraints == ("self_contained", "no cloud services")


@pytest.mark.rule("LANG-21")
def test_a4_a_seed_depends_on_the_one_it_was_split_from() -> None:
    document = VECTORS["A4"].admit()
    assert document.seeds["s2"].depends_on == ("s1",)
    assert document.seeds["s1"].depends_on == ()
    assert document.relation_edges == (
        RelationEdge("contains", "i1", "s1"),
        RelationEdge("contains", "i1", "s2"),
        RelationEdge("split_from", "s2", "s1"),
    )


@pytest.mark.rule("LANG-6")
def test_a5_layout_does_not_matter() -> None:
    assert VECTORS["A5"].admit() == VECTORS["A1"].admit()


@pytest.mark.rule("UNIT-4", "LANG-24")
def test_a6_defaults_follow_the_role() -> None:
    unit = VECTORS["A6"].admit().kus["k1"]
    assert (unit.utility_acts, unit.phase_scopes) == (("verify",), ("kb-plugin",))
    assert unit.text_body == unit.claim
    assert unit.hash is None


@pytest.mark.rule("LANG-24")
def test_a8_a_full_triple_may_have_a_confidence() -> None:
    unit = VECTORS["A8"].admit().kus["k1"]
    triple = (unit.symbolic_subject, unit.symbolic_relation, unit.symbolic_object)
    assert triple == ("Courier", "uses", "cargo drone")
    assert unit.confidence == 1


@pytest.mark.rule("UNIT-12", "LANG-25")
def test_parents_and_children_are_unit_ids_and_mirrored() -> None:
    document = VECTORS["A9"].admit()
    leaf, section = document.kus["k1"], document.kus["c1"]
    assert leaf.parent_unit_ids == (section.ku_id,) == ("src-7::section-000",)
    assert section.child_unit_ids == (leaf.ku_id,) == ("src-7::chunk-000::unit-000",)
    assert document.relation_edges == (RelationEdge("parent", "k1", "c1"),)


def test_a10_escapes() -> None:
    assert VECTORS["A10"].admit().kus["k1"].title == 'The "hard" limit \\ note'


def test_a11_lists() -> None:
    unit = VECTORS["A11"].admit().kus["k1"]
    assert (unit.utility_acts, unit.phase_scopes) == (("verify", "recommend"), ("kb-plugin", "val-plugin"))


@pytest.mark.rule("LANG-23")
def test_a12_plugin_descriptor() -> None:
    plugin = VECTORS["A12"].admit().plugins["p1"]
    assert (plugin.family, plugin.plugin_id, plugin.accepts_tasks) == ("kb-plugin", "kb-fast", ("define", "identify"))


@pytest.mark.rule("LANG-26", "LANG-28")
def test_a13_a_branch_with_its_life() -> None:
    document = VECTORS["A13"].admit()
    branch = document.branches["b1"]
    assert (branch.status, branch.validation_id, branch.result_id) == ("succeeded", "v1", "x1")
    assert document.status_events == (StatusEvent("b1", "active"), StatusEvent("b1", "succeeded"))
    assert document.validations["v1"].partial_allowed is False
    assert [edge.type for edge in document.relation_edges] == ["contains", "contains", "needs", "result"]


@pytest.mark.rule("LANG-11")
def test_a14_policy_and_objective_of_an_injected_frame() -> None:
    document = VECTORS["A14"].admit()
    assert document.external_refs == {"f1": ObjectKind.FRAME}
    assert (document.policies["d1"].level, document.policies["d1"].closure_mode) == (2, "comparative")
    assert document.objectives["d2"].items == ("validation_strength", "robustness")
    assert document.relation_edges == (RelationEdge("contains", "f1", "d1"), RelationEdge("contains", "f1", "d2"))


@pytest.mark.rule("LANG-21", "LANG-29")
def test_a15_a_deactivated_seed_stays_but_cannot_run() -> None:
    document = VECTORS["A15"].admit()
    assert not document.seeds["s1"].is_schedulable
    assert document.status_events == (StatusEvent("s1", "deactivated", "covered elsewhere"),)


@pytest.mark.rule("LANG-16")
def test_a16_an_empty_list_is_no_list() -> None:
    assert VECTORS["A16"].admit().kus["k1"].utility_acts == ("verify",)


@pytest.mark.rule("LANG-11", "LANG-32")
def test_a17_deliberation_edges() -> None:
    edges = VECTORS["A17"].admit().relation_edges
    assert edges[-7:] == (
        RelationEdge("contains", "f1", "c1"),
        RelationEdge("derived_from", "c1", "x1"),
        RelationEdge("contains", "f1", "m1"),
        RelationEdge("compares", "m1", "c1"),
        RelationEdge("compares", "m1", "x1"),
        RelationEdge("contains", "f1", "g1"),
        RelationEdge("challenges", "g1", "x1"),
    )


@pytest.mark.rule("LANG-31", "INTENT-4")
def test_a18_groups_are_numbered_in_document_order() -> None:
    assert [intent.group_number for intent in VECTORS["A18"].admit().intents.values()] == [1, 2]

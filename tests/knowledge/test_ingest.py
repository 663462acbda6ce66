"""Trees of units made from sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import TooLarge
from mrpvm.knowledge.units import content_hash
from mrpvm.sources.chunking import Chunk
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.units import (
    SUMMARY_CHARS,
    SourceInfo,
    build_unit_tree,
    check_source_size,
    children_summary,
    describe_source,
    source_type_of,
)
from mrpvm.testing import unit
from mrpvm.values import ROLES, KnowledgeUnit

SOURCE = SourceInfo(
    source_id="src-1",
    name="pump.md",
    source_type="markdown",
    author="Mara",
    knowledge_date="2025-12-01",
    ingested_at="2026-01-02T03:04:05Z",
)
contents = st.lists(
    st.tuples(
        st.sampled_from([None, "One", "Two", "Three"]),
        st.lists(st.tuples(st.sampled_from(ROLES), st.text(min_size=1, max_size=20)), max_size=4),
    ),
    max_size=6,
)


def build(described: list[tuple[str | None, list[tuple[str, str]]]]) -> tuple[KnowledgeUnit, ...]:
    chunks = [
        Chunk(
            text="x", char_start=place * 10, char_end=place * 10 + 5, chunk_type="markdown-section", section_title=title
        )
        for place, (title, _) in enumerate(described)
    ]
    units = [
        [unit(f"draft-{number}", text, role=role, topic="t") for number, (role, text) in enumerate(stated)]
        for _, stated in described
    ]
    return build_unit_tree(SOURCE, chunks, units)


@pytest.mark.rule("UNIT-11", "UNIT-12", "UNIT-15")
@given(contents)
def test_trees_hold_the_hierarchy_rules(described: list[tuple[str | None, list[tuple[str, str]]]]) -> None:
    units = build(described)
    by_id = {item.id: item for item in units}
    assert len(by_id) == len(units)
    for item in units:
        assert all(item.id in by_id[parent].child_unit_ids for parent in item.parent_unit_ids)
        assert all(item.id in by_id[child].parent_unit_ids for child in item.child_unit_ids)
        assert item.ku_type != "atomic" or not item.child_unit_ids
        assert item.ku_type == "atomic" or item.relation is None
        assert len(item.parent_unit_ids) <= 1
        assert item.source_id == SOURCE.source_id
        assert item.hash == content_hash(item)
        assert _depth(item, by_id) <= 2


def _depth(item: KnowledgeUnit, by_id: dict[str, KnowledgeUnit]) -> int:
    depth = 0
    while item.parent_unit_ids:
        item, depth = by_id[item.parent_unit_ids[0]], depth + 1
        assert depth < 10
    return depth


@pytest.mark.rule("UNIT-14")
@given(contents)
def test_every_leaf_has_one_root_above_it(described: list[tuple[str | None, list[tuple[str, str]]]]) -> None:
    units = build(described)
    leaves = [item for item in units if item.unit_type == "semantic-unit"]
    roots = [item for item in units if not item.parent_unit_ids]
    assert len(leaves) == sum(len(stated) for _, stated in described)
    assert len(roots) <= 1
    assert len(leaves) != 1 or roots == leaves


@pytest.mark.rule("UNIT-7", "UNIT-14", "INGEST-3", "INGEST-12")
def test_ids_and_levels() -> None:
    units = build([("One", [("Description", "A."), ("Procedure", "B.")]), ("Two", [("Description", "C.")])])
    assert [item.id for item in units] == [
        "src-1::chunk-000::unit-000",
        "src-1::chunk-000::unit-001",
        "src-1::chunk-001::unit-000",
        "src-1::section-000",
        "src-1::source-summary",
    ]
    section, summary = units[3], units[4]
    assert (section.ku_type, section.unit_type, section.title) == ("composite", "section-aggregate", "One")
    assert (summary.ku_type, summary.unit_type) == ("aggregate", "source-aggregate")
    assert summary.child_unit_ids == ("src-1::section-000", "src-1::chunk-001::unit-000")
    assert section.claim == "One. A. B."
    assert section.role == "Explanation"
    assert section.chunk_id == "src-1::chunk-000"


def test_a_section_cut_into_chunks_is_one_section() -> None:
    units = build([("One", [("Description", "A.")]), ("One", [("Description", "B.")]), ("Two", [("Definition", "C.")])])
    section = next(item for item in units if item.unit_type == "section-aggregate")
    assert section.child_unit_ids == ("src-1::chunk-000::unit-000", "src-1::chunk-001::unit-000")


@pytest.mark.rule("UNIT-7", "UNIT-15")
def test_origins_have_the_final_ids_of_their_chunk() -> None:
    """Two chunks may use equal ids; an id that names no unit of the chunk is kept."""
    chunks = [Chunk(text="x", char_start=0, char_end=1, chunk_type="paragraph-block")] * 2
    said = [
        unit("k1", "A.", topic="t"),
        unit("k2", "B.", topic="t", derived_from_unit_ids=("k1", "src-0::chunk-000::unit-004")),
    ]
    units = build_unit_tree(SOURCE, chunks, [said, said])
    assert [item.derived_from_unit_ids for item in units[:4]] == [
        (),
        ("src-1::chunk-000::unit-000", "src-0::chunk-000::unit-004"),
        (),
        ("src-1::chunk-001::unit-000", "src-0::chunk-000::unit-004"),
    ]


@pytest.mark.rule("UNIT-14")
def test_one_section_or_unit_needs_no_summary() -> None:
    *leaves, root = build([("One", [("Description", "A."), ("Description", "B.")])])
    assert (root.id, root.parent_unit_ids) == ("src-1::source-summary", ())
    assert root.child_unit_ids == tuple(leaf.id for leaf in leaves)
    assert [leaf.unit_type for leaf in leaves] == ["semantic-unit"] * 2
    assert [item.unit_type for item in build([("One", [("Description", "A.")])])] == ["semantic-unit"]


@pytest.mark.rule("INGEST-12")
def test_a_summary_has_first_sentences_and_the_top_role() -> None:
    said = [("Narrative", "He left. It rained."), ("Constraint", "Stop at ten. Never later."), ("Narrative", "He ate.")]
    root = build([("One", said)])[-1]
    assert (root.claim, root.role) == ("pump.md. He left. Stop at ten. He ate.", "Narrative")
    assert build([("One", said[:2])])[-1].role == "Constraint"  # a tie, in the order of the roles


@pytest.mark.rule("INGEST-12")
def test_a_summary_ends_with_a_whole_sentence() -> None:
    sentence = "A sentence of " + "x" * 140 + "."
    assert children_summary("T", [unit("u", sentence)] * 5) == f"T. {sentence} {sentence}"


@pytest.mark.rule("INGEST-12")
def test_procedures_become_explanations_in_summaries() -> None:
    units = build([("One", [("Procedure", "A."), ("Procedure", "B.")])])
    assert units[-1].role == "Explanation"


@pytest.mark.rule("INGEST-16")
def test_leaves_carry_their_provenance() -> None:
    leaf = build([("One", [("Description", "A.")])])[0]
    assert (leaf.source_id, leaf.knowledge_date) == ("src-1", "2025-12-01")
    assert (leaf.source_name, leaf.source_type, leaf.author) == ("pump.md", "markdown", "Mara")
    assert (leaf.ingested_at, leaf.created_at) == ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z")
    assert (leaf.chunk_id, leaf.chunk_index, leaf.unit_index) == ("src-1::chunk-000", 0, 0)
    assert (leaf.char_start, leaf.char_end, leaf.chunk_type, leaf.section_title) == (0, 5, "markdown-section", "One")


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=8))
def test_summaries_are_bounded_and_never_empty(title: str, said: list[str]) -> None:
    summary = children_summary(title or None, [unit("u", text) for text in said])
    assert summary.strip()
    assert len(summary) <= SUMMARY_CHARS


def test_too_many_units_are_refused() -> None:
    chunk = Chunk(text="x", char_start=0, char_end=1, chunk_type="whole-source")
    with pytest.raises(TooLarge) as refusal:
        build_unit_tree(SOURCE, [chunk], [[unit("u", "A.")] * 5], IngestLimits(units_per_source=3))
    assert refusal.value.code == "KB_VALIDATION_MAX_UNITS_PER_SOURCE"


def test_size_counts_bytes() -> None:
    check_source_size("ä" * 5, IngestLimits(source_bytes=10))
    with pytest.raises(TooLarge) as refusal:
        check_source_size("ä" * 6, IngestLimits(source_bytes=10))
    assert refusal.value.code == "KB_VALIDATION_TOO_LARGE"
    assert refusal.value.details == {"limit": 10, "size": 12}


@pytest.mark.rule("INGEST-15")
@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.MD", "", "markdown"),
        ("a.txt", "", "plain-text"),
        ("a.nl", "", "plain-text"),
        ("contract", "The party shall pay. The parties shall agree. Liability ends.", "legal"),
        ("tale", '"Go now," she said. "I will not," he replied.', "literary"),
        ("pump", "The pump runs at 3 bar.", "technical"),
    ],
)
def test_source_types(name: str, text: str, kind: str) -> None:
    assert source_type_of(name, text) == kind


@pytest.mark.rule("INGEST-15")
def test_header_lines_give_author_and_date() -> None:
    info = describe_source("src-1", "a.txt", "Title\nAuthor: Mara Rey\nDate: 2024-05\n\nText.")
    assert (info.author, info.knowledge_date) == ("Mara Rey", "2024-05-01")
    assert describe_source("src-1", "a.txt", "Date: 2024\n").knowledge_date == "2024-01-01"
    assert describe_source("src-1", "a.txt", "Text.").author is None

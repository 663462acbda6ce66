"""Fields, hashes, identities and promotion of units."""

import hashlib
import json
import unicodedata
from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.knowledge.indexing import matched_fields
from mrpvm.knowledge.units import content_hash, promotable, turn_unit_id, with_turn_identity
from mrpvm.testing import unit
from mrpvm.values import KnowledgeUnit
from mrpvm.wire import to_wire

texts = st.text(max_size=30)
FIELDS = (
    "id kuType role topic title claim procedure condition textBody subject relation object confidence parentUnitIds"
    " childUnitIds derivedFromUnitIds sourceId chunkId chunkIndex unitIndex charStart charEnd sourceName sourceType"
    " author ingestedAt createdAt knowledgeDate utilityActs utilityNote phaseScopes unitType chunkType sectionTitle"
    " hash"
)


@pytest.mark.rule("UNIT-1")
def test_the_fields_of_a_unit_and_their_names_on_the_wire() -> None:
    assert set(to_wire(unit("a", "Rex barks."))) == set(FIELDS.split())


@pytest.mark.rule("UNIT-8")
def test_the_hash_is_that_of_the_documented_array() -> None:
    item = unit("a", "Zed  uses\nYod.", topic="Zed", role="Definition", subject="Zed", relation="uses", object="Yod")
    document = json.dumps(
        ["Zed uses Yod.", "", "Definition", "Zed", "kb-plugin", "Zed", "uses", "Yod"], separators=(",", ":")
    )
    assert content_hash(item) == hashlib.sha256(document.encode()).hexdigest()


@pytest.mark.rule("UNIT-8")
@given(texts, texts)
def test_spacing_form_and_provenance_do_not_enter_the_hash(claim: str, topic: str) -> None:
    item = KnowledgeUnit(id="a", role="Description", topic=topic, claim=claim)
    spaced = replace(
        item,
        id="b",
        claim=f"  {unicodedata.normalize('NFD', claim)}\n",
        source_id="src-1",
        created_at="2026-01-01T00:00:00Z",
        utility_acts=("verify",),
        utility_note="note",
    )
    assert content_hash(item) == content_hash(spaced)


@pytest.mark.rule("UNIT-8")
@given(texts, st.permutations(["kb-plugin", "gs-plugin", "frame"]))
def test_scopes_are_a_set(claim: str, scopes: list[str]) -> None:
    item = KnowledgeUnit(id="a", role="Description", topic="t", claim=claim, phase_scopes=tuple(scopes))
    assert content_hash(item) == content_hash(replace(item, phase_scopes=("frame", "gs-plugin", "kb-plugin", "frame")))


@pytest.mark.rule("UNIT-8")
def test_case_role_and_field_matter() -> None:
    item = unit("a", "Rex.", topic="Rex")
    others = [
        replace(item, claim="rex."),
        replace(item, role="Narrative"),
        replace(item, topic="rex"),
        replace(item, claim=None, procedure="Rex."),
        replace(item, phase_scopes=("gs-plugin",)),
    ]
    assert len({content_hash(item), *(content_hash(other) for other in others)}) == 6


@pytest.mark.rule("TURN-9", "UNIT-7", "UNIT-15", "INGEST-15")
def test_turn_identity_renames_links_and_keeps_foreign_ones() -> None:
    parent = unit("draft-1", "Both.", ku_type="composite", child_unit_ids=("draft-2",))
    child = unit("draft-2", "One.", parent_unit_ids=("draft-1",), derived_from_unit_ids=("src-1::unit-000",))
    found = with_turn_identity([parent, child], "req-9", created_at="2026-01-01T00:00:00Z")
    assert [item.id for item in found] == ["session::req-9::unit-000", "session::req-9::unit-001"]
    assert found[0].child_unit_ids == (found[1].id,)
    assert found[1].parent_unit_ids == (found[0].id,)
    assert found[1].derived_from_unit_ids == ("src-1::unit-000",)
    assert {item.chunk_id for item in found} == {"session::req-9"}
    assert {(item.source_id, item.source_type, item.char_start) for item in found} == {("session", "chat-turn", None)}
    assert [item.hash for item in found] == [content_hash(item) for item in found]


@pytest.mark.rule("UNIT-7")
def test_ids_grow_wider_than_three_digits() -> None:
    assert turn_unit_id("req-1", 1234) == "session::req-1::unit-1234"


@pytest.mark.rule("TURN-21")
def test_facts_are_promoted_once() -> None:
    first, again, other = unit("a", "Rex barks."), unit("b", "Rex  barks.", topic="Rex barks"), unit("c", "Tom naps.")
    kept, dropped = promotable([first, again, other], "", known_hashes=[other.hash])
    assert kept == (first,)
    assert [(item.unit, item.reason) for item in dropped] == [(again, "duplicate"), (other, "duplicate")]


@pytest.mark.rule("DECISION-49", "TURN-22", "TURN-24")
def test_guidance_is_turn_local_unless_worded_for_the_session() -> None:
    rule = unit("a", "Answer in JSON.", phase_scopes=("gs-plugin",))
    assert promotable([rule], "Answer in JSON.")[1][0].reason == "turn-local guidance"
    assert promotable([rule], "From now on answer in JSON.")[0] == (rule,)
    assert promotable([rule], "", keep_all_guidance=True)[0] == (rule,)
    lasting = unit("b", "From now on answer in JSON.", phase_scopes=("gs-plugin",))
    assert promotable([lasting], "")[0] == (lasting,)
    both = unit("c", "Prefer metres.", phase_scopes=("kb-plugin", "gs-plugin"))
    assert promotable([both], "")[0] == (both,)


@pytest.mark.rule("TURN-21")
@given(st.lists(st.tuples(texts, st.sampled_from([("kb-plugin",), ("gs-plugin",)]))), texts)
def test_promotion_partitions_and_keeps_order(stated: list[tuple[str, tuple[str, ...]]], message: str) -> None:
    units = [unit(f"u{place}", text, phase_scopes=scopes) for place, (text, scopes) in enumerate(stated)]
    kept, dropped = promotable(units, message)
    assert sorted(item.id for item in kept) == sorted({item.id for item in units} - {item.unit.id for item in dropped})
    assert [item for item in units if item in kept] == list(kept)
    assert len({item.hash for item in kept}) == len(kept)


def test_terms_are_named_with_the_fields_they_stand_in() -> None:
    found = matched_fields(
        replace(
            unit("u", "The pump hums."), topic="Pumps", text_body="The pump hums.", condition="At night, pumps rest."
        ),
        ["pump", "hum", "night", "valve"],
    )
    assert found == {"pump": ("topic", "claim", "condition"), "hum": ("claim",), "night": ("condition",), "valve": ()}
    said = replace(unit("s", "It hums."), topic="Ann", unit_type=UTTERANCE, knowledge_date="2026-06-07T10:00:00Z")
    assert matched_fields(said, ["hum", "june", "ann"]) == {"hum": ("claim",), "june": ("day",), "ann": ("topic",)}

"""Admission of a detector's document: it becomes values of the machine."""

import pytest

from mrpvm.contracts import Detection
from mrpvm.kernel.admission import admit_detection, hash_warnings, unit_of
from mrpvm.lang import ControlWriter, admit
from tests.lang.control_vectors import read_vectors

VECTORS = read_vectors()
QUESTION = VECTORS["A1"].text


@pytest.mark.rule("DECISION-53", "TURN-9", "LANG-37")
def test_the_seeds_own_document_is_admitted_under_the_request():
    """The document is vector A0; the machine computes the hash and does not take the document's."""
    detection = Detection(status="success", intent_document=QUESTION, context_document=VECTORS["A0"].text)
    (unit,) = admit_detection(detection, "req-7").units
    assert (unit.id, unit.chunk_id) == ("session::req-7::unit-000", "session::req-7")
    assert (unit.source_id, unit.source_type) == ("session", "chat-turn")
    assert (unit.role, unit.topic) == ("Constraint", "deployment environment")
    assert unit.claim == "The system must run on CPU only."
    assert (unit.utility_acts, unit.phase_scopes) == (("verify",), ("kb-plugin", "gs-plugin"))
    assert len(unit.hash) == 64


@pytest.mark.rule("UNIT-9")
def test_a_hash_that_a_document_claims_counts_for_nothing():
    plain, claimed = VECTORS["A0"].text, VECTORS["A0"].text + f"\n@h1 set $k1 hash {'0' * 64}\n"
    documents = [
        Detection(status="success", intent_document=QUESTION, context_document=text) for text in (plain, claimed)
    ]
    (one,), (other,) = (admit_detection(document, "req-7").units for document in documents)
    assert other.hash == one.hash != "0" * 64
    (read,) = admit(claimed, "context").kus.values()
    assert unit_of(read).hash == one.hash


@pytest.mark.rule("UNIT-9")
def test_a_wrong_hash_is_warned_of_and_a_right_one_is_not():
    """There is one warning for each document, which names the units."""
    plain = VECTORS["A0"].text
    (right,) = (unit_of(ku).hash for ku in admit(plain, "context").kus.values())
    claims = {
        None: (),
        right: (),
        "0" * 64: ("The hash given for session::turn::unit-000 does not fit the content and was ignored.",),
    }
    for claimed, expected in claims.items():
        text = plain if claimed is None else f"{plain}\n@h1 set $k1 hash {claimed}\n"
        detection = Detection(status="success", intent_document=QUESTION, context_document=text)
        assert admit_detection(detection, "req-7").warnings == expected


def test_of_many_wrong_hashes_a_few_are_named():
    writer = ControlWriter()
    for number in range(12):
        writer.ku(
            "atomic", f"u-{number}", source_id="s", chunk_id="c", role="Description", topic="t", claim=str(number),
            hash="0" * 64,
        )  # fmt: skip
    (warning,) = hash_warnings(admit(writer.text(), "context"))
    assert "u-9 and 2 more does not" in warning
    assert "u-10" not in warning


@pytest.mark.rule("INTENT-5")
def test_an_intent_without_a_seed_gets_an_implicit_one():
    admitted = admit_detection(Detection(status="success", intent_document=QUESTION), "req-7")
    assert [(seed.action, seed.focus, seed.implicit) for seed in admitted.seeds] == [("define", "quorum", True)]


def test_a_deactivated_seed_is_not_replaced_by_an_implicit_one():
    """The detector decided that this intent is not run."""
    admitted = admit_detection(Detection(status="success", intent_document=VECTORS["A15"].text), "req-7")
    assert admitted.intents
    assert admitted.seeds == ()


@pytest.mark.rule("LANG-25")
def test_triples_and_parents_keep_their_meaning():
    """Parents become unit ids of the turn."""
    document = VECTORS["A9"].text
    detection = Detection(status="success", intent_document=QUESTION, context_document=document)
    composite, leaf = admit_detection(detection, "req-7").units
    assert leaf.parent_unit_ids == (composite.id,)
    assert composite.child_unit_ids == (leaf.id,)

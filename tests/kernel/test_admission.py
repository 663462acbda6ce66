"""What a detector wrote becomes the machine's values [T-8, T-9]."""

from mrpvm.contracts import Detection
from mrpvm.kernel.admission import admit_detection, unit_of
from mrpvm.lang import admit
from tests.lang.control_vectors import read_vectors

VECTORS = read_vectors()
QUESTION = VECTORS["A1"].text


def test_the_seeds_own_document_is_admitted_under_the_request():
    """[O-53, KU-8]: vector A0; its hash is the machine's own, not the document's."""
    detection = Detection(status="success", intent_document=QUESTION, context_document=VECTORS["A0"].text)
    (unit,) = admit_detection(detection, "req-7").units
    assert (unit.id, unit.chunk_id) == ("session::req-7::unit-000", "session::req-7")
    assert (unit.source_id, unit.source_type) == ("session", "chat-turn")
    assert (unit.role, unit.topic) == ("Constraint", "deployment environment")
    assert unit.claim == "The system must run on CPU only."
    assert (unit.utility_acts, unit.phase_scopes) == (("verify",), ("kb-plugin", "gs-plugin"))
    assert len(unit.hash) == 64


def test_a_hash_that_a_document_claims_counts_for_nothing():
    """[KU-9]"""
    plain, claimed = VECTORS["A0"].text, VECTORS["A0"].text + f"\n@h1 set $k1 hash {'0' * 64}\n"
    documents = [
        Detection(status="success", intent_document=QUESTION, context_document=text) for text in (plain, claimed)
    ]
    (one,), (other,) = (admit_detection(document, "req-7").units for document in documents)
    assert other.hash == one.hash != "0" * 64
    (read,) = admit(claimed, "context").kus.values()
    assert unit_of(read).hash == one.hash


def test_an_intent_without_a_seed_gets_an_implicit_one():
    """[I-5]"""
    admitted = admit_detection(Detection(status="success", intent_document=QUESTION), "req-7")
    assert [(seed.action, seed.focus, seed.implicit) for seed in admitted.seeds] == [("define", "quorum", True)]


def test_a_deactivated_seed_is_not_replaced_by_an_implicit_one():
    """[SOP-21]: the detector decided that nothing of this intent is to be run."""
    admitted = admit_detection(Detection(status="success", intent_document=VECTORS["A15"].text), "req-7")
    assert admitted.intents
    assert admitted.seeds == ()


def test_triples_and_parents_keep_their_meaning():
    """[SOP-25]: parents are unit ids of the turn."""
    document = VECTORS["A9"].text
    detection = Detection(status="success", intent_document=QUESTION, context_document=document)
    composite, leaf = admit_detection(detection, "req-7").units
    assert leaf.parent_unit_ids == (composite.id,)
    assert composite.child_unit_ids == (leaf.id,)

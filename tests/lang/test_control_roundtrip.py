"""Serialising an admitted document and admitting the result gives an equal document."""

import pytest
from hypothesis import given

from mrpvm.lang import AdmittedDocument, admit, serialize
from tests.lang.control_documents import mixed_documents
from tests.lang.control_vectors import ACCEPTED, Vector

MAPS = (
    "intents", "seeds", "subproblems", "plugins", "kus", "validations", "policies", "objectives", "candidates",
    "comparisons", "challenges", "branches", "results",
)  # fmt: skip


def assert_round_trip(document: AdmittedDocument) -> None:
    """Assert equality; dictionaries ignore order in comparisons, so the order is compared separately."""
    text = serialize(document)
    again = admit(text, document.kind, document.external_refs)
    assert again == document
    assert [list(getattr(again, name)) for name in MAPS] == [list(getattr(document, name)) for name in MAPS]
    assert serialize(again) == text


@pytest.mark.rule("LANG-33")
@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector.name)
def test_vectors(vector: Vector) -> None:
    assert_round_trip(vector.admit())


@pytest.mark.rule("LANG-22", "LANG-31", "LANG-33")
@given(mixed_documents())
def test_any_document(text: str) -> None:
    assert_round_trip(admit(text, "mixed", {"f1": "frame"}))


def test_changes_of_injected_objects() -> None:
    text = (
        '@a set $b7 failureReason "no luck"\n@b constrain $f1 "in two minutes"\n@c allows $d7 recursion\n'
        "@d status $b7 failed\n@e set $i7 output table\n"
    )
    refs = {"b7": "branch", "f1": "frame", "d7": "subproblem", "i7": "intent"}
    document = admit(text, "mixed", refs)
    assert [(change.command, change.object_id, change.value) for change in document.runtime_changes] == [
        ("set", "b7", "no luck"), ("constrain", "f1", "in two minutes"), ("allows", "d7", "recursion"),
        ("set", "i7", "table"),
    ]  # fmt: skip
    assert [(event.object_id, event.state) for event in document.status_events] == [("b7", "failed")]
    assert_round_trip(document)

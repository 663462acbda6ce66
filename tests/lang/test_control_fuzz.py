"""Damaged documents: admission returns an admitted document or diagnostics, and never raises anything else."""

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.lang import ControlLanguageError, DocumentKind, admit
from tests.lang.control_documents import damaged, mixed_documents
from tests.lang.control_vectors import VECTORS
from tests.lang.test_control_roundtrip import assert_round_trip

SEED = os.environ["TEST_FUZZ_SEED"]
PARTS = 10
DOCUMENTS_A_PART = int(os.environ["TEST_FUZZ_DOCUMENTS"]) // PARTS
"""`tests/conftest.py` sets both and prints them."""
KINDS = st.sampled_from(list(DocumentKind))
SEEDS = st.integers(0, 2**32)


def check(text: str, kind: DocumentKind) -> None:
    """Admit `text`: an admitted document survives a round trip, a refused one has diagnostics with places."""
    try:
        document = admit(text, kind, {"f1": "frame"})
    except ControlLanguageError as error:
        check_diagnostics(text, error)
    else:
        assert_round_trip(document)


def check_diagnostics(text: str, error: ControlLanguageError) -> None:
    """Assert that diagnostics have places in the text, are in document order, and can be shown."""
    lines = text.split("\n")
    places = [(diagnostic.line, diagnostic.column) for diagnostic in error.diagnostics]
    assert places
    assert places == sorted(places)
    for diagnostic in error.diagnostics:
        assert 1 <= diagnostic.line <= len(lines)
        assert 1 <= diagnostic.column <= len(lines[diagnostic.line - 1]) + 1
        assert "expected" in diagnostic.message
        assert str(diagnostic).isprintable() or all(char in "\n\t" or char.isprintable() for char in str(diagnostic))


@pytest.mark.rule("LANG-3")
@pytest.mark.mutation
@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_vectors(part: int) -> None:
    """The test tries 2,000 documents, in `.ci/run` 20,000, and in `make fuzz` 200,000."""
    chance = random.Random(f"{SEED}:{part}")
    names, kinds = sorted(VECTORS), list(DocumentKind)
    for _ in range(DOCUMENTS_A_PART):
        text, kind = damaged(VECTORS[chance.choice(names)].text, chance), chance.choice(kinds)
        try:
            check(text, kind)
        except BaseException as error:
            error.add_note(f"TEST_FUZZ_SEED={SEED}, part {part}, as {kind}: {text!r}")
            raise


@given(mixed_documents(), SEEDS)
def test_damaged_mixed_documents(text: str, seed: int) -> None:
    check(damaged(text, random.Random(seed)), DocumentKind.MIXED)


@given(st.text(max_size=200), KINDS)
def test_any_text(text: str, kind: DocumentKind) -> None:
    check(text, kind)

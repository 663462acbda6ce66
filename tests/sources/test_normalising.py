"""Validation of a normaliser's reply for a chunk."""

import pytest

from mrpvm.contracts import Normalisation
from mrpvm.errors import InvalidInput
from mrpvm.lang import ControlWriter
from mrpvm.sources.normalising import admitted, raised
from mrpvm.sources.source import SourceFile, read_source


@pytest.mark.rule("UNIT-9")
def test_a_hash_that_a_normaliser_got_wrong_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The unit is accepted with the hash of its text."""
    read = read_source(SourceFile(source_id="src-1", name="a.txt", data=b"The pump hums."))
    writer = ControlWriter()
    writer.ku(
        "atomic", "u-1", source_id="s", chunk_id="c", role="Description", topic="pump", claim="The pump hums.",
        hash="0" * 64,
    )  # fmt: skip
    (unit,) = admitted(read, 0, "sd-x", Normalisation(status="success", context_document=writer.text())).units
    assert unit.hash != "0" * 64
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.message == (
        "sd-x on part 1 of src-1: The hash given for u-1 does not fit the content and was ignored."
    )


def test_what_a_normaliser_raises_is_told_without_secrets() -> None:
    read = read_source(SourceFile(source_id="src-1", name="a.txt", data=b"The pump hums."))
    failed = raised(read, 0, "sd-x", InvalidInput("no entry for sk-0123456789"))
    assert failed.message == "sd-x could not read part 1 of 1: no entry for [REDACTED]."

"""Validation of a normaliser's reply for a chunk."""

import re
from typing import Any

import pytest

from mrpvm.contracts import Normalisation
from mrpvm.errors import InvalidInput, TurnFailed
from mrpvm.lang import ControlWriter
from mrpvm.sources.normalising import admitted_units, raised
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
    (unit,) = admitted_units(read, 0, "sd-x", Normalisation(status="success", context_document=writer.text())).units
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


@pytest.mark.rule("PLUGIN-24", "INGEST-11")
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "The value is a NoneType; it must be a Normalisation."),
        ("text", "The value is a str; it must be a Normalisation."),
        (Normalisation(status="success", context_document=5), "context_document is an int"),  # type: ignore[arg-type]
        (Normalisation(status="error", error="broken"), "error is a str"),  # type: ignore[arg-type]
    ],
)
def test_a_reply_of_other_types_is_the_failure_of_its_plugin(reply: Any, said: str) -> None:
    read = read_source(SourceFile(source_id="src-1", name="a.txt", data=b"The pump hums."))
    with pytest.raises(TurnFailed, match=re.escape(said)) as caught:
        admitted_units(read, 0, "sd-odd", reply)
    assert caught.value.details["plugin_code"] == "PLUGIN_CONTRACT_VIOLATION"

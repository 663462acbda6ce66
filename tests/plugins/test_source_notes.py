"""Summaries and figures that retrievers derive from a stored source."""

import hashlib
import json
from copy import replace

import pytest

from mrpvm.contracts import SourceReply, SourceText
from mrpvm.plugins.kb_retrievers.fast.plugin import FastKBRetriever
from mrpvm.plugins.kb_retrievers.source_notes import note_source
from mrpvm.testing import check_plugin, unit
from mrpvm.testing.conformance import NotConforming

SOURCE = SourceText(
    source_id="src-1",
    name="The\npump",
    content="The pump uses a valve. Open it first.",
    units=(
        replace(unit("a", "The pump uses a valve."), subject="pump", relation="uses", object="valve"),
        replace(unit("b", "Open it first."), role="Procedure", procedure="Open it first."),
        replace(unit("c", "The valve."), subject="valve"),
    ),
    stored_at="2026-01-01T00:00:00+00:00",
    keeps_artifacts=True,
)


@pytest.mark.rule("BUILTIN-32")
def test_the_figures_and_the_summary() -> None:
    reply = note_source("kb-mine", SOURCE)
    role = SOURCE.units[0].role
    assert set(reply.artifacts) == {"src-1.json", "src-1.summary.md"}
    assert json.loads(reply.artifacts["src-1.json"]) == {
        "pluginId": "kb-mine",
        "sourceId": "src-1",
        "sessionId": None,
        "sourceHash": hashlib.sha256(SOURCE.content.encode()).hexdigest(),
        "unitCount": 3,
        "procedureCount": 1,
        "symbolicFactCount": 1,
        "roles": sorted([role, "Procedure"]),
        "roleCounts": {role: 2, "Procedure": 1},
        "deriveModel": None,
        "generatedAt": "2026-01-01T00:00:00+00:00",
    }
    summary = reply.artifacts["src-1.summary.md"].decode().splitlines()
    assert summary[0] == "# The pump"
    assert {f"- {role}: 2", "- Procedure: 1"} <= set(summary)


def test_without_a_store_there_is_nothing_to_do() -> None:
    assert note_source("kb-mine", replace(SOURCE, keeps_artifacts=False)) == SourceReply(status="skipped")


@pytest.mark.rule("PLUGIN-10")
@pytest.mark.parametrize(
    ("reply", "broken"),
    [
        (SourceReply(status="accepted", artifacts={"a": b"1"}), "without an artifact store"),
        (SourceReply(status="skipped", artifacts={"a": b"1"}), "artifacts come with acceptance"),
        (SourceReply(status="done"), "accepted, skipped or an error"),  # type: ignore[arg-type]
    ],
)
def test_a_reader_that_breaks_the_contract_is_told_so(reply: SourceReply, broken: str) -> None:
    class Reader(FastKBRetriever):
        def on_source_text(self, source: SourceText) -> SourceReply:
            return reply

    with pytest.raises(NotConforming, match=broken):
        check_plugin(Reader())

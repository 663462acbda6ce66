"""The four forms of an answer."""

import json
from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.answers import (
    NO_CONTEXT_TEXT,
    answer_text,
    cited_units,
    heading,
    no_context_text,
    response_document,
    response_markdown,
)
from mrpvm.preview import PREVIEW_CHARS, preview, size_words
from mrpvm.testing import unit
from mrpvm.values import Answer, AnswerGroup, EvidenceEntry

ENTRIES = (
    EvidenceEntry(unit=unit("turn", "Rex barks."), score=1.0, store="current-turn"),
    EvidenceEntry(unit=unit("session", "Rex naps."), score=0.5, store="session"),
    EvidenceEntry(unit=unit("src-1::a", "Open it.", role="Procedure", source_id="src-1"), score=0.25, store="kb"),
)
GROUP = AnswerGroup(
    intent_ref=1,
    act="identify",
    intent="What does Rex do?",
    status="answered",
    answer_markdown="Rex barks. [1] Rex naps. [2]",
    evidence=ENTRIES,
    cited_unit_ids=("turn", "session"),
)
OTHER = replace(GROUP, intent_ref=2, intent="When?", answer_markdown="Rex naps. [1] Open it. [2] See [9].",
                cited_unit_ids=("session", "src-1::a"))  # fmt: skip
NOTHING = replace(GROUP, intent_ref=3, intent="Who?", status="no-context", answer_markdown=NO_CONTEXT_TEXT, evidence=(),
                  cited_unit_ids=())  # fmt: skip
BOTH = Answer(groups=(GROUP, OTHER))


@pytest.mark.rule("ANSWER-1", "ANSWER-2")
def test_the_document_sorts_evidence_by_layer() -> None:
    document = response_document(BOTH, "sess-1")
    assert document["sessionId"] == "sess-1"
    first = document["groups"][0]
    assert [item["id"] for item in first["currentTurnContext"]] == ["turn"]
    assert [(item["unitId"], item["score"], item["unit"]["claim"]) for item in first["sessionSources"]] == [
        ("session", 0.5, "Rex naps.")
    ]
    assert [(item["sourceId"], item["unitId"]) for item in first["kbSources"]] == [("src-1", "src-1::a")]
    assert (first["intentRef"], first["act"], first["intent"], first["status"]) == (
        1,
        "identify",
        "What does Rex do?",
        "answered",
    )
    assert first["pluginOutput"] is None
    assert first["warnings"] == []


@pytest.mark.rule("ANSWER-2")
def test_the_document_is_json_with_camel_case_units() -> None:
    text = json.dumps(response_document(BOTH, "sess-1"))
    assert '"phaseScopes"' in text
    assert "phase_scopes" not in text


@pytest.mark.rule("DECISION-13")
def test_one_group_reads_as_its_answer() -> None:
    assert answer_text(Answer(groups=(GROUP,))) == "Rex barks. [1] Rex naps. [2]"


@pytest.mark.rule("DECISION-13")
def test_several_groups_share_one_count_of_sources() -> None:
    assert answer_text(BOTH) == (
        "**What does Rex do?**\n\nRex barks. [1] Rex naps. [2]\n\n**When?**\n\nRex naps. [2] Open it. [3] See [9]."
    )
    assert cited_units(BOTH) == ["turn", "session", "src-1::a"]
    assert cited_units(Answer(groups=(GROUP,))) == ["turn", "session"]


def test_headings_are_short_and_on_one_line() -> None:
    assert heading("Why\n **so**?") == "Why so?"
    assert len(heading("word " * 100)) <= 80


@pytest.mark.rule("ANSWER-4")
def test_markdown_has_the_documented_shape() -> None:
    assert response_markdown(Answer(groups=(GROUP, NOTHING)), "sess-1") == (
        "# MRP Response\n\nSession: sess-1\n\n"
        "## Intent Group 1\n\nAct: identify\nIntent: What does Rex do?\nStatus: answered\n\n"
        "### Current-Turn Context\n\n#### turn (score: 1.00)\n\nRole: Description\nClaim: Rex barks.\n\n"
        "### Session Context\n\n#### session (score: 0.50)\n\nRole: Description\nClaim: Rex naps.\n\n"
        "### Persistent KB Context\n\n#### src-1::a (score: 0.25)\n\nRole: Procedure\nSource: src-1\n"
        "Procedure: Open it.\n\n"
        "### Answer\n\nRex barks. [1] Rex naps. [2]\n\n### Sources Used\n\n- turn\n- session\n\n"
        "## Intent Group 3\n\nAct: identify\nIntent: Who?\nStatus: no-context\n\n"
        f"### Answer\n\n{NO_CONTEXT_TEXT}\n\n### Sources Used\n\n(none)\n"
    )


@pytest.mark.rule("ANSWER-10")
def test_helper_output_is_shown() -> None:
    helped = replace(GROUP, plugin_output={"plugin": "calc", "confidence": 0.9, "result": "4"})
    text = response_markdown(Answer(groups=(helped,)), "s")
    assert "### Plugin Evidence\n\nPlugin: calc\nConfidence: 0.9\nResult: 4\n" in text


@pytest.mark.rule("ANSWER-5", "ANSWER-6")
@given(st.lists(st.sampled_from(["answered", "no-context", "plugin-error"]), min_size=1, max_size=4))
def test_markdown_and_document_agree(statuses: list[str]) -> None:
    groups = tuple(
        replace(GROUP, intent_ref=place, status=status, answer_markdown=f"text {place}")  # type: ignore[arg-type]
        for place, status in enumerate(statuses, 1)
    )
    text = response_markdown(Answer(groups=groups), "s")
    document = response_document(Answer(groups=groups), "s")
    parts = text.split("## Intent Group ")[1:]
    for part, group in zip(parts, document["groups"], strict=True):
        assert f"Status: {group['status']}\n" in part
        assert f"### Answer\n\n{group['answerMarkdown']}\n" in part


@pytest.mark.rule("ANSWER-3", "ANSWER-7")
@pytest.mark.parametrize("as_json", [True, False])
def test_no_context_text(as_json: bool) -> None:
    text = no_context_text(as_json=as_json)
    said = json.loads(text)["answer"] if as_json else text
    assert said == "The session context and persistent KB do not contain enough evidence to answer this intent."


@pytest.mark.rule("ANSWER-12")
@given(st.text(max_size=600))
def test_previews_are_short_single_lines(text: str) -> None:
    found = preview(text)
    assert len(found) <= PREVIEW_CHARS
    assert "\n" not in found
    if len(" ".join(text.split())) <= PREVIEW_CHARS:
        assert found == " ".join(text.split())


@pytest.mark.rule("ANSWER-12")
@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1536, "1.5 KB"), (20 * 1024**2, "20.0 MB"),
     (5 * 1024**4, "5120.0 GB")],
)  # fmt: skip
def test_sizes_are_written_for_people(count: int, words: str) -> None:
    assert size_words(count) == words


def test_previews_are_cut_between_words() -> None:
    assert preview("some words here", 12) == "some words\u2026"

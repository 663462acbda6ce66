"""Chunks and their positions."""

from copy import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import TooLarge
from mrpvm.sources.chunking import Chunk, chunk_source
from mrpvm.sources.limits import NORMALISER_MAX_CHARS, ChunkingLimits

CHUNK_TYPES = {
    "whole-source", "markdown-section", "markdown-body", "markdown-paragraph", "markdown-sentence-window",
    "paragraph-block", "sentence-window", "fixed-window",
}  # fmt: skip
small = ChunkingLimits(whole_max_chars=70, target_max_chars=60, min_chars=8, window_chars=60, window_overlap_chars=6)
prose = st.lists(
    st.sampled_from(
        ["Rex barks. ", "A long word here. ", "x" * 90, "\n\n", "\n", "# Title\n", "## Two words\n", "- item\n", "  "]
    ),
    max_size=40,
).map("".join)


def own_text(text: str, chunk: Chunk) -> str:
    return text[chunk.char_start : chunk.char_end]


@pytest.mark.rule("INGEST-8")
@given(prose | st.text(), st.booleans())
def test_offsets_locate_the_chunks_own_text(text: str, is_markdown: bool) -> None:
    for chunk in chunk_source(text, is_markdown=is_markdown, limits=small):
        assert own_text(text, chunk).strip()
        assert chunk.text.endswith(own_text(text, chunk))
        assert chunk.chunk_type in CHUNK_TYPES


@given(prose | st.text(), st.booleans())
def test_chunks_are_ordered_and_cover_all_but_headings(text: str, is_markdown: bool) -> None:
    chunks = chunk_source(text, is_markdown=is_markdown, limits=small)
    assert all(left.char_end <= right.char_start for left, right in pairwise(chunks))
    if not is_markdown:
        joined = "".join(own_text(text, chunk) for chunk in chunks)
        assert "".join(joined.split()) == "".join(text.split())


@given(prose, st.booleans())
def test_no_chunk_is_larger_than_its_target(text: str, is_markdown: bool) -> None:
    for chunk in chunk_source(text, is_markdown=is_markdown, limits=small):
        assert len(chunk.text) <= small.whole_max_chars


@pytest.mark.rule("INGEST-7")
@pytest.mark.parametrize("text", ["x" * 100_000, "word " * 20_000, "# T\n" + "y" * 50_000, "a\n\n" * 20_000])
def test_nothing_exceeds_what_a_normaliser_takes(text: str) -> None:
    for is_markdown in (True, False):
        assert all(len(chunk.text) <= NORMALISER_MAX_CHARS for chunk in chunk_source(text, is_markdown=is_markdown))


@pytest.mark.rule("INGEST-9")
def test_short_text_stays_whole() -> None:
    assert chunk_source(" Rex barks.\n", is_markdown=False) == (
        Chunk(text="Rex barks.", char_start=1, char_end=11, chunk_type="whole-source"),
    )


def test_blank_text_has_no_chunk() -> None:
    assert chunk_source(" \n ", is_markdown=True) == ()


@pytest.mark.rule("INGEST-6")
def test_markdown_sections_carry_their_heading() -> None:
    text = "Intro.\n\n# Pump\n\nIt pumps.\n\n### Valve ###\nIt shuts.\n\n#### deep\nStill valve.\n"
    chunks = chunk_source(text, is_markdown=True)
    assert [(chunk.section_title, chunk.chunk_type) for chunk in chunks] == [
        (None, "markdown-body"),
        ("Pump", "markdown-section"),
        ("Valve", "markdown-section"),
    ]
    assert chunks[1].text == "# Pump\n\nIt pumps."
    assert own_text(text, chunks[2]) == "It shuts.\n\n#### deep\nStill valve."


def test_sections_carry_the_headings_around_their_own() -> None:
    text = "# Router\n\n## Data\nWeight: 1 g\n### Radio\nRange: 3 m\n## Use\nPlug it in.\n# Switch\nIt clicks."
    chunks = chunk_source(text, is_markdown=True)
    assert [(chunk.section_title, chunk.text) for chunk in chunks] == [
        ("Data", "# Router\n\n## Data\n\nWeight: 1 g"),
        ("Radio", "# Router\n\n## Data\n\n### Radio\n\nRange: 3 m"),
        ("Use", "# Router\n\n## Use\n\nPlug it in."),
        ("Switch", "# Switch\n\nIt clicks."),
    ]
    assert own_text(text, chunks[1]) == "Range: 3 m"


def test_a_hash_in_a_code_fence_is_no_heading() -> None:
    text = "# Real\nRun:\n```\n# comment\n```\nDone."
    assert [chunk.section_title for chunk in chunk_source(text, is_markdown=True)] == ["Real"]


@pytest.mark.rule("INGEST-5")
def test_sentence_windows_overlap_by_one_sentence() -> None:
    text = " ".join(f"Sentence number {number}." for number in range(10))
    chunks = chunk_source(text, is_markdown=False, limits=small)
    assert len(chunks) > 2
    for before, chunk in pairwise(chunks):
        last = own_text(text, before).rsplit("Sentence", 1)[1]
        assert chunk.text.startswith(f"Sentence{last} ")


@pytest.mark.rule("INGEST-5")
@pytest.mark.parametrize("count", [0, 1, 2])
def test_as_many_sentences_overlap_as_are_asked_for(count: int) -> None:
    text = " ".join(f"{letter}{'o' * 20}." for letter in "ABCDEFGHIJKL")
    limits = replace(small, target_max_chars=150, overlap_sentences=count)
    chunks = chunk_source(text, is_markdown=False, limits=limits)
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        before = text[: chunk.char_start].split()
        assert chunk.text == " ".join([*before[len(before) - count :], text[chunk.char_start : chunk.char_end]])


@pytest.mark.rule("INGEST-5")
def test_fixed_windows_overlap() -> None:
    text = "".join(chr(97 + number % 26) for number in range(200))
    chunks = chunk_source(text, is_markdown=False, limits=small)
    assert [chunk.chunk_type for chunk in chunks] == ["fixed-window"] * len(chunks)
    assert chunks[1].text.startswith(text[chunks[1].char_start - 6 : chunks[1].char_start])


@pytest.mark.rule("INGEST-5")
def test_the_shipped_sizes() -> None:
    assert [chunk.chunk_type for chunk in chunk_source("x" * 7_000, is_markdown=False)] == ["whole-source"]
    first, second = chunk_source("x" * 7_001, is_markdown=False)
    assert (first.char_end, len(first.text), len(second.text)) == (6_000, 6_000, 600 + 1_001)
    blocks = "\n\n".join("y" * size for size in (3_000, 2_998, 3_000, 2_999))
    assert sizes(blocks) == [6_000, 3_000, 2_999]
    long = f"S{'y' * 2_998}. S{'y' * 3_298}."
    assert sizes(f"{'y' * 800}\n\n{long}") == [800, 3_000, 3_300]
    assert sizes(f"{'y' * 799}\n\n{long}") == [799 + 2 + 3_000, 3_300]


def sizes(text: str) -> list[int]:
    return [chunk.char_end - chunk.char_start for chunk in chunk_source(text, is_markdown=False)]


@pytest.mark.rule("INGEST-6", "INGEST-9")
def test_every_kind_of_chunk() -> None:
    """The boundaries are headings, else blank lines, else ends of sentences, else none."""
    sentences_, word = "A sentence of some length. " * 6, "x" * 100
    markdown = f"Before.\n\n# Short\nIt is.\n\n## Long\n\n{'A paragraph. ' * 3}\n\n{sentences_}\n\n{word}"
    kinds = [
        (chunk.section_title, chunk.chunk_type) for chunk in chunk_source(markdown, is_markdown=True, limits=small)
    ]
    assert list(dict.fromkeys(kinds)) == [
        (None, "markdown-body"),
        ("Short", "markdown-section"),
        ("Long", "markdown-paragraph"),
        ("Long", "markdown-sentence-window"),
        ("Long", "fixed-window"),
    ]
    plain = chunk_source(f"# No heading\n\n{sentences_}\n\n{word}", is_markdown=False, limits=small)
    kinds = [(chunk.section_title, chunk.chunk_type) for chunk in plain]
    assert list(dict.fromkeys(kinds)) == [
        (None, "paragraph-block"),
        (None, "sentence-window"),
        (None, "fixed-window"),
    ]


@pytest.mark.rule("INGEST-6")
def test_every_part_of_a_long_section_carries_its_heading() -> None:
    chunks = chunk_source("# Pump\n\n" + "It pumps all day long. " * 9, is_markdown=True, limits=small)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("# Pump\n\n") and chunk.section_title == "Pump" for chunk in chunks)


def test_a_small_chunk_absorbs_the_next() -> None:
    text = "Tiny.\n\n" + "A sentence that is long enough here. " * 2
    chunks = chunk_source(text, is_markdown=False, limits=small)
    assert own_text(text, chunks[0]).startswith("Tiny.")


def test_too_many_chunks_are_refused() -> None:
    with pytest.raises(TooLarge) as refusal:
        chunk_source("x" * 1_000, is_markdown=False, limits=small, max_chunks=3)
    assert refusal.value.code == "KB_INGEST_TOO_MANY_CHUNKS"
    assert refusal.value.details["limit"] == 3

"""A source's text cut into chunks a normaliser can take, with their places in the source."""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from copy import replace
from dataclasses import dataclass

from mrpvm.english.words.text import sentence_spans
from mrpvm.errors import TooLarge
from mrpvm.sources.limits import NORMALISER_MAX_CHARS, ChunkingLimits

_HEADING = re.compile(r"^(#{1,3})[ \t]+(\S)([^\n]*)$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A part of a source; `text` may begin with headings or an overlap that `char_start`..`char_end` leave out.

    The headings are that of its section, `section_title`, below those of the sections around it.
    `text` is at most 8000 characters.
    """

    text: str
    char_start: int
    char_end: int
    chunk_type: str
    section_title: str | None = None


type _Span = tuple[int, int]
type _Heading = tuple[int, str]
"""Its level and its title."""


def chunk_source(
    text: str, *, is_markdown: bool, limits: ChunkingLimits | None = None, max_chunks: int | None = None
) -> tuple[Chunk, ...]:
    """Return the chunks of a source in order; their own texts cover everything but white space.

    Args:
        max_chunks: bound of one source.

    Raises:
        TooLarge: with KB_INGEST_TOO_MANY_CHUNKS, when the source has more chunks than that.
    """
    bounds = limits or ChunkingLimits()
    chunks = tuple(_chunks(text, is_markdown=is_markdown, limits=bounds))
    if max_chunks is not None and len(chunks) > max_chunks:
        raise TooLarge(
            f"The source would be cut into {len(chunks)} chunks; {max_chunks} are allowed.",
            code="KB_INGEST_TOO_MANY_CHUNKS",
            details={"limit": max_chunks, "size": len(chunks)},
        )
    return chunks


def _chunks(text: str, *, is_markdown: bool, limits: ChunkingLimits) -> Iterator[Chunk]:
    headings = _headings(text) if is_markdown else []
    if not headings:
        whole = _trim(text, 0, len(text))
        if whole is None:
            return
        if whole[1] - whole[0] <= limits.whole_max_chars:
            yield _chunk(text, whole, "whole-source")
            return
        yield from _merge_small(text, _split_span(text, whole, limits, "paragraph-block", "sentence-window"), limits)
        return
    sections = []
    for start, end, titles in _sections(text, headings):
        span = _trim(text, start, end)
        if span is not None:
            sections.append((span, titles))
    yield from _merge_small(text, _section_chunks(text, sections, limits), limits)


def _headings(text: str) -> list[tuple[int, int, _Heading]]:
    """Return start of line, end of line, level and title of every heading of level 1 to 3 outside code fences."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    headings = []
    for match in _HEADING.finditer(text):
        is_inside = bisect_left(fences, match.start()) % 2 == 1
        if not is_inside:
            title = match[2] + without_closing_marks(match[3])
            headings.append((match.start(), match.end(), (len(match[1]), title)))
    return headings


def without_closing_marks(title: str) -> str:
    """Return a Markdown heading's title without the marks that may close it; by hand, in time linear to its length."""
    return title.rstrip().rstrip("#").rstrip()


def _sections(text: str, headings: list[tuple[int, int, _Heading]]) -> Iterator[tuple[int, int, tuple[_Heading, ...]]]:
    """Return start and end of each section, with its heading below those of the sections around it."""
    if headings[0][0] > 0:
        yield 0, headings[0][0], ()
    ends = [start for start, _, _ in headings[1:]] + [len(text)]
    above: tuple[_Heading, ...] = ()
    for (_, line_end, heading), end in zip(headings, ends, strict=True):
        above = (*(outer for outer in above if outer[0] < heading[0]), heading)
        yield line_end, end, above


def _section_chunks(
    text: str, sections: Iterable[tuple[_Span, tuple[_Heading, ...]]], limits: ChunkingLimits
) -> Iterator[Chunk]:
    for span, headings in sections:
        title = headings[-1][1] if headings else None
        prefix = "".join(f"{'#' * level} {heading[:200]}\n\n" for level, heading in headings)
        if span[1] - span[0] + len(prefix) <= limits.target_max_chars:
            kind = "markdown-section" if title else "markdown-body"
            yield _chunk(text, span, kind, title, prefix)
            continue
        room = replace(limits, target_max_chars=max(1, limits.target_max_chars - len(prefix)))
        for part in _split_span(text, span, room, "markdown-paragraph", "markdown-sentence-window"):
            yield replace(part, text=prefix + part.text, section_title=title)


def _split_span(
    text: str, span: _Span, limits: ChunkingLimits, paragraph_type: str, sentence_type: str
) -> Iterator[Chunk]:
    """Return the parts of a span: blocks of paragraphs, sentence windows, or fixed windows where nothing divides it."""
    block: _Span | None = None
    for paragraph in _paragraphs(text, span):
        if paragraph[1] - paragraph[0] > limits.target_max_chars:
            if block:
                yield _chunk(text, block, paragraph_type)
            block = None
            yield from _sentence_windows(text, paragraph, limits, sentence_type)
        elif block is None:
            block = paragraph
        elif paragraph[1] - block[0] <= limits.target_max_chars:
            block = (block[0], paragraph[1])
        else:
            yield _chunk(text, block, paragraph_type)
            block = paragraph
    if block:
        yield _chunk(text, block, paragraph_type)


def _paragraphs(text: str, span: _Span) -> Iterator[_Span]:
    start = span[0]
    for match in _BLANK.finditer(text, span[0], span[1]):
        trimmed = _trim(text, start, match.start())
        if trimmed:
            yield trimmed
        start = match.end()
    trimmed = _trim(text, start, span[1])
    if trimmed:
        yield trimmed


def _sentence_windows(text: str, span: _Span, limits: ChunkingLimits, chunk_type: str) -> Iterator[Chunk]:
    """Return windows of whole sentences; each begins with the last ones of the window before, outside its own span.

    An overlap longer than a third of the target is left out: it would crowd out what is new.
    """
    window: _Span | None = None
    lead, last = "", deque[str](maxlen=limits.overlap_sentences)
    for start, end in sentence_spans(text[span[0] : span[1]]):
        sentence = (span[0] + start, span[0] + end)
        said = text[sentence[0] : sentence[1]]
        if len(said) > limits.target_max_chars:
            if window:
                yield _chunk(text, window, chunk_type, None, lead)
            window, lead = None, ""
            last.clear()
            yield from _fixed_windows(text, sentence, limits)
            continue
        if window and len(lead) + sentence[1] - window[0] > limits.target_max_chars:
            yield _chunk(text, window, chunk_type, None, lead)
            overlap = "".join(f"{earlier} " for earlier in last)
            lead = overlap if len(overlap) <= limits.target_max_chars // 3 + 1 else ""
            window = None
        if window is None and len(lead) + len(said) > limits.target_max_chars:
            lead = ""
        window = (window[0] if window else sentence[0], sentence[1])
        last.append(said)
    if window:
        yield _chunk(text, window, chunk_type, None, lead)


def _fixed_windows(text: str, span: _Span, limits: ChunkingLimits) -> Iterator[Chunk]:
    """Return windows of fixed size; the overlap is in front of the window's own text."""
    size = min(limits.window_chars, limits.target_max_chars)
    lap = min(limits.window_overlap_chars, size // 2)
    start = span[0]
    while start < span[1]:
        lead = text[max(span[0], start - lap) : start]
        end = min(span[1], start + size - len(lead))
        yield _chunk(text, (start, end), "fixed-window", None, lead)
        start = end


def _merge_small(text: str, chunks: Iterable[Chunk], limits: ChunkingLimits) -> Iterator[Chunk]:
    """Merge a chunk below the minimum with the following one of the same section, if both fit."""
    held: Chunk | None = None
    for chunk in chunks:
        if held is None:
            held = chunk
        elif _absorbs(held, chunk, limits):
            prefix = held.text[: len(held.text) - (held.char_end - held.char_start)]
            merged = prefix + text[held.char_start : chunk.char_end]
            held = replace(held, text=merged, char_end=chunk.char_end)
        else:
            yield held
            held = chunk
    if held is not None:
        yield held


def _absorbs(held: Chunk, following: Chunk, limits: ChunkingLimits) -> bool:
    own = held.char_end - held.char_start
    return (
        own < limits.min_chars
        and held.section_title == following.section_title
        and len(held.text) - own + following.char_end - held.char_start <= limits.target_max_chars
    )


def _trim(text: str, start: int, end: int) -> _Span | None:
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return None
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(stripped)


def _chunk(text: str, span: _Span, chunk_type: str, title: str | None = None, lead: str = "") -> Chunk:
    body = lead + text[span[0] : span[1]]
    if len(body) > NORMALISER_MAX_CHARS:
        raise AssertionError(f"a chunk of {len(body)} characters")
    return Chunk(text=body, char_start=span[0], char_end=span[1], chunk_type=chunk_type, section_title=title)

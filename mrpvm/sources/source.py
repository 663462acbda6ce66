"""A source while it is ingested: what is to be read, what was read, the results of its chunks."""

from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field

from mrpvm.errors import TooLarge
from mrpvm.knowledge.indexing import IndexEntry, index_entry
from mrpvm.llm.redaction import without_secrets
from mrpvm.sources.chunking import Chunk, chunk_source
from mrpvm.sources.documents.reading import read_document
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.process_limits import LINE_CHARS
from mrpvm.sources.units import SourceInfo, build_unit_tree, check_source_size, describe_source
from mrpvm.values import KnowledgeUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that is to become a source, as it came; `id_root` as for `SourceInfo`.

    `is_redacted`: secrets in its text are redacted before anything is made of it.
    """

    source_id: str
    name: str
    data: bytes
    declared_type: str | None = None
    ingested_at: str | None = None
    id_root: str = ""
    is_redacted: bool = False
    limits: IngestLimits = field(default_factory=IngestLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """A source's text and the chunks it is normalised in."""

    info: SourceInfo
    text: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Control text of one chunk that admission refused, kept with what it was made from.

    `control_text` is empty where the normaliser kept it to itself.
    """

    chunk_index: int
    text: str
    control_text: str
    message: str
    diagnostics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkUnits:
    """The result of one chunk: its units, or the rejection of what its normaliser wrote."""

    units: tuple[KnowledgeUnit, ...] = ()
    rejection: Rejection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestedSource:
    """A source ready to be stored: text, unit tree, and the chunks that are missing from it.

    `entries` are what the units are found by, by their ids.
    """

    text: str
    units: tuple[KnowledgeUnit, ...]
    entries: Mapping[str, IndexEntry]
    chunk_count: int
    rejections: tuple[Rejection, ...] = ()


def read_source(file: SourceFile) -> ReadSource:
    """Return the file's text in chunks; questions and instructions are left to the normaliser.

    Raises:
        Unreadable, InvalidInput: as for `read_document`.
        TooLarge: KB_VALIDATION_TOO_LARGE, also for a line that is no text; KB_VALIDATION_MAX_UNITS_PER_SOURCE for more
            headings than there may be units; KB_INGEST_TOO_MANY_CHUNKS.
    """
    document = read_document(file.data, file.name, file.declared_type)
    if file.is_redacted:
        document = replace(document, text=without_secrets(document.text))
    check_source_size(document.text, file.limits)
    info = describe_source(file.source_id, file.name, document.text, ingested_at=file.ingested_at)
    is_markdown = document.is_markdown or info.source_type == "markdown"
    _check_lines(document.text.split("\n"), file.limits.units_per_source if is_markdown else None)
    chunks = chunk_source(
        document.text,
        is_markdown=is_markdown,
        limits=file.limits.chunking,
        max_chunks=file.limits.chunks_per_source,
    )
    info = replace(info, author=document.author or info.author, id_root=file.id_root)
    return ReadSource(info=info, text=document.text, chunks=chunks)


def _check_lines(lines: Sequence[str], headings_max: int | None) -> None:
    """Refuse what would take long to be refused later."""
    longest = max(map(len, lines), default=0)
    if longest > LINE_CHARS:
        raise TooLarge(
            f"A line of the source has {longest} characters; {LINE_CHARS} are allowed.",
            code="KB_VALIDATION_TOO_LARGE",
            details={"limit": LINE_CHARS, "size": longest},
        )
    heading_count = sum(line.startswith("#") for line in lines) if headings_max is not None else 0
    if headings_max is not None and heading_count > headings_max:
        raise TooLarge(
            f"The source has {heading_count} headings; {headings_max} units are allowed.",
            code="KB_VALIDATION_MAX_UNITS_PER_SOURCE",
            details={"limit": headings_max, "size": heading_count},
        )


def finish_source(read: ReadSource, results: Sequence[ChunkUnits], limits: IngestLimits) -> IngestedSource:
    """Return the source with its tree; `results` are those of its chunks, in chunk order.

    Raises:
        TooLarge: KB_VALIDATION_MAX_UNITS_PER_SOURCE.
    """
    units = build_unit_tree(read.info, read.chunks, [result.units for result in results], limits)
    return IngestedSource(
        text=read.text,
        units=units,
        entries={unit.id: index_entry(unit) for unit in units},
        chunk_count=len(read.chunks),
        rejections=tuple(result.rejection for result in results if result.rejection is not None),
    )

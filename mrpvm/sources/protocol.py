"""The protocol between the reading process and the server: lines of JSON; the file's bytes follow the first line.

Nothing that the process writes is trusted further than its shape: it has read a file of unknown origin.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import batched
from typing import Any

from msgspec import NODEFAULT, structs

from mrpvm.errors import InvalidInput, MRPError, TooLarge, TurnFailed, Unreadable
from mrpvm.knowledge.indexing import IndexEntry
from mrpvm.sources.chunking import Chunk
from mrpvm.sources.limits import ChunkingLimits, IngestLimits
from mrpvm.sources.source import IngestedSource, ReadSource, Rejection, SourceFile
from mrpvm.sources.units import SourceInfo
from mrpvm.values import KnowledgeUnit

_REFUSALS: dict[str, type[MRPError]] = {
    kind.__name__: kind for kind in (InvalidInput, TooLarge, TurnFailed, Unreadable)
}
_DEFAULTS = {item.name: None if item.default is NODEFAULT else item.default for item in structs.fields(KnowledgeUnit)}
_TUPLES = frozenset(name for name, value in _DEFAULTS.items() if isinstance(value, tuple))
_UNITS_A_LINE = 50
"""So few that reading a line does not block the server for long."""


def line(kind: str, **content: Any) -> bytes:
    return json.dumps({"kind": kind, **content}, separators=(",", ":")).encode() + b"\n"


def request(file: SourceFile, detector: str | None) -> bytes:
    """Return what the process reads: a line about the file and what to do, then the file."""
    head = asdict(file)
    del head["data"]
    return line("file", detector=detector, **head) + file.data


def parse_request(raw: bytes) -> tuple[SourceFile, str | None]:
    """Return the file and the detector to normalise it with; None asks for its text alone."""
    first, _, data = raw.partition(b"\n")
    head = json.loads(first)
    del head["kind"]
    detector, limits = head.pop("detector"), head.pop("limits")
    chunking = ChunkingLimits(**limits.pop("chunking"))
    return SourceFile(**head, limits=IngestLimits(**limits, chunking=chunking), data=data), detector


def refusal(error: MRPError) -> bytes:
    """Return the line of an error that the file's sender is to see."""
    return line("refused", error=type(error).__name__, **error.as_record())


def refused(message: dict[str, Any]) -> MRPError:
    """Return the error that a line of `refusal` states."""
    return _REFUSALS[message["error"]](message["message"], code=message["code"], details=message["details"])


def read_lines(read: ReadSource) -> list[bytes]:
    """Return a text with its chunks."""
    return [line("read", info=asdict(read.info), text=read.text, chunks=[asdict(chunk) for chunk in read.chunks])]


def parse_read(message: dict[str, Any]) -> ReadSource:
    """Return the text and chunks that lines of `read_lines` state."""
    chunks = tuple(Chunk(**chunk) for chunk in message["chunks"])
    return ReadSource(info=SourceInfo(**message["info"]), text=message["text"], chunks=chunks)


def ingested_lines(source: IngestedSource) -> list[bytes]:
    """Return a finished source: its units with their entries in several lines, its text and rejections in the last."""
    units = [[_packed(unit), _listed(source.entries[unit.id])] for unit in source.units]
    batches = batched(units, _UNITS_A_LINE, strict=False)
    rejections = [asdict(item) for item in source.rejections]
    last = line("ingested", text=source.text, chunk_count=source.chunk_count, rejections=rejections)
    return [*(line("units", units=batch) for batch in batches), last]


def parse_units(message: dict[str, Any]) -> list[tuple[KnowledgeUnit, IndexEntry]]:
    """Return the units of one line, each with its entry."""
    return [(_unpacked(packed), _entry(*entry)) for packed, entry in message["units"]]


def parse_ingested(message: dict[str, Any], units: Sequence[tuple[KnowledgeUnit, IndexEntry]]) -> IngestedSource:
    """Return the finished source of the last line."""
    rejections = tuple(
        Rejection(**{**item, "diagnostics": tuple(item["diagnostics"])}) for item in message["rejections"]
    )
    return IngestedSource(
        text=message["text"],
        units=tuple(unit for unit, _ in units),
        entries={unit.id: entry for unit, entry in units},
        chunk_count=message["chunk_count"],
        rejections=rejections,
    )


def _listed(entry: IndexEntry) -> list[Any]:
    return [entry.postings, entry.length, entry.words]


def _entry(postings: list[list[int]], length: int, words: str) -> IndexEntry:
    return IndexEntry(tuple((term, frequency) for term, frequency in postings), length, words)


def _unpacked(packed: dict[str, Any]) -> KnowledgeUnit:
    values: dict[str, Any] = {name: tuple(value) if name in _TUPLES else value for name, value in packed.items()}
    return KnowledgeUnit(**values)


def _packed(unit: KnowledgeUnit) -> dict[str, Any]:
    values = ((name, getattr(unit, name)) for name in _DEFAULTS)
    return {name: value for name, value in values if value != _DEFAULTS[name]}

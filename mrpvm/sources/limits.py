"""Bounds of ingestion; every one but the normaliser's own is a setting with these defaults."""

from dataclasses import dataclass

NORMALISER_MAX_CHARS = 8_000
"""What a detector accepts as one chunk, heading included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingLimits:
    """How a source is cut; no size is larger than what a normaliser takes."""

    whole_max_chars: int = 7_000
    target_max_chars: int = 6_000
    min_chars: int = 800
    overlap_sentences: int = 1
    window_chars: int = 6_000
    window_overlap_chars: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    """What one source may hold, and how it is cut; what a base may hold is a setting of the server."""

    source_bytes: int = 20 * 1024 * 1024
    chunks_per_source: int = 5_000
    units_per_source: int = 20_000
    chunking: ChunkingLimits = ChunkingLimits()

"""A source's units: provenance, ids and the tree of summaries above them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass

from mrpvm.english.words.lexicon import pattern
from mrpvm.english.words.text import SENTENCE_MARKS, sentences
from mrpvm.errors import TooLarge
from mrpvm.knowledge.units import content_hash, numbered
from mrpvm.preview import size_words
from mrpvm.sources.chunking import Chunk
from mrpvm.sources.limits import IngestLimits
from mrpvm.values import ROLES, KnowledgeUnit

SUMMARY_CHARS = 400
"""Length of an aggregate's claim."""
_AUTHOR, _DATE = pattern("sources.author"), pattern("sources.date")
_LEGAL, _LITERARY = pattern("sources.legal"), pattern("sources.literary")
_HEADER_CHARS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """What is known of a source as a whole; `id_root` is what its units' ids begin with, the source id where empty."""

    source_id: str
    name: str
    source_type: str
    author: str | None = None
    knowledge_date: str | None = None
    ingested_at: str | None = None
    id_root: str = ""

    @property
    def root(self) -> str:
        """Return what the ids of its chunks and units begin with."""
        return self.id_root or self.source_id


def describe_source(source_id: str, name: str, text: str, *, ingested_at: str | None = None) -> SourceInfo:
    """Return a source's type by its name or content, and author and date from its header lines."""
    header = text[:_HEADER_CHARS]
    author, date = _AUTHOR.search(header), _DATE.search(header)
    day = date[1] if date else None
    return SourceInfo(
        source_id=source_id,
        name=name,
        source_type=source_type_of(name, text),
        author=author[1].strip() if author else None,
        knowledge_date=day + "-01-01"[len(day) - 4 :] if day else None,
        ingested_at=ingested_at,
    )


def source_type_of(name: str, text: str) -> str:
    """Return `markdown`, `plain-text`, or by content `legal`, `literary`, `technical`."""
    lowered = name.lower()
    if lowered.endswith(".md"):
        return "markdown"
    if lowered.endswith((".txt", ".nl")):
        return "plain-text"
    size = max(1, len(text) // 1_000)
    if len(_LEGAL.findall(text)) >= 3 * size:
        return "legal"
    return "literary" if len(_LITERARY.findall(text)) >= 2 * size else "technical"


def check_source_size(text: str, limits: IngestLimits) -> None:
    """Refuse a source over its size limit.

    Raises:
        TooLarge: with KB_VALIDATION_TOO_LARGE.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.source_bytes:
        raise TooLarge(
            f"The source has {size_words(size)}; {size_words(limits.source_bytes)} are allowed.",
            code="KB_VALIDATION_TOO_LARGE",
            details={"limit": limits.source_bytes, "size": size},
        )


def check_unit_count(count: int, limits: IngestLimits) -> None:
    """Refuse a source over its limit of units; call it with the number so far, so that reading ends early.

    Raises:
        TooLarge: with KB_VALIDATION_MAX_UNITS_PER_SOURCE.
    """
    if count > limits.units_per_source:
        raise TooLarge(
            f"The source has {count} units or more; {limits.units_per_source} are allowed.",
            code="KB_VALIDATION_MAX_UNITS_PER_SOURCE",
            details={"limit": limits.units_per_source, "size": count},
        )


def chunk_id_of(root: str, chunk_index: int) -> str:
    """Return the id of a chunk; `root` is as for `SourceInfo`."""
    return f"{root}::{numbered('chunk', chunk_index)}"


def build_unit_tree(
    source: SourceInfo,
    chunks: Sequence[Chunk],
    units_by_chunk: Sequence[Sequence[KnowledgeUnit]],
    limits: IngestLimits | None = None,
) -> tuple[KnowledgeUnit, ...]:
    """Return all units of a source: leaves in chunk order, then section summaries, then the source's.

    Every unit has its final id, provenance and hash; parents and children mirror each other.

    Args:
        units_by_chunk: what the normaliser found in each chunk, in chunk order.

    Raises:
        TooLarge: with KB_VALIDATION_MAX_UNITS_PER_SOURCE.
    """
    leaves, sections = _leaves(source, chunks, units_by_chunk)
    aggregates = _aggregates(source, leaves, sections)
    check_unit_count(len(leaves) + len(aggregates), limits or IngestLimits())
    parent_of = {child: item.id for item in aggregates for child in item.child_unit_ids}
    return tuple(
        replace(
            item,
            parent_unit_ids=(parent_of[item.id],) if item.id in parent_of else (),
            hash=item.hash or content_hash(item),
        )
        for item in (*leaves, *aggregates)
    )


def _leaves(
    source: SourceInfo, chunks: Sequence[Chunk], units_by_chunk: Sequence[Sequence[KnowledgeUnit]]
) -> tuple[list[KnowledgeUnit], list[tuple[str | None, list[str]]]]:
    """Return the leaves, and by section its title and leaf ids; neighbours of one title are one section."""
    leaves: list[KnowledgeUnit] = []
    sections: list[tuple[str | None, list[str]]] = []
    for chunk_index, (chunk, units) in enumerate(zip(chunks, units_by_chunk, strict=True)):
        if not sections or chunk.section_title is None or sections[-1][0] != chunk.section_title:
            sections.append((chunk.section_title, []))
        root = chunk_id_of(source.root, chunk_index)
        ids = {item.id: f"{root}::{numbered('unit', place)}" for place, item in enumerate(units)}
        for unit_index, item in enumerate(units):
            leaf = _leaf(source, chunk, chunk_index, unit_index, item, ids)
            leaves.append(leaf)
            sections[-1][1].append(leaf.id)
    return leaves, [section for section in sections if section[1]]


def _leaf(
    source: SourceInfo, chunk: Chunk, chunk_index: int, unit_index: int, item: KnowledgeUnit, ids: Mapping[str, str]
) -> KnowledgeUnit:
    """Return a unit of a chunk as a leaf; `ids` are the final ones of the chunk's units, by those they came with.

    What it was derived from follows them; what is no unit of the chunk keeps its id.
    """
    chunk_id = chunk_id_of(source.root, chunk_index)
    return replace(
        item,
        id=f"{chunk_id}::{numbered('unit', unit_index)}",
        parent_unit_ids=(),
        child_unit_ids=(),
        derived_from_unit_ids=tuple(ids.get(unit_id, unit_id) for unit_id in item.derived_from_unit_ids),
        source_id=source.source_id,
        chunk_id=chunk_id,
        chunk_index=chunk_index,
        unit_index=unit_index,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        chunk_type=chunk.chunk_type,
        section_title=chunk.section_title or item.section_title,
        unit_type=item.unit_type or "semantic-unit",
        source_name=source.name,
        source_type=source.source_type,
        author=item.author or source.author,
        ingested_at=source.ingested_at,
        created_at=item.created_at or source.ingested_at,
        knowledge_date=item.knowledge_date or source.knowledge_date,
    )


def _aggregates(
    source: SourceInfo, leaves: Sequence[KnowledgeUnit], sections: Sequence[tuple[str | None, list[str]]]
) -> list[KnowledgeUnit]:
    """Return a summary for each section of two or more leaves, and one of the source above two or more parts."""
    if len(leaves) < 2:
        return []
    by_id = {leaf.id: leaf for leaf in leaves}
    aggregates: list[KnowledgeUnit] = []
    tops: list[KnowledgeUnit] = []
    for number, (title, leaf_ids) in enumerate(sections):
        children = [by_id[leaf_id] for leaf_id in leaf_ids]
        if len(sections) == 1 or len(children) < 2:
            tops += children
            continue
        section_id = f"{source.root}::{numbered('section', number)}"
        section = _aggregate(source, section_id, "composite", "section-aggregate", title, children)
        aggregates.append(section)
        tops.append(section)
    summary_id = f"{source.root}::source-summary"
    return [*aggregates, _aggregate(source, summary_id, "aggregate", "source-aggregate", source.name, tops)]


def _aggregate(
    source: SourceInfo,
    unit_id: str,
    ku_type: str,
    unit_type: str,
    title: str | None,
    children: Sequence[KnowledgeUnit],
) -> KnowledgeUnit:
    first = children[0]
    return KnowledgeUnit(
        id=unit_id,
        ku_type=ku_type,
        role=_common_role(children),
        topic=title or first.topic,
        title=title,
        claim=children_summary(title, children),
        child_unit_ids=tuple(child.id for child in children),
        source_id=source.source_id,
        chunk_id=first.chunk_id,
        chunk_index=first.chunk_index,
        char_start=min((child.char_start for child in children if child.char_start is not None), default=None),
        char_end=max((child.char_end for child in children if child.char_end is not None), default=None),
        unit_type=unit_type,
        section_title=title if unit_type == "section-aggregate" else None,
        source_name=source.name,
        source_type=source.source_type,
        author=source.author,
        ingested_at=source.ingested_at,
        created_at=source.ingested_at,
        knowledge_date=source.knowledge_date,
    )


def _common_role(children: Sequence[KnowledgeUnit]) -> str:
    """Return the most frequent role of the children, ties in the order of the roles; a summary is no procedure."""
    counts = Counter(child.role for child in children)
    role = min(counts, key=lambda item: (-counts[item], ROLES.index(item)))
    return "Explanation" if role == "Procedure" else role


def children_summary(title: str | None, children: Sequence[KnowledgeUnit]) -> str:
    """Return title and first sentence of each child in order, cut at 400 characters on a sentence end."""
    firsts = [sentences(child.text)[0] for child in children if sentences(child.text)]
    said = f"{title.rstrip('.')}." if title else ""
    for sentence in firsts:
        closed = sentence if sentence[-1:] in SENTENCE_MARKS else sentence + "."
        joined = f"{said} {closed}".strip()
        if len(joined) > SUMMARY_CHARS:
            break
        said = joined
    return said or (firsts[0][: SUMMARY_CHARS - 1].rstrip() + "\u2026" if firsts else "-")

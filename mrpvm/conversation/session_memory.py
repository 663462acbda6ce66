"""What a session remembers of its earlier turns: terms they resolved, documents and sections they used.

It is a cache: it expires after some hours without use, and turns work without it. What it holds
comes from committed turns alone, so a turn never prefers what it found itself.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from msgspec import Struct

from mrpvm.conversation.answers import words_told
from mrpvm.english.words.lexicon import pattern
from mrpvm.english.words.text import unique_terms
from mrpvm.text_cache import TextCache
from mrpvm.values import Answer, EvidenceEntry, KnowledgeUnit

MOST_DOCUMENTS, MOST_SECTIONS, MOST_TERMS = 50, 100, 100
"""The newest are kept."""
MOST_TOLD, TOLD_CHARS = 3, 600
"""Caps on the resolved terms put into a prompt: their number, and the characters of all."""
ANSWER_CHARS = 300
"""How much of an answer a resolved term keeps."""
_LABELLED, _NAMED = pattern("memory.labelled"), pattern("memory.named")
"""A term with capitals that "the" leads is one that somebody defined: "The Closing Date is March 5"."""
_DEFINITION, _SECTION = pattern("memory.definition"), pattern("memory.section")


class ResolvedTerm(NamedTuple):  # each turn makes a hundred, which takes a dataclass three times as long
    """Something a turn made clear; `kind` is answer, party, date or definition."""

    term: str
    text: str
    kind: str
    turn_index: int


class ActiveDocument(Struct, frozen=True, kw_only=True):
    """A source that an answer looked at, and the turn that did so last."""

    source_id: str
    name: str
    turn_index: int


class StoredMemory(TypedDict, total=False):
    """A memory as stored data, without what has columns of its own; the values' fields in their order."""

    terms: Sequence[tuple[str, str, str, int]]
    documents: Sequence[tuple[str, str, int]]
    sections: Sequence[str]


class Memory(Struct, frozen=True, kw_only=True):
    """One session's memory, each part the oldest first; `turn_count` counts committed turns."""

    created_at: datetime
    last_accessed_at: datetime
    turn_count: int = 0
    resolved_terms: tuple[ResolvedTerm, ...] = ()
    active_documents: tuple[ActiveDocument, ...] = ()
    active_sections: tuple[str, ...] = ()

    def is_expired(self, now: datetime, ttl_hours: float) -> bool:
        """Return whether it was idle for longer than that; at exactly that time it still lives."""
        return now - self.last_accessed_at > timedelta(hours=ttl_hours)

    def expires_at(self, ttl_hours: float) -> datetime:
        """Return the last moment at which it lives."""
        return self.last_accessed_at + timedelta(hours=ttl_hours)

    def resolved(self, term: str) -> ResolvedTerm | None:
        """Return what is known about a term, whatever its case and the blanks around it."""
        wanted = _key(term)
        return next((item for item in reversed(self.resolved_terms) if _key(item.term) == wanted), None)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Return the source ids of the active documents."""
        return tuple(item.source_id for item in self.active_documents)

    def as_record(self) -> StoredMemory:
        """Return what was remembered as stored data; its times and count have columns of their own."""
        return {
            "terms": [(item.term, item.text, item.kind, item.turn_index) for item in self.resolved_terms],
            "documents": [(item.source_id, item.name, item.turn_index) for item in self.active_documents],
            "sections": list(self.active_sections),
        }


type MemoryColumns = tuple[StoredMemory, int, datetime, datetime]
"""The record, how many turns it comes from, when it was made and when it was last used."""


def memory_of(record: StoredMemory, turn_count: int, created_at: datetime, accessed_at: datetime) -> Memory:
    return Memory(
        created_at=created_at,
        last_accessed_at=accessed_at,
        turn_count=turn_count,
        resolved_terms=tuple(
            ResolvedTerm(term, text, kind, turn) for term, text, kind, turn in record.get("terms", ())
        ),
        active_documents=tuple(
            ActiveDocument(source_id=source_id, name=name, turn_index=turn)
            for source_id, name, turn in record.get("documents", ())
        ),
        active_sections=tuple(record.get("sections", ())),
    )


def after_turn(memory: Memory | None, *, turn_index: int, subject: str | None, answer: Answer, now: datetime) -> Memory:
    """Return the memory with what a committed turn adds; a turn without an answer counts anyway.

    Args:
        memory: None for a session that has none, or whose memory has expired.
        subject: what the question was about; its term keeps the answer's beginning.
    """
    known = memory or Memory(created_at=now, last_accessed_at=now)
    answered = [group for group in answer.groups if group.status == "answered"]
    text = "\n".join(words_told(group.answer_markdown) for group in answered)
    terms = [ResolvedTerm(term=term, text=said, kind=kind, turn_index=turn_index) for kind, term, said in _facts(text)]
    if subject and text:
        terms.insert(0, ResolvedTerm(term=subject, text=text[:ANSWER_CHARS], kind="answer", turn_index=turn_index))
    documents = [
        ActiveDocument(source_id=entry.unit.source_id, name=entry.unit.source_name or "", turn_index=turn_index)
        for group in answered
        for entry in group.evidence
        if is_of_a_document(entry)
    ]
    sections = [
        section
        for group in answered
        for entry in group.evidence
        if is_of_a_document(entry)
        for section in _sections_of(entry.unit)
    ] + _numbered_sections(text)
    return replace(
        known,
        last_accessed_at=now,
        turn_count=known.turn_count + 1,
        resolved_terms=_newest([*known.resolved_terms, *terms], MOST_TERMS, lambda item: _key(item.term)),
        active_documents=_newest([*known.active_documents, *documents], MOST_DOCUMENTS, lambda item: item.source_id),
        active_sections=_newest([*known.active_sections, *sections], MOST_SECTIONS, lambda item: item),
    )


def told_terms(memory: Memory, message: str, shown: Iterable[str]) -> str:
    """Return what is known about the terms that a message names, those resolved last first; empty for nothing.

    Args:
        shown: what the model sees of the conversation anyway; nothing is told twice.
    """
    wanted, visible = set(unique_terms(message)), words_told("\n".join(shown))
    lines: list[str] = []
    for item in reversed(memory.resolved_terms):
        named = _named_by(item.term)
        if not named or not named <= wanted or item.text in visible:
            continue
        line = f"{item.term}: {item.text}"
        if len(lines) < MOST_TOLD and sum(map(len, lines)) + len(line) <= TOLD_CHARS:
            lines.append(line)
    return "\n".join(("Known from earlier turns:", *lines)) if lines else ""


@TextCache  # each turn asks for those of all that its session remembers, a hundred at most
def _named_by(term: str) -> frozenset[str]:
    return frozenset(unique_terms(term))


def is_of_a_document(entry: EvidenceEntry) -> bool:
    """Return whether evidence is from a source document, not from the conversation."""
    return entry.store in ("draft", "kb") or entry.unit.source_name is not None


def _sections_of(unit: KnowledgeUnit) -> list[str]:
    """Return the heading that a unit is under, and the numbered sections that it names."""
    return [*filter(None, [unit.section_title]), *_numbered_sections(unit.text)]


def _numbered_sections(text: str) -> list[str]:
    return [f"Section {number}" for number in _SECTION.findall(text)]


def _facts(text: str) -> Iterable[tuple[str, str, str]]:
    """Return `(kind, term, text)` of what an answer says outright."""
    for wording in (_LABELLED, _NAMED):
        for term, said in wording.findall(text):
            kind = "date" if term.endswith(" Date") else "party"
            if kind == "date" or said[0].isupper():
                yield kind, term, said.strip()[:ANSWER_CHARS]
    for term, said in _DEFINITION.findall(text):
        yield "definition", " ".join(term.split()), said.strip()[:ANSWER_CHARS]


def _newest[Item](items: Sequence[Item], most: int, key: Callable[[Item], str]) -> tuple[Item, ...]:
    """Return each item once, where it came last, and the last `most` of them."""
    items_by_key: dict[str, Item] = {}
    for item in reversed(items):
        items_by_key.setdefault(key(item), item)
    return tuple(reversed(list(items_by_key.values())[:most]))


def _key(term: str) -> str:
    return " ".join(term.split()).casefold()

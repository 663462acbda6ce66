"""Hashes and ids of units, and which units of a turn are kept."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.english.messages.instructions import is_session_wide
from mrpvm.english.words.text import collapse, terms
from mrpvm.values import CHAT_TURN, KnowledgeUnit

_SAID = ("topic", "title", "claim", "procedure", "condition", "text_body", "subject", "relation", "object")


def content_hash(unit: KnowledgeUnit) -> str:
    """Return the unit's content hash: SHA-256 over what it says and whom it speaks to.

    Ids, provenance, times, acts and notes do not enter; letter case does.
    """
    parts = (
        unit.claim,
        unit.procedure,
        unit.role,
        unit.topic,
        ",".join(sorted(set(unit.phase_scopes))),
        unit.subject,
        unit.relation,
        unit.object,
    )
    document = json.dumps([collapse(part or "") for part in parts], ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates can reach us inside JSON strings; the hash is total over them.
    return hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()


def text_byte_count(unit: object) -> int:
    """Return how many bytes of UTF-8 a unit says: the values of its control text.

    Args:
        unit: anything that has a unit's texts under their names.
    """
    texts = (getattr(unit, name) for name in _SAID)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)


def numbered(kind: str, number: int) -> str:
    """Return `kind-NNN`: three digits, wider when needed."""
    return f"{kind}-{number:03d}"


def turn_chunk_id(request_id: str) -> str:
    """Return the chunk id of all units that one turn states."""
    return f"session::{request_id}"


def told_in(unit: KnowledgeUnit) -> str:
    """Return the id of the turn or message that told a unit of a conversation."""
    return (unit.chunk_id or "").removeprefix(turn_chunk_id(""))


def message_id(session_id: str, sequence: int) -> str:
    """Return an id for a message that no turn answered, in place of a turn's."""
    return f"{session_id}-{sequence}"


def turn_unit_id(request_id: str, number: int) -> str:
    """Return the id of a turn's unit, counted from 0."""
    return f"{turn_chunk_id(request_id)}::{numbered('unit', number)}"


def with_turn_identity(
    units: Sequence[KnowledgeUnit], request_id: str, *, created_at: str | None = None, first_number: int = 0
) -> tuple[KnowledgeUnit, ...]:
    """Return the admitted units of a turn under their final ids, with hashes.

    Links among the given units follow the new ids; links to other units stay.

    Args:
        created_at: ISO-8601 time of the turn; a unit's own time is kept.
        first_number: number of the first unit, when the turn has staged some before.
    """
    new_ids = {unit.id: turn_unit_id(request_id, first_number + place) for place, unit in enumerate(units)}

    def renamed(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(new_ids.get(unit_id, unit_id) for unit_id in ids)

    return tuple(
        replace(
            unit,
            id=turn_unit_id(request_id, first_number + place),
            source_id="session",
            source_type=CHAT_TURN,
            chunk_id=turn_chunk_id(request_id),
            chunk_index=None,
            unit_index=first_number + place,
            char_start=None,
            char_end=None,
            created_at=unit.created_at or created_at,
            parent_unit_ids=renamed(unit.parent_unit_ids),
            child_unit_ids=renamed(unit.child_unit_ids),
            derived_from_unit_ids=renamed(unit.derived_from_unit_ids),
            hash=content_hash(unit),
        )
        for place, unit in enumerate(units)
    )


class DroppedUnit(Struct, frozen=True):
    """A pending unit that a commit does not keep, and why."""

    unit: KnowledgeUnit
    reason: str


def promotable(
    units: Sequence[KnowledgeUnit],
    message: str,
    *,
    known_hashes: Iterable[str] = (),
    keep_all_guidance: bool = False,
) -> tuple[tuple[KnowledgeUnit, ...], tuple[DroppedUnit, ...]]:
    """Return the units a commit keeps, in order, and those it drops with the reason.

    Args:
        message: the user's message; session-wide wording in it keeps guidance.
        known_hashes: hashes of the session's committed units.
        keep_all_guidance: `MRPVM_GUIDANCE_PROMOTION` is `all`.
    """
    seen = set(known_hashes)
    kept: list[KnowledgeUnit] = []
    dropped: list[DroppedUnit] = []
    lasting = keep_all_guidance or is_session_wide(message)
    for unit in units:
        wordings = (unit.claim, unit.procedure, unit.utility_note)
        if not unit.is_evidence and not lasting and not any(is_session_wide(text) for text in wordings):
            dropped.append(DroppedUnit(unit, "turn-local guidance"))
            continue
        digest = unit.hash or content_hash(unit)
        if digest in seen:
            dropped.append(DroppedUnit(unit, "duplicate"))
            continue
        seen.add(digest)
        kept.append(unit)
    return tuple(kept), tuple(dropped)


def indexed_text(unit: KnowledgeUnit) -> str:
    """Return the text under which retrieval finds a unit: topic, title, what it says, condition, note.

    Role, acts and scopes are left out: as words they would match every question that names them.
    """
    body = unit.text_body or unit.text
    parts = [unit.title, unit.section_title, body, unit.condition, unit.utility_note]
    if unit.claim and unit.claim not in body:
        parts.append(unit.claim)
    known = set(terms(" ".join(part for part in parts if part)))
    if any(term not in known for term in terms(unit.topic)):
        parts.append(unit.topic)
    return "\n".join(part for part in parts if part)


def unit_terms(unit: KnowledgeUnit) -> tuple[str, ...]:
    """Return the stemmed terms of a unit, repeats kept: the same tokenizer as for queries."""
    return terms(indexed_text(unit))

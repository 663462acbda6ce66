"""How what a session holds leaves, in answers and exports alike."""

from collections.abc import Container, Sequence

from mrpvm.conversation.session_memory import Memory
from mrpvm.wire import to_wire
from sessions_app.api.knowledge import responses
from sessions_app.api.shell.responses import (
    MessageObject,
    MountObject,
    RememberedObject,
    UnitObject,
    UnitStep,
    UnitWithSteps,
)
from sessions_app.api.turns.responses import MemoryContents
from sessions_app.models import (
    ContextUnit,
    KBMount,
    KnowledgeSource,
    Message,
    QuarantinedChunk,
    RememberedText,
    Session,
    UnitEvent,
)
from sessions_app.queries.knowledge.provenance import Provenance


def message_payload(row: Message) -> MessageObject:
    """Return one message; `request_id` names the turn that said it, null for imported ones."""
    return {
        "sequence": row.sequence,
        "role": row.role,
        "content": row.content,
        "payload": row.payload,
        "request_id": row.turn.request_id if row.turn else None,
        "created_at": row.created_at,
    }


def unit_payload(row: ContextUnit) -> UnitObject:
    """Return one unit with where it came from; `request_id` is null for units of a context load."""
    return {
        "unit_id": row.unit_id,
        "state": row.state,
        "text": row.text,
        "request_id": row.turn.request_id if row.turn else None,
        "created_at": row.created_at,
        "committed_at": row.committed_at,
        "unit": to_wire(row.to_value()),
    }


def mount_payload(row: KBMount) -> MountObject:
    """Return one mount; `until` is null for the current one."""
    return {
        "kb_id": row.knowledge_base.kb_id,
        "kb_name": row.knowledge_base.name,
        "revision": row.revision,
        "reason": row.reason,
        "mounted_at": row.mounted_at,
        "mounted_by": row.mounted_by.get_username() if row.mounted_by else None,
        "until": row.until,
    }


def remembered_payload(row: RememberedText) -> RememberedObject:
    """Return one text that the session was told to remember, or that was consolidated on request."""
    return {
        "id": row.record_id,
        "content": row.content,
        "domain": row.domain,
        "namespace": row.namespace or None,
        "status": row.status,
        "source": row.source,
        "confidence": row.confidence,
        "created_at": row.created_at,
        "verified_at": row.verified_at,
        "expires_at": row.expires_at,
    }


def memory_payload(memory: Memory | None, ttl_hours: float) -> MemoryContents:
    """Return what a session remembers of its turns, the newest first; times are null for nothing."""
    if memory is None:
        return {
            "turn_count": 0, "resolved_terms": [], "active_documents": [], "active_sections": [],
            "last_accessed_at": None, "expires_at": None,
        }  # fmt: skip
    return {
        "turn_count": memory.turn_count,
        "resolved_terms": [
            {"term": item.term, "text": item.text, "kind": item.kind, "turn_index": item.turn_index}
            for item in reversed(memory.resolved_terms)
        ],
        "active_documents": [
            {"source_id": item.source_id, "name": item.name, "turn_index": item.turn_index}
            for item in reversed(memory.active_documents)
        ],
        "active_sections": list(reversed(memory.active_sections)),
        "last_accessed_at": memory.last_accessed_at,
        "expires_at": memory.expires_at(ttl_hours),
    }


def step_payload(row: UnitEvent) -> UnitStep:
    """Return one step of a unit's life; `request_id` is null outside of turns."""
    return {
        "step": row.step,
        "store": row.store,
        "request_id": row.turn.request_id if row.turn else None,
        "execution_id": row.execution_id or None,
        "rank": row.rank,
        "score": row.score,
        "score_parts": dict(row.score_parts),
        "reason": row.reason,
        "created_at": row.created_at,
    }


def unit_life_payload(
    session: Session, known: Provenance, steps: Sequence[UnitEvent], step_count: int
) -> UnitWithSteps:
    """Return a unit that the session sees or saw with steps of its life; `request_id` is of a turn of this session."""
    told_here = known.turn is not None and known.turn.session_id == session.pk
    return {
        "unit_id": known.unit_id,
        "state": known.state.value,
        "text": known.text,
        "request_id": known.turn.request_id if known.turn and told_here else None,
        "created_at": known.created_at,
        "committed_at": known.committed_at,
        "unit": to_wire(known.value) if known.value else None,
        "kb_id": known.base.kb_id if known.base else None,
        "corrects": [other.unit_id for other in known.corrects],
        "corrected_by": [other.unit_id for other in known.corrected_by],
        "steps": [step_payload(step) for step in steps],
        "step_count": step_count,
    }


def source_payload(row: KnowledgeSource, stale: Container[int] = ()) -> responses.SourceObject:
    """Return one source of a base or draft; `stale` has the keys of those with stale units."""
    return {
        "sourceId": row.source_id,
        "name": row.name,
        "kind": row.kind,
        "hash": row.hash,
        "chunkCount": row.chunk_count,
        "unitCount": row.unit_count,
        "quarantinedChunkCount": row.quarantined.count(),
        "addedAt": row.added_at,
        "updatedAt": row.updated_at,
        "status": "dirty" if row.pk in stale else "ready",
    }


def quarantined_payload(row: QuarantinedChunk) -> responses.QuarantinedChunkObject:
    """Return one part of a source that did not become units, with the reason."""
    return {
        "sourceId": row.source_id,
        "sourceName": row.source_name,
        "chunkIndex": row.chunk_index,
        "text": row.text,
        "controlText": row.control_text or None,
        "message": row.message,
        "diagnostics": row.diagnostics,
        "createdAt": row.created_at,
    }

"""Store, clear and sweep the memories that sessions have of their earlier turns."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from mrpvm.conversation.session_memory import Memory
from sessions_app import events
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.models import AuditKind, Project, Session, SessionMemory
from sessions_app.models.named_sql import Write, memory_change

_DROPPED_AT_ONCE = 500
"""Memories dropped by one turn after a limit was lowered; later turns drop the others."""


def memory_write(session: Session, memory: Memory, ttl_hours: float) -> Write:
    """Return the write that updates the session's memory; the write returns no key if there is no row."""
    return memory_change(session, _columns(memory, ttl_hours))


def insert_memory(session: Session, memory: Memory, ttl_hours: float) -> None:
    """Store the first memory of a locked session; must run inside the transaction of the turn it comes from.

    Effects: one row; the project's limit is kept.
    """
    columns = _columns(memory, ttl_hours)
    SessionMemory.objects.create(project_id=session.project_id, owner=session.session_id, **columns)
    _drop_oldest(session.project)


def _columns(memory: Memory, ttl_hours: float) -> dict[str, Any]:
    return {
        "record": memory.as_record(), "turn_count": memory.turn_count, "created_at": memory.created_at,
        "last_accessed_at": memory.last_accessed_at, "expires_at": memory.expires_at(ttl_hours),
    }  # fmt: skip


def _drop_oldest(project: Project) -> None:
    """Delete the least recently used memories beyond the project's limit."""
    if project.session_memory_limit is not None:
        kept = SessionMemory.objects.filter(project=project).order_by("-last_accessed_at", "-pk")
        beyond = list(kept.values_list("pk", flat=True)[project.session_memory_limit :][:_DROPPED_AT_ONCE])
        SessionMemory.objects.filter(pk__in=beyond).delete()


@transaction.atomic
def clear_memory(session: Session) -> bool:
    """Delete the session's memory of its turns; return False if it has none.

    Raises:
        Conflict: TURN_IN_PROGRESS; the running turn would store it again.
        NotFound, Expired: as for `lock_session`.

    Effects: the row is gone; `memory.cleared`.
    """
    locked = lock_idle_session(session.pk)
    gone, _ = SessionMemory.objects.filter(project_id=locked.project_id, owner=locked.session_id).delete()
    if gone:
        events.append(locked, ("memory.cleared", events.NoFacts()))
        record_of_session(AuditKind.MEMORY_CLEARED, locked)
    return bool(gone)


def carry_memory(expired: Session, successor: Session) -> None:
    """Move the memory of an expired session to its successor."""
    SessionMemory.objects.filter(project_id=expired.project_id, owner=expired.session_id).update(
        owner=successor.session_id
    )


def sweep_memories() -> int:
    """Remove expired memories; return how many."""
    gone, _ = SessionMemory.objects.filter(expires_at__lt=timezone.now()).delete()
    return gone

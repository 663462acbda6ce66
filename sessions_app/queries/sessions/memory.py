"""What sessions remember of their earlier turns."""

import logging
from datetime import datetime

from django.utils import timezone

from mrpvm.conversation.session_memory import Memory, MemoryColumns, memory_of
from sessions_app.models import Session, SessionMemory
from sessions_app.queries.sessions.flags import flags_of

logger = logging.getLogger(__name__)

_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def stored_memory(session: Session, now: datetime, ttl_hours: float) -> Memory | None:
    """Return the session's memory, None if it has none or was unused for `ttl_hours`; one query."""
    rows = SessionMemory.objects.filter(project_id=session.project_id, owner=session.session_id)
    columns = rows.values_list(*_COLUMNS).first()
    return None if columns is None else usable_memory(session, columns, now, ttl_hours)


def usable_memory(session: Session, columns: MemoryColumns, now: datetime, ttl_hours: float) -> Memory | None:
    """Return what a row of memory holds, None if it was unused for `ttl_hours`.

    A damaged memory counts as none, because it is a cache.
    """
    try:
        memory = memory_of(*columns)
    except (AttributeError, TypeError, ValueError):
        logger.warning("the memory of session %s is damaged and not used", session.session_id)
        return None
    return None if memory.is_expired(now, ttl_hours) else memory


def remembered_by(session: Session) -> tuple[Memory | None, float]:
    """Return the session's present memory, and its time to live in hours unless a request sets another."""
    hours = flags_of(session, {}).session_memory_ttl_hours
    return stored_memory(session, timezone.now(), hours), hours

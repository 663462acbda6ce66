"""What sessions remember of their earlier turns."""

import logging
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils import timezone

from mrpvm.conversation.session_memory import Memory, memory_of
from sessions_app.models import SessionMemory
from sessions_app.models.plain_sql import select_rows
from sessions_app.queries.sessions.flags import flags_of

if TYPE_CHECKING:
    from sessions_app.models import Session

logger = logging.getLogger(__name__)

_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def stored_memory(session: "Session", now: datetime, ttl_hours: float) -> Memory | None:
    """Return the session's memory, None if it has none or nobody used it for so long [K32]; one query.

    What cannot be read as one is none: it is a cache [K38].
    """
    rows = select_rows(SessionMemory, _COLUMNS, project_id=session.project_id, owner=session.session_id)
    if not rows:
        return None
    try:
        memory = memory_of(*rows[0])
    except (AttributeError, TypeError, ValueError):
        logger.warning("the memory of session %s is damaged and not used", session.session_id)
        return None
    return None if memory.is_expired(now, ttl_hours) else memory


def remembered_by(session: "Session") -> tuple[Memory | None, float]:
    """Return what the session remembers now, and for how many hours it does unless a request says otherwise."""
    hours = flags_of(session, {}).session_memory_ttl_hours
    return stored_memory(session, timezone.now(), hours), hours

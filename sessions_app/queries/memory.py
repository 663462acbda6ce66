"""What sessions remember of their earlier turns."""

from datetime import datetime
from typing import TYPE_CHECKING

from mrpvm.conversation.session_memory import Memory, memory_of
from sessions_app.models import SessionMemory
from sessions_app.models.plain_sql import select_rows

if TYPE_CHECKING:
    from sessions_app.models import Session

_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def stored_memory(session: "Session", now: datetime, ttl_hours: float) -> Memory | None:
    """Give the session's memory, None if it has none or nobody used it for so long [K32]; one query."""
    rows = select_rows(SessionMemory, _COLUMNS, project_id=session.project_id, owner=session.session_id)
    if not rows:
        return None
    memory = memory_of(*rows[0])
    return None if memory.is_expired(now, ttl_hours) else memory

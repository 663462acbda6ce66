"""What a session remembers of its turns, as its page shows it."""

from typing import Any

from django.utils import timezone

from sessions_app.models import Session
from sessions_app.queries.sessions.memory import remembered_by

DOCUMENTS_SHOWN, SECTIONS_SHOWN, TERMS_SHOWN = 12, 12, 20


def memory_context(session: Session) -> dict[str, Any]:
    """Return the memory, the newest first, and until when it is kept; None for a session that remembers nothing."""
    memory, ttl_hours = remembered_by(session)
    if memory is None:
        return {"memory": None}
    return {
        "memory": memory,
        "memory_documents": memory.active_documents[::-1][:DOCUMENTS_SHOWN],
        "memory_sections": memory.active_sections[::-1][:SECTIONS_SHOWN],
        "memory_terms": memory.resolved_terms[::-1][:TERMS_SHOWN],
        "memory_expires_at": memory.expires_at(ttl_hours),
        "memory_now": timezone.now(),
    }

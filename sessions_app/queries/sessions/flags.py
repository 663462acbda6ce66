"""Which policies a turn follows: the server's, unless project, session or request say otherwise [K50, X7]."""

from collections.abc import Mapping
from typing import Any, cast

from django.conf import settings

from mrpvm.conversation.flags import DocumentBias, Flags, resolve_flags
from sessions_app.models import Session


def server_flags() -> Flags:
    """Return the server's own."""
    return Flags(
        enable_query_rewriting=settings.MRPVM_QUERY_REWRITING,
        enable_session_memory=settings.MRPVM_SESSION_MEMORY,
        enable_history_summarization=settings.MRPVM_HISTORY_SUMMARIZATION,
        enable_skill_selection=settings.MRPVM_SKILL_SELECTION,
        enable_quotes=settings.MRPVM_QUOTES,
        history_max_turns=settings.MRPVM_HISTORY_MAX_TURNS,
        verbatim_max_turns=settings.MRPVM_VERBATIM_MAX_TURNS,
        verbatim_max_tokens=settings.MRPVM_VERBATIM_MAX_TOKENS,
        summary_max_tokens=settings.MRPVM_SUMMARY_MAX_TOKENS,
        session_memory_ttl_hours=settings.MRPVM_SESSION_MEMORY_TTL_HOURS,
        document_bias=cast(DocumentBias, settings.MRPVM_DOCUMENT_BIAS),
    )


def flags_of(session: Session, requested: Mapping[str, Any]) -> Flags:
    """Return the flags of a turn in this session."""
    return resolve_flags(server_flags(), session.project.flags, session.flags, requested)

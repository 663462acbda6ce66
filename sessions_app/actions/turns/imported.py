"""Rows of turns that other applications ran: their spans, and the sessions of their conversations."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, ImportedSpan, Project, Session


def lock_trace(project: Project, trace_id: str) -> list[ImportedSpan]:
    """Lock the project and return the stored spans of a trace, oldest first.

    The lock lasts until the end of the running transaction, so that two batches of one trace are stored one after the
    other.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    return list(ImportedSpan.objects.filter(project=project, trace_id=trace_id).order_by("id"))


def store_spans(
    project: Project, turn: ExplainabilityTurn, trace_id: str, spans: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Store spans, each an id and its record, of the trace that the turn is drawn from."""
    ImportedSpan.objects.bulk_create(
        ImportedSpan(project=project, turn=turn, trace_id=trace_id, span_id=span_id, span=record)
        for span_id, record in spans
    )


def find_or_create_conversation(project: Project, session_id: str) -> Session:
    """Return the project's session with this id, created if it is new; it may have expired or been deleted.

    Another project may have a session of the same id.
    """
    session = Session.objects.filter(project=project, session_id=session_id).first()
    if session is not None:
        return session
    try:
        with transaction.atomic():
            return create_session(project, client_name=session_id)
    except IntegrityError:  # a concurrent request has created it
        return Session.objects.get(project=project, session_id=session_id)

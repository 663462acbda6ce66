"""Remove what sessions leave: expired and deleted ones with all their rows, and turns beyond the registry's limit.

Rows are removed in batches, each in a transaction of its own, so that SQLite's one writer is never held for long.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app import events
from sessions_app.actions.sessions.session import UNDO_PERIOD, delete_session
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.layers import layers_of, release_layers
from sessions_app.models import AuditKind, ExplainabilityTurn, ImportedSpan, Session, SessionMemory

TURNS_A_TRANSACTION, ROWS_A_TRANSACTION, _SPANS_A_TRANSACTION = 10, 500, 100
"""How many turns with their traces, spans, or rows of other kinds are removed in one transaction."""


def expire_sessions() -> int:
    """Mark sessions as expired whose idle time is over and that run no turn; return how many.

    Effects: one transaction per session; `session.expired`, pending units removed.
    """
    overdue = Session.objects.filter(expires_at__lt=timezone.now(), expired_at__isnull=True).exclude(
        turns__status=ExplainabilityTurn.Status.RUNNING
    )
    return sum(_expire(pk) for pk in overdue.values_list("pk", flat=True))


@transaction.atomic
def _expire(session_pk: int) -> bool:
    now = timezone.now()
    session = (
        Session.objects.select_for_update().filter(pk=session_pk, expires_at__lt=now, expired_at__isnull=True).first()
    )
    if session is None:
        return False
    session.expired_at = now
    session.save(update_fields=["expired_at"])
    session.context_units.filter(state="pending").delete()
    events.append(session, ("session.expired", events.NoFacts()))
    return True


def delete_old_archives() -> int:
    """Delete sessions that expired more than `MRPVM_KEEP_EXPIRED_DAYS` ago; return how many.

    Effects: as `delete_session`, for each.
    """
    days = settings.MRPVM_KEEP_EXPIRED_DAYS
    if not days:
        return 0
    old = Session.objects.filter(expired_at__lt=timezone.now() - timedelta(days=days), deleted_at__isnull=True)
    archives = list(old)
    for session in archives:
        delete_session(session)
    return len(archives)


def purge_deleted_sessions() -> int:
    """Remove sessions deleted longer ago than `UNDO_PERIOD`, with all their rows; return how many."""
    gone = Session.objects.filter(deleted_at__lt=timezone.now() - UNDO_PERIOD)
    return sum(_purge(pk) for pk in list(gone.values_list("pk", flat=True)))


def purge_session(session: Session) -> None:
    """Remove a session for good, with all its rows; a turn of it may not commit any more."""
    delete_session(session)
    _purge(session.pk)


def _purge(session_pk: int) -> bool:
    """Remove a deleted session, one batch of rows per transaction, so that SQLite's write lock is short."""
    while purge_batch(session_pk):
        pass
    return _purge_rest(session_pk)


@transaction.atomic
def purge_batch(session_pk: int) -> bool:
    """Delete one batch of the session's many rows; return whether there were any."""
    session = _lock_deleted(session_pk)
    if session is None:
        return False
    first = list(session.turns.order_by("turn_index").values_list("pk", flat=True)[:TURNS_A_TRANSACTION])
    # A trace of another application has up to 2,000 spans, which may be large.
    spans = ImportedSpan.objects.filter(turn__in=first)
    if remove_rows(spans, _SPANS_A_TRANSACTION) or remove_turns(session.turns.all()):
        return True
    rest = (session.unit_events, session.messages, session.context_units, session.events, session.conversation_points)
    return any(remove_rows(rows.all()) for rows in rest)


def remove_rows(rows: QuerySet[Any], most: int = ROWS_A_TRANSACTION) -> int:
    """Remove as many of these rows as fit one transaction; return how many."""
    pks = list(rows.order_by().values_list("pk", flat=True)[:most])
    if pks:
        rows.model._default_manager.filter(pk__in=pks).delete()
    return len(pks)


def remove_turns(turns: QuerySet[ExplainabilityTurn]) -> int:
    """Remove the oldest few of these turns with their traces and ledger rows; return how many."""
    pks = list(turns.order_by("turn_index").values_list("pk", flat=True)[:TURNS_A_TRANSACTION])
    if pks:
        ExplainabilityTurn.objects.filter(pk__in=pks).delete()
    return len(pks)


@transaction.atomic
def _purge_rest(session_pk: int) -> bool:
    session = _lock_deleted(session_pk)
    if session is None:
        return False
    release = layers_of(session)
    SessionMemory.objects.filter(project_id=session.project_id, owner=session.session_id).delete()
    record_of_session(AuditKind.SESSION_PURGED, session, title=session.title or "")
    session.delete()
    release_layers(release)
    return True


def _lock_deleted(session_pk: int) -> Session | None:
    return Session.objects.select_for_update().filter(pk=session_pk, deleted_at__isnull=False).first()


def trim_registry(turn: ExplainabilityTurn) -> None:
    """Remove the registry's entries beyond the newest `MRPVM_MAX_EXPLAINABILITY_ENTRIES`.

    A large registry is trimmed in batches every few turns, which costs less than one row per turn. A batch is at most
    what one transaction may delete, so a lowered limit is reached over several turns.
    """
    limit = settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES
    oldest_kept, step = turn.turn_index - limit, max(1, min(TURNS_A_TRANSACTION // 2, limit // 50))
    if oldest_kept > 0 and oldest_kept % step == 0:
        remove_turns(turn.session.turns.filter(turn_index__lte=oldest_kept))

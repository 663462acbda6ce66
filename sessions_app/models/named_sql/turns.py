"""Reads and writes of one turn: when it starts, while it runs, when it commits, and for its pages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import connection

from mrpvm.conversation.session_memory import MemoryColumns
from sessions_app.models.named_sql.columns import (
    ColumnConversion,
    Columns,
    adapters_of,
    converted,
    model_columns,
    product,
    remembered,
)
from sessions_app.models.named_sql.cursor import open_cursor
from sessions_app.models.named_sql.writing import Write, update_of
from sessions_app.models.sessions.context_unit import ContextUnit
from sessions_app.models.sessions.message import Message
from sessions_app.models.sessions.session import Session
from sessions_app.models.sessions.session_memory import SessionMemory
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn

_TURNS, _SESSIONS = ExplainabilityTurn._meta.db_table, Session._meta.db_table
_MESSAGES, _MEMORIES = Message._meta.db_table, SessionMemory._meta.db_table
_UNITS = ContextUnit._meta.db_table


def advance_session(
    session_pk: int, first_message: str, active_at: datetime, expires_at: datetime | None
) -> tuple[Session, bool] | None:
    """Lock a session that has neither expired nor been deleted, and count one more turn and one more event of it.

    Return the updated session, and whether an earlier turn left pending units; None if there is no such session.
    """
    statement, read = _advance(product())
    ops = connection.ops
    now = ops.adapt_datetimefield_value(active_at)
    parameters = [now, ops.adapt_datetimefield_value(expires_at), first_message, session_pk, now]
    with open_cursor() as cursor:
        cursor.execute(statement, parameters)
        values = cursor.fetchone()
    return None if values is None else (read.row_of(values), bool(values[-1]))


@remembered
def _advance(vendor: str) -> tuple[str, "Columns[Session]"]:
    read = model_columns(Session, None, vendor)
    statement = f"""
        UPDATE {_SESSIONS} SET turn_sequence = turn_sequence + 1, event_sequence = event_sequence + 1,
            last_activity_at = %s, expires_at = %s,
            first_message = CASE WHEN first_message = '' THEN %s ELSE first_message END
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL AND (expires_at IS NULL OR expires_at >= %s)
        RETURNING {read.sql},
            EXISTS (SELECT 1 FROM {_UNITS} unit WHERE unit.session_id = {_SESSIONS}.id AND unit.state = 'pending')
    """  # noqa: S608
    return statement, read


def store_committed(turn: ExplainabilityTurn, columns: tuple[str, ...], event_count: int) -> bool:
    """Lock a session that has neither been swept as expired nor deleted, store these columns and count its new events.

    Return False if there is no such session, or if the turn no longer runs or was stopped. The session's event number
    is updated.
    """
    session = turn.session
    statement, adapters = _store(columns, product())
    values = converted([attrgetter(*columns)(session)], adapters)[0]
    with open_cursor() as cursor:
        cursor.execute(statement, [*values, event_count, session.pk, turn.pk])
        row = cursor.fetchone()
    if row is not None:
        (session.event_sequence,) = row
    return row is not None


@remembered
def _store(columns: tuple[str, ...], vendor: str) -> tuple[str, Sequence[ColumnConversion]]:
    settings = ", ".join(f"{name} = %s" for name in columns)
    statement = f"""
        UPDATE {_SESSIONS} SET {settings}, event_sequence = event_sequence + %s
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL
            AND EXISTS (SELECT 1 FROM {_TURNS} turn
                        WHERE turn.id = %s AND turn.status = 'running' AND turn.cancel_requested_at IS NULL)
        RETURNING event_sequence
    """  # noqa: S608
    return statement, adapters_of(Session, columns)


def turn_end(turn: ExplainabilityTurn, columns: tuple[str, ...]) -> Write:
    """Return the write of these columns of a turn that still runs and that nobody has stopped; it returns the key."""
    values = attrgetter(*columns)(turn)
    condition = "id = %s AND status = 'running' AND cancel_requested_at IS NULL"
    return update_of(ExplainabilityTurn, columns, values, condition, turn.pk)


def memory_change(session: Session, changes: Mapping[str, Any]) -> Write:
    """Return the write of these columns of what a session remembers; it returns the key, if it remembers anything."""
    condition = "project_id = %s AND owner = %s"
    held = (session.project_id, session.session_id)
    return update_of(SessionMemory, tuple(changes), tuple(changes.values()), condition, *held)


def pending_commitment(turn_pk: int, committed_at: datetime) -> Write:
    """Return the write that makes the pending units of a turn committed ones."""
    values = ("committed", committed_at)
    return update_of(ContextUnit, ("state", "committed_at"), values, "turn_id = %s AND state = 'pending'", turn_pk)


type SaidColumns = tuple[int, str, str, dict[str, Any] | None]
"""A message's sequence number, role, text, and payload if it is a tool's."""
_MEMORY_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def select_conversation(
    session: Session, limit: int, *, with_memory: bool
) -> tuple[Sequence[SaidColumns], MemoryColumns | None]:
    """Return the newest `limit` messages, the newest first, and what the session remembers."""
    in_memory, in_message = _conversation_converters(product())
    owner = session.session_id if with_memory else None
    with open_cursor() as cursor:
        cursor.execute(_CONVERSATION, [session.project_id, owner, session.pk, limit])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    said: Any = converted([(number, role, text, json) for json, number, _, _, role, text in rows if role], in_message)
    memories: Any = converted([row[:4] for row in rows if not row[4]], in_memory)
    return said, memories[0] if memories else None


_CONVERSATION = f"""
    SELECT CAST(record AS text), turn_count, created_at, last_accessed_at, '', '' FROM {_MEMORIES}
    WHERE project_id = %s AND owner = %s
    UNION ALL SELECT CAST(payload AS text), sequence, NULL, NULL, role, content FROM (
        SELECT payload, sequence, role, content FROM {_MESSAGES} WHERE session_id = %s
        ORDER BY sequence DESC LIMIT %s) said
"""  # noqa: S608


@remembered
def _conversation_converters(vendor: str) -> tuple[Sequence[ColumnConversion], Sequence[ColumnConversion]]:
    """Return the converters of a memory's columns and of a message's."""
    return (
        model_columns(SessionMemory, _MEMORY_COLUMNS, vendor).converters,
        model_columns(Message, ("sequence", "role", "content", "payload"), vendor).converters,
    )

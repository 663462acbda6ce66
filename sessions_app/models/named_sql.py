"""The statements of a turn's path that are written by hand, each kept because it measurably costs less (ADR 21).

Values go to and from the driver as those of the models' fields do.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection

from sessions_app.models.plain_sql import Place, ReadPlace, adapted, converted, field_named, places, selected
from sessions_app.models.sessions.context_unit import ContextUnit
from sessions_app.models.sessions.message import Message
from sessions_app.models.sessions.session import Session
from sessions_app.models.sessions.session_memory import SessionMemory

_MESSAGES, _MEMORIES = Message._meta.db_table, SessionMemory._meta.db_table
_SESSIONS, _UNITS = Session._meta.db_table, ContextUnit._meta.db_table


def advance_session(
    session_pk: int, first_message: str, active_at: datetime, expires_at: datetime | None
) -> tuple[Session, bool] | None:
    """Lock a session that has neither expired nor been deleted, and count one more turn and one more event of it.

    Returns the session as it is now, and whether an earlier turn left pending units behind; None if there is no such
    session.
    """
    statement, names, converters = _advance(connection.vendor)
    ops = connection.ops
    now = ops.adapt_datetimefield_value(active_at)
    parameters = [now, ops.adapt_datetimefield_value(expires_at), first_message, session_pk, now]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows = converted(cursor.fetchall(), converters)
    if not rows:
        return None
    *values, has_leftovers = rows[0]
    return Session.from_db(connection.alias, names, values), bool(has_leftovers)


@lru_cache
def _advance(vendor: str) -> tuple[str, Sequence[str], Sequence[ReadPlace]]:
    names = [field.attname for field in Session._meta.concrete_fields]
    columns, converters = selected(Session, names)
    statement = f"""
        UPDATE {_SESSIONS} SET turn_sequence = turn_sequence + 1, event_sequence = event_sequence + 1,
            last_activity_at = %s, expires_at = %s,
            first_message = CASE WHEN first_message = '' THEN %s ELSE first_message END
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL AND (expires_at IS NULL OR expires_at >= %s)
        RETURNING {columns},
            EXISTS (SELECT 1 FROM {_UNITS} unit WHERE unit.session_id = {_SESSIONS}.id AND unit.state = 'pending')
    """  # noqa: S608
    return statement, names, converters


def store_committed(session: Session, columns: tuple[str, ...], event_count: int) -> bool:
    """Lock a session that has neither been swept as expired nor deleted, store these columns and count its new events.

    False if there is no such session. The session takes over the number of its last event.
    """
    statement, adapters = _store(columns, connection.vendor)
    values = adapted([[getattr(session, name) for name in columns]], adapters)[0]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, event_count, session.pk])
        found = cursor.fetchone()
    if found is not None:
        (session.event_sequence,) = found
    return found is not None


@lru_cache
def _store(columns: tuple[str, ...], vendor: str) -> tuple[str, Sequence[Place]]:
    settings = ", ".join(f"{name} = %s" for name in columns)
    statement = f"""
        UPDATE {_SESSIONS} SET {settings}, event_sequence = event_sequence + %s
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL RETURNING event_sequence
    """  # noqa: S608
    return statement, places([field_named(Session, name) for name in columns])


type SaidColumns = tuple[int, str, str, dict[str, Any] | None]
"""A message's place, the speaker's role, what was said, and the payload of a tool's message."""
type MemoryColumns = tuple[dict[str, Any], int, datetime, datetime]
"""The record, how many turns it comes from, when it was made and when it was last used."""
_MEMORY_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def select_conversation(
    session: Session, limit: int, *, with_memory: bool
) -> tuple[Sequence[SaidColumns], MemoryColumns | None]:
    """Return the newest `limit` messages, the newest first, and what the session remembers."""
    in_memory, in_message = _conversation_converters(connection.vendor)
    owner = session.session_id if with_memory else None
    with connection.cursor() as cursor:
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


@lru_cache
def _conversation_converters(vendor: str) -> tuple[Sequence[ReadPlace], Sequence[ReadPlace]]:
    """Return the converters of a memory's columns and of a message's."""
    return (
        selected(SessionMemory, _MEMORY_COLUMNS)[1],
        selected(Message, ("sequence", "role", "content", "payload"))[1],
    )

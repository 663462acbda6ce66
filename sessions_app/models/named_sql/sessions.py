"""Reads of sessions: one with its counts, and lines of those that continue each other."""

from collections.abc import Collection, Sequence
from typing import Any, cast

from django.db import connection
from django.utils import timezone

from sessions_app.models.knowledge.bases import KnowledgeBase, KnowledgeLayer
from sessions_app.models.knowledge.kb_mount import KBMount
from sessions_app.models.named_sql.columns import Columns, model_columns, product, remembered
from sessions_app.models.named_sql.cursor import open_cursor
from sessions_app.models.sessions.context_unit import ContextUnit
from sessions_app.models.sessions.session import Session
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn

_BASES, _LAYERS = KnowledgeBase._meta.db_table, KnowledgeLayer._meta.db_table
_SESSIONS, _UNITS = Session._meta.db_table, ContextUnit._meta.db_table
_TURNS = ExplainabilityTurn._meta.db_table


def select_counted_session(project_pk: int, session_id: str, save_reasons: Sequence[str]) -> Session | None:
    """Return a session that was not deleted with its base, draft and journal, and with what is shown of it beside its
    columns.

    That is `pending_unit_count`, `turn_count`, `latest_turn_status` and `saved_at`: when it last mounted something for
    one of these reasons.
    """
    statement, session_columns, base_columns, draft_columns, journal_columns, mount_columns = _counted_session(
        len(save_reasons), product()
    )
    with open_cursor() as cursor:
        cursor.execute(statement, [*save_reasons, project_pk, session_id])
        values = cursor.fetchone()
    if values is None:
        return None
    session: Any = session_columns.row_of(values)
    session.mounted_kb, session.draft = base_columns.row_of(values), draft_columns.row_of(values)
    session.journal = journal_columns.row_of(values)
    (session.saved_at,) = mount_columns.values_of(values)
    session.pending_unit_count, session.turn_count, session.latest_turn_status = values[mount_columns.end :]
    return cast(Session, session)


@remembered
def _counted_session(
    reason_count: int, vendor: str
) -> tuple[
    str,
    "Columns[Session]",
    "Columns[KnowledgeBase]",
    "Columns[KnowledgeLayer]",
    "Columns[KnowledgeLayer]",
    "Columns[KBMount]",
]:
    session = model_columns(Session, None, vendor, "session")
    base = model_columns(KnowledgeBase, None, vendor, "base", session.end)
    draft = model_columns(KnowledgeLayer, None, vendor, "draft", base.end)
    journal = model_columns(KnowledgeLayer, None, vendor, "journal", draft.end)
    mount = model_columns(KBMount, ("mounted_at",), vendor, "mount", journal.end)
    statement = f"""
        SELECT {session.sql}, {base.sql}, {draft.sql}, {journal.sql},
            (SELECT {mount.sql} FROM {KBMount._meta.db_table} mount WHERE mount.session_id = session.id
             AND mount.reason IN ({", ".join(["%s"] * reason_count)}) ORDER BY mount.id DESC LIMIT 1),
            (SELECT COUNT(*) FROM {_UNITS} unit WHERE unit.session_id = session.id AND unit.state = 'pending'),
            (SELECT COUNT(*) FROM {_TURNS} turn WHERE turn.session_id = session.id AND turn.trial_number = 0),
            (SELECT status FROM {_TURNS} turn WHERE turn.session_id = session.id AND turn.trial_number = 0
             ORDER BY turn_index DESC LIMIT 1)
        FROM {_SESSIONS} session JOIN {_BASES} base ON base.id = session.mounted_kb_id
        JOIN {_LAYERS} draft ON draft.id = session.draft_id JOIN {_LAYERS} journal ON journal.id = session.journal_id
        WHERE session.project_id = %s AND session.session_id = %s AND session.deleted_at IS NULL
    """  # noqa: S608
    return statement, session, base, draft, journal, mount


# Lines of sessions that continue from one another, of any length, walked by the database in one statement.


def beginning_count(session_pks: Collection[int]) -> int:
    """Return the number of distinct original sessions that these sessions were forked from."""
    with open_cursor() as cursor:
        cursor.execute(_BEGINNINGS.format(marks=", ".join(["%s"] * len(session_pks))), list(session_pks))
        return int(cursor.fetchone()[0])


def continuation_pk(session_pk: int) -> int:
    """Return the key of the last session that continues this expired one, or its own key if there is none."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with open_cursor() as cursor:
        cursor.execute(_CONTINUATION, [session_pk, now])
        return int(cursor.fetchone()[0])


_BEGINNINGS = f"""
WITH RECURSIVE line(id, forked_from_id) AS (
    SELECT id, forked_from_id FROM {_SESSIONS} WHERE id IN ({{marks}})
    UNION
    SELECT earlier.id, earlier.forked_from_id FROM line
    JOIN {_SESSIONS} earlier ON earlier.id = line.forked_from_id
)
SELECT COUNT(*) FROM line WHERE forked_from_id IS NULL
"""  # noqa: S608
_CONTINUATION = f"""
WITH RECURSIVE line(id) AS (
    SELECT id FROM {_SESSIONS} WHERE id = %s
    UNION ALL
    SELECT (
        SELECT MAX(fork.id) FROM {_SESSIONS} fork
        WHERE fork.forked_from_id = line.id AND fork.fork_reason = 'expired' AND fork.deleted_at IS NULL
    )
    FROM line JOIN {_SESSIONS} earlier ON earlier.id = line.id
    WHERE earlier.expired_at IS NOT NULL OR earlier.expires_at < %s
)
SELECT MAX(id) FROM line
"""  # noqa: S608
"""A session without a continuation yields null, which ends the line; MAX works because a fork has the higher key."""

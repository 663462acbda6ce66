"""Lines of sessions that continue from one another, of any length, walked by the database in one statement."""

from collections.abc import Collection

from django.db import connection
from django.utils import timezone

_BEGINNINGS = """
WITH RECURSIVE line(id, forked_from_id) AS (
    SELECT id, forked_from_id FROM sessions_app_session WHERE id IN ({marks})
    UNION
    SELECT earlier.id, earlier.forked_from_id FROM line
    JOIN sessions_app_session earlier ON earlier.id = line.forked_from_id
)
SELECT COUNT(*) FROM line WHERE forked_from_id IS NULL
"""
_CONTINUATION = """
WITH RECURSIVE line(id) AS (
    SELECT id FROM sessions_app_session WHERE id = %s
    UNION ALL
    SELECT (
        SELECT MAX(fork.id) FROM sessions_app_session fork
        WHERE fork.forked_from_id = line.id AND fork.fork_reason = 'expired' AND fork.deleted_at IS NULL
    )
    FROM line JOIN sessions_app_session earlier ON earlier.id = line.id
    WHERE earlier.expired_at IS NOT NULL OR earlier.expires_at < %s
)
SELECT MAX(id) FROM line
"""
"""A session without a continuation yields null, which ends the line; MAX works because a fork has the higher key."""


def beginning_count(session_pks: Collection[int]) -> int:
    """Return the number of distinct original sessions that these sessions were forked from."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGINNINGS.format(marks=", ".join(["%s"] * len(session_pks))), list(session_pks))
        return int(cursor.fetchone()[0])


def continuation_pk(session_pk: int) -> int:
    """Return the key of the last session that continues this expired one, or its own key if there is none."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(_CONTINUATION, [session_pk, now])
        return int(cursor.fetchone()[0])

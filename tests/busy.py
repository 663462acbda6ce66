"""A database that is locked longer than the time limit for locks."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from django.db import OperationalError, connection

_WAIT_MS = 50


@contextmanager
def database_kept() -> Iterator[None]:
    """Hold SQLite's write lock, or PostgreSQL's row locks on all projects and sessions, in another connection.

    The current connection gets a short lock timeout. For tests outside of a transaction.
    """
    is_sqlite = connection.vendor == "sqlite"
    wait = "PRAGMA busy_timeout = {0}" if is_sqlite else "SET lock_timeout = {0}"
    with closing(connection.copy()) as other, other.cursor() as cursor, connection.cursor() as own:
        cursor.execute("BEGIN IMMEDIATE" if is_sqlite else "BEGIN")
        if not is_sqlite:
            for table in ("sessions_app_project", "sessions_app_session"):
                cursor.execute(f"SELECT 1 FROM {table} FOR UPDATE")  # noqa: S608
        own.execute(wait.format(_WAIT_MS))
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
            with connection.cursor() as again:
                again.execute(wait.format(20_000))


class _LockNotAvailable(Exception):
    sqlstate = "55P03"


def wait_in_vain(*args: object, **kwargs: object) -> None:
    """Raise what Django raises after PostgreSQL's `lock_timeout`."""
    raise OperationalError("canceling statement due to lock timeout on /var/lib") from _LockNotAvailable()

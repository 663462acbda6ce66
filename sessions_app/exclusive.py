"""Work that one process at a time may do on a database; the lock is freed when that process ends, however it ends.

The lock belongs to the database, not to this host: in PostgreSQL an advisory lock, held by a connection of its own that
ends with the process; with SQLite a locked file beside the database.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

_HOLD = """SELECT
    set_config('application_name', %s, false), set_config('idle_session_timeout', '0', false),
    set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
    set_config('tcp_keepalives_count', '3', false), {}(%s)"""
"""The connection is idle for as long as the work takes; a host that is gone holds nothing for more than a minute."""
_HOLDERS = """SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
_SIGN = "mrpvm, process "
_UNKNOWN = "another process"
_HELD = """(SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = {})"""
_own_key: int | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """A lock on a named work, held by this process; `_connection` holds an advisory lock and is None for a file."""

    _connection: BaseDatabaseWrapper | None = None

    def lasts(self) -> bool:
        """Return whether the lock is still held: PostgreSQL drops it with the connection."""
        return self._connection is None or self._connection.is_usable()

    def tell_others(self) -> None:
        """Hold this process's own advisory lock too, by whose key others see that it lives; not with SQLite.

        It is shared, so that an earlier connection that PostgreSQL has not given up yet is not waited for.
        """
        global _own_key
        if self._connection is not None:
            key = _own_key or secrets.randbits(62)
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock_shared(%s)", [key])
            _own_key = key


def process_key() -> int | None:
    """Return the key of this process's own lock; None if it holds none."""
    return _own_key


def is_of_ended_process(column: str) -> RawSQL:
    """Return the condition that a column names the lock of another process and nobody holds it; for PostgreSQL."""
    condition = f"{column} <> %s AND NOT EXISTS {_HELD.format(column)}"
    return RawSQL(condition, [_own_key or 0], output_field=BooleanField())  # noqa: S611 (no part comes from outside)


def alone_at(work: str) -> AbstractContextManager[Hold | None]:
    """Hold an exclusive lock on the named work until the block or the process ends; None if it is taken.

    Raises:
        OSError, DatabaseError: the lock cannot be tried.
    """
    return _hold(work, shared=False)


def among_others_at(work: str) -> AbstractContextManager[Hold | None]:
    """Hold a shared lock on the named work until the block or the process ends; None if it is taken exclusively.

    Raises: as `alone_at`.
    """
    return _hold(work, shared=True)


def wait_for_turn(work: str) -> None:
    """Take the advisory lock of the named work until the transaction ends.

    SQLite needs no lock: only one transaction writes at a time.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_number(work)])


def is_only_one_at(work: str) -> bool:
    """Return whether no other process has this process's shared lock on the named work too; False with SQLite, which
    does not tell.
    """
    return connection.vendor == "postgresql" and len(_holders(work)) == 1


def who_is_at(work: str) -> str:
    """Return who does the named work, for a message: 'process 12', with its host where that may be another."""
    if connection.vendor == "postgresql":
        names = [name for name in _holders(work) if name]
        return f"process {names[0].removeprefix(_SIGN)}" if names else _UNKNOWN
    number = _path(work).read_text(encoding="ascii").strip()
    return f"process {number}" if number else _UNKNOWN


def _holders(work: str) -> list[str]:
    """Return how the connections that hold the work's advisory lock are named; empty names of other users' ones."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLDERS, [_number(work)])
        return [name or "" for (name,) in cursor.fetchall()]


def _hold(work: str, *, shared: bool) -> AbstractContextManager[Hold | None]:
    return (_hold_in_database if connection.vendor == "postgresql" else _hold_in_file)(work, shared)


@contextmanager
def _hold_in_database(work: str, shared: bool) -> Iterator[Hold | None]:
    hold = _HOLD.format("pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock")
    with closing(connection.copy()) as own:
        own.inc_thread_sharing()  # it may be looked at and closed by another thread
        with own.cursor() as cursor:
            cursor.execute(hold, [f"{_SIGN}{os.getpid()} on {socket.gethostname()}", _number(work)])
            is_held = bool(cursor.fetchone()[-1])
        yield Hold(own) if is_held else None


@contextmanager
def _hold_in_file(work: str, shared: bool) -> Iterator[Hold | None]:
    with _path(work).open("a", encoding="ascii") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield Hold()


def _number(work: str) -> int:
    """Return the key of the work's advisory lock."""
    return int.from_bytes(blake2b(work.encode(), digest_size=8).digest(), "big", signed=True)


def _path(work: str) -> Path:
    database = Path(connection.settings_dict["NAME"]).resolve()
    return database.with_name(f"{database.name}.{work}.lock")

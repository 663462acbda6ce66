"""Failures of the database: dead connections are closed, and callers get an error that says what it cannot do.

An outage is neither a defect nor a failure of a plugin. `outage_of` says what an error means, for SQLite, PostgreSQL
and Redis alike.
"""

import errno
import logging
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.db import InterfaceError, OperationalError, connections
from django.db.transaction import TransactionManagementError

from mrpvm.errors import MRPError, StorageFull, StorageUnavailable
from sessions_app.metrics import meters

_PRIMARY_CODE = 0xFF
_SQLITE_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SQLITE_AWAY = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM)

_LOCK_NOT_AVAILABLE = "55P03"
_DISK_FULL = "53100"
_IO_ERROR = "58030"
_BUSY_CLASS = "40"  # serialization failure, deadlock
_AWAY_CLASSES = ("08", "53", "57")  # connection, resources, an operator who stops the server

_BUSY = "The database was busy with something else for too long. Try again in a moment."
_AWAY = "The database cannot be reached now. Try again in a moment."
_SHARED_AWAY = "Redis, which the server's processes share, cannot be reached now. Try again in a moment."
_FULL = (
    "The disk that holds the database is full, so this was not stored. Make room on it; until then what is stored can"
    " be read."
)
_NO_ROOM_FOR_FILES = (
    "The server's disk is full, so this was not stored. Make room where it keeps data and temporary files; until"
    " then what is stored can be read."
)
_KINDS = {_BUSY: "busy", _AWAY: "away", _SHARED_AWAY: "away", _FULL: "full", _NO_ROOM_FOR_FILES: "full"}

logger = logging.getLogger(__name__)


def as_unavailable(error: Exception) -> Exception:
    """Return `StorageUnavailable` for what the database or its disk cannot do now, else the error itself.

    Busy is a lock waited for in vain (`lock_timeout`, SQLite's `timeout`); away is a lost or refused connection; full
    is `StorageFull`.
    """
    message = outage_of(error)
    if message is None:
        return error
    logger.warning("%s (%s)", message.partition(".")[0], " ".join(str(error.__cause__ or error).split()))
    if (counted := meters()) is not None:
        counted.database_errors.labels(_KINDS[message]).inc()
    if message in (_FULL, _NO_ROOM_FOR_FILES):
        return StorageFull(message)
    return StorageUnavailable(message, details={"retry_after_seconds": 1})


def as_own_error(error: Exception, what: str) -> MRPError:
    """Return an error as callers may read it; a defect is logged, and the result names only its class.

    Args:
        what: the work, for the log: "turn req-1".
    """
    known = as_unavailable(error)
    if isinstance(known, MRPError):
        return known
    logger.error("%s failed on a defect", what, exc_info=error)
    return MRPError(f"The server has a defect ({type(error).__name__}); its log says more.")


def outage_of(error: BaseException | None) -> str | None:
    """Return the message for a service that is busy, away or full; None for a defect."""
    if isinstance(error, TransactionManagementError):
        # Somebody continued in a transaction that had failed already.
        return outage_of(error.__cause__)
    if isinstance(error, OSError):
        return _NO_ROOM_FOR_FILES if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    if (redis := sys.modules.get("redis.exceptions")) and isinstance(error, redis.ConnectionError | redis.TimeoutError):
        return _SHARED_AWAY
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    cause: Any = error.__cause__
    if hasattr(cause, "sqlite_errorcode"):
        return _sqlite_meaning(cause.sqlite_errorcode & _PRIMARY_CODE)
    return _postgresql_meaning(cause.sqlstate) if hasattr(cause, "sqlstate") else None


def _sqlite_meaning(code: int) -> str | None:
    if code == sqlite3.SQLITE_FULL:
        return _FULL
    if code in _SQLITE_BUSY:
        return _BUSY
    return _AWAY if code in _SQLITE_AWAY else None


def _postgresql_meaning(state: str | None) -> str | None:
    if state == _DISK_FULL:
        return _FULL
    if state == _LOCK_NOT_AVAILABLE or (state or "").startswith(_BUSY_CLASS):
        return _BUSY
    # Without a state the server has said nothing: the connection is lost or was never made.
    return _AWAY if state is None or state == _IO_ERROR or state.startswith(_AWAY_CLASSES) else None


class outages_told:
    """Pass errors of the block, or of the decorated function, through `as_unavailable`."""

    # A class and no generator: a turn enters some forty such blocks, most of them as functions.

    def __call__[**Given, Result](self, function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def wrapper(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if (known := as_unavailable(error)) is error:
                    raise
                raise known from error

        return wrapper

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and (unavailable := as_unavailable(error)) is not error:
            raise unavailable from error


def give_up_dead_connections() -> None:
    """Close this thread's connections that have failed since they were made; the next use makes new ones.

    On PostgreSQL a connection that is kept is tried before its next use. One in a transaction is left as it is.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


@contextmanager
def living_connection() -> Iterator[None]:
    """Run one unit of work of a thread that serves no request, as Django runs a request.

    Errors of the block pass through `as_unavailable`. Effects: those of `give_up_dead_connections`, before
    and after.
    """
    give_up_dead_connections()
    try:
        with outages_told():
            yield
    finally:
        give_up_dead_connections()

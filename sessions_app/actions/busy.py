"""A database that others kept for too long is no defect: the same words for SQLite's writer and PostgreSQL's locks."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError

from mrpvm.errors import Unavailable

_PRIMARY_CODE = 0xFF
_LOCK_NOT_AVAILABLE = "55P03"

logger = logging.getLogger(__name__)


def as_busy(error: Exception) -> Exception:
    """Give `Unavailable` for a lock waited for in vain (`lock_timeout`, SQLite's `timeout`), else the error itself."""
    if not isinstance(error, OperationalError):
        return error
    sqlite_code = getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY_CODE
    if sqlite_code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and (
        getattr(error.__cause__, "sqlstate", None) != _LOCK_NOT_AVAILABLE
    ):
        return error
    logger.warning("the database was busy for too long: %s", " ".join(str(error).split()))
    message = "The database was busy with something else for too long. Try again in a moment."
    return Unavailable(message, details={"retry_after_seconds": 1})


@contextmanager
def told_as_busy() -> Iterator[None]:
    """Have the block raise errors as `as_busy` gives them."""
    try:
        yield
    except OperationalError as error:
        if (told := as_busy(error)) is error:
            raise
        raise told from error

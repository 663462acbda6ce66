"""The answer to a database error: busy, unavailable, full, or a defect of the server."""

import errno
import io
import logging
import sqlite3

import pytest
import redis
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError
from django.db.transaction import TransactionManagementError

from mrpvm.errors import StorageFull, StorageUnavailable
from sessions_app.database import as_unavailable, outages_told


class Sqlite(Exception):
    def __init__(self, code: int) -> None:
        self.sqlite_errorcode = code


class Postgres(Exception):
    def __init__(self, state: str | None) -> None:
        self.sqlstate = state


def raised(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


BUSY, AWAY, FULL = "The database was busy", "The database cannot be reached", "The disk that holds the database is full"
OUTAGES = [
    (Sqlite(sqlite3.SQLITE_BUSY), BUSY),
    (Sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), BUSY),
    (Sqlite(sqlite3.SQLITE_LOCKED), BUSY),
    (Sqlite(sqlite3.SQLITE_FULL), FULL),
    (Sqlite(sqlite3.SQLITE_IOERR_WRITE), AWAY),
    (Sqlite(sqlite3.SQLITE_CANTOPEN), AWAY),
    (Postgres("55P03"), BUSY),
    (Postgres("40P01"), BUSY),
    (Postgres("53100"), FULL),
    (Postgres("53300"), AWAY),
    (Postgres("57P01"), AWAY),
    (Postgres("08006"), AWAY),
    (Postgres(None), AWAY),
]
DEFECTS = [
    raised(OperationalError("no such table"), Sqlite(sqlite3.SQLITE_ERROR)),
    raised(OperationalError("too complex"), Postgres("54001")),
    raised(ProgrammingError("no such column"), Postgres("42703")),
    raised(DataError("out of range"), Postgres("22003")),
    OperationalError("raised by nobody"),
    TransactionManagementError("not in a transaction"),
    OSError(errno.EPERM, "not permitted"),
    ValueError("x"),
]


@pytest.mark.parametrize("wrapper", [OperationalError, InterfaceError])
@pytest.mark.parametrize(("cause", "said"), OUTAGES)
def test_what_the_database_cannot_do_is_told(cause: Exception, said: str, wrapper: type[Exception]) -> None:
    told = as_unavailable(raised(wrapper("at /var/lib"), cause))
    assert isinstance(told, StorageUnavailable)
    assert told.message.startswith(said)
    assert isinstance(told, StorageFull) == (said == FULL)
    assert told.code == ("INSUFFICIENT_STORAGE" if said == FULL else "UNAVAILABLE")
    assert ("retry_after_seconds" in told.details) == (said != FULL)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_by_files_too(number: int) -> None:
    assert isinstance(as_unavailable(OSError(number, "no room")), StorageFull)


def test_who_goes_on_in_a_failed_transaction_is_told_why() -> None:
    lost = raised(OperationalError("gone"), Postgres(None))
    told = as_unavailable(raised(TransactionManagementError("an error occurred"), lost))
    assert isinstance(told, StorageUnavailable)


@pytest.mark.parametrize("kind", [redis.ConnectionError, redis.TimeoutError])
def test_redis_that_is_away_is_told(kind: type[Exception]) -> None:
    told = as_unavailable(kind("Error 111 connecting to 127.0.0.1:6379."))
    assert isinstance(told, StorageUnavailable)
    assert told.message.startswith("Redis")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what the configured handler writes."""
    handler = logging.getHandlerByName("stderr")
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    monkeypatch.setattr(handler, "stream", written)
    return written


def log_failure(error: Exception) -> None:
    try:
        raise error
    except Exception:
        logging.getLogger("sessions_app.turns").exception("what turn %s sent could not be read", "req-1")


@pytest.mark.parametrize(
    "error",
    [
        raised(OperationalError("server closed the connection\n\tunexpectedly"), Postgres(None)),
        raised(TransactionManagementError("x"), raised(OperationalError("gone"), Postgres("57P01"))),
        redis.ConnectionError("Error 111 connecting to 127.0.0.1:6379."),
        StorageUnavailable("The database cannot be reached now."),
        OSError(errno.ENOSPC, "no room"),
    ],
)
def test_an_outage_is_one_warning_whoever_logs_it(error: Exception, log: io.StringIO) -> None:
    log_failure(error)
    (line,) = log.getvalue().splitlines()
    assert " WARNING sessions_app.turns: what turn req-1 sent could not be read: " in line


@pytest.mark.parametrize("error", DEFECTS)
def test_a_defect_is_logged_with_its_traceback(error: Exception, log: io.StringIO) -> None:
    log_failure(error)
    first, *others = log.getvalue().splitlines()
    assert " ERROR sessions_app.turns: what turn req-1 sent could not be read" in first
    assert "Traceback (most recent call last):" in others


@pytest.mark.parametrize("error", DEFECTS)
def test_what_the_server_did_wrong_stays_what_it_is(error: Exception) -> None:
    assert as_unavailable(error) is error
    with pytest.raises(type(error)) as caught, outages_told():
        raise error
    assert caught.value is error

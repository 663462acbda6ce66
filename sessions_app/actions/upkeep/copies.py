"""Whole copies of the database while it is in use, and the one that SQLite's server makes each day."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection

_PREFIX, _SUFFIX = "db-", ".sqlite3"


def copy_sqlite(target: Path) -> None:
    """Write the database as it is at one moment to a new file, which only its owner can read; nobody waits for it.

    Raises:
        FileExistsError: there is such a file.
        OSError, sqlite3.Error: it cannot be written.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(sqlite3.connect(f"file:{database_file()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        # At once: a copy page by page begins anew whenever somebody writes.
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it


def database_file() -> Path:
    """Return where SQLite's database is."""
    return Path(connection.settings_dict["NAME"]).resolve()


def copies_directory() -> Path:
    """Return where the daily copies are."""
    return Path(settings.MRPVM_DATA_DIR) / "backups"


def make_daily_copy() -> int:
    """Copy SQLite's database once a day (UTC) and remove all but the newest `MRPVM_DAILY_COPIES`; return how many
    copies were made. PostgreSQL's operators have means of their own.

    Effects: a file `backups/db-YYYY-MM-DD.sqlite3` in the data directory.
    """
    if connection.vendor != "sqlite" or not settings.MRPVM_DAILY_COPIES:
        return 0
    directory = copies_directory()
    today = directory / f"{_PREFIX}{datetime.now(UTC):%Y-%m-%d}{_SUFFIX}"
    if today.exists():
        return 0
    directory.mkdir(mode=0o700, exist_ok=True)
    unfinished = directory / ".copy-being-made"
    unfinished.unlink(missing_ok=True)  # of a process that ended meanwhile
    copy_sqlite(unfinished)
    unfinished.replace(today)
    for old in sorted(directory.glob(f"{_PREFIX}*{_SUFFIX}"))[: -settings.MRPVM_DAILY_COPIES]:
        old.unlink()
    return 1

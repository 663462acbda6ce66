"""Copies of the database in use, and the daily copy of an SQLite database."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection

_PREFIX, _SUFFIX = "db-", ".sqlite3"


def copy_sqlite(target: Path) -> None:
    """Write a consistent copy of the database to a new file that only its owner can read, without blocking writers.

    Raises:
        FileExistsError: there is such a file.
        OSError, sqlite3.Error: it cannot be written.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(sqlite3.connect(f"file:{database_file()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        # In one step, because a copy page by page starts again after every write.
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # so that the copy is one file, without a log


def database_file() -> Path:
    """Return where SQLite's database is."""
    return Path(connection.settings_dict["NAME"]).resolve()


def copies_directory() -> Path:
    """Return where the daily copies are."""
    return Path(settings.MRPVM_DATA_DIR) / "backups"


def make_daily_copy() -> int:
    """Copy an SQLite database once a day (UTC) and keep the newest `MRPVM_DAILY_COPIES`; return how many were made.

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
    unfinished.unlink(missing_ok=True)  # left by a process that ended during the copy
    copy_sqlite(unfinished)
    unfinished.replace(today)
    for old in sorted(directory.glob(f"{_PREFIX}*{_SUFFIX}"))[: -settings.MRPVM_DAILY_COPIES]:
        old.unlink()
    return 1

"""Control of when SQLite waits for the disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_later() -> Iterator[None]:
    """On SQLite, do not wait for the disk at the end of each of this thread's transactions in the block.

    Use it for rows that nobody relies on yet, because other writers would wait for the disk too. SQLite writes in
    order, so the rows are on the disk before any later transaction outside of the block, such as the one that makes
    them visible. Within a transaction this changes nothing.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    database = connection.connection  # Django's cursor would take longer than SQLite
    (before,) = database.execute("PRAGMA synchronous").fetchone()
    database.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        if connection.connection is database:  # a failed transaction may have closed it
            database.execute(f"PRAGMA synchronous = {before}")

"""Control of when SQLite waits for the disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_later() -> Iterator[None]:
    """On SQLite, do not wait for the disk at the end of each of this thread's transactions in the block.

    Use it for rows that are not visible yet, because other writers would wait for the disk too. SQLite writes in order,
    so the rows are on the disk before any later transaction outside of the block, such as the one that makes them
    visible. Within a transaction this changes nothing.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        before = int(cursor.execute("PRAGMA synchronous").fetchone()[0])
        cursor.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA synchronous = {before}")

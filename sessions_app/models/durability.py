"""When what is written has to be on the disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_later() -> Iterator[None]:
    """On SQLite, do not wait for the disk at the end of each of this thread's transactions in the block.

    For rows that nobody sees yet: other writers would wait for the disk too. They are on it at the latest with the next
    transaction outside of the block, because SQLite keeps the order of what it writes; so what makes them visible is
    never there without them. Within a transaction this changes nothing.
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

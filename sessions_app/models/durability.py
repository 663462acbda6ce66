"""When what is written has to be on the disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_later() -> Iterator[None]:
    """Do not wait for the disk at the end of each transaction of this thread in the block.

    For rows that nobody sees yet. They are on the disk at the latest with the next transaction outside of the block,
    for both databases keep the order of what they write: so whatever makes them visible is lasting only with them.
    SQLite's one writer is not kept waiting for the disk meanwhile. Nothing changes inside of a transaction.
    """
    if connection.in_atomic_block:
        yield
        return
    is_sqlite = connection.vendor == "sqlite"
    before = _asked("PRAGMA synchronous") if is_sqlite else None
    _run("PRAGMA synchronous = NORMAL" if is_sqlite else "SET synchronous_commit = off")
    try:
        yield
    finally:
        _run(f"PRAGMA synchronous = {before}" if is_sqlite else "RESET synchronous_commit")


def _asked(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

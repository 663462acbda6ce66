"""Work that only one process at a time may do, whatever happens to the one that does it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from django.conf import settings
from django.db import connection


@contextmanager
def alone_at(work: str) -> Iterator[bool]:
    """Tell whether nobody else does the named work; if so, nobody else can until the block or the process ends."""
    with _held_by_database(work) if connection.vendor == "postgresql" else _held_by_file(work) as is_alone:
        yield is_alone


def wait_for_turn(work: str) -> None:
    """Let the running transaction wait until no other does the named work; others wait until this one has ended.

    SQLite has one transaction that writes at a time, whatever it does.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_number(work)])


def _number(work: str) -> int:
    return int.from_bytes(blake2b(work.encode(), digest_size=8).digest(), "big", signed=True)


@contextmanager
def _held_by_database(work: str) -> Iterator[bool]:
    number = _number(work)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        is_alone = bool(cursor.fetchone()[0])
    try:
        yield is_alone
    finally:
        if is_alone and connection.connection is not None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


@contextmanager
def _held_by_file(work: str) -> Iterator[bool]:
    with (settings.MRPVM_DATA_DIR / f"{work}.lock").open("a", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True

"""Migrated databases without rows: each test run migrates one of each kind and copies it."""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.server import ServerProcess

# Set before worker processes start, so that all of them share it.
RUN = os.environ.setdefault("TEST_RUN", secrets.token_hex(8))
TEMPLATE = f"migrated_{RUN}"
MIGRATION_SECONDS = 300  # a shorter limit would fail every test on a busy machine


def migrated_file(shared: Path) -> Path:
    """Return a migrated SQLite file in the directory `shared`; the first process that needs it creates it."""
    made = shared / "migrated.sqlite3"

    def make() -> None:
        _migrate(shared / "migrating")
        (shared / "migrating" / "db.sqlite3").rename(made)

    _make_once(shared / "migrated-file", make)
    return made


def migrated_template(shared: Path, address: str) -> str:
    """Return the name of a migrated PostgreSQL database to copy; the first process that needs it creates it."""

    def make() -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{TEMPLATE}"')
        _migrate(shared / "migrating", DATABASE_URL=_at(address, TEMPLATE))

    _make_once(shared / "migrated-template", make)
    return TEMPLATE


@contextmanager
def new_database(shared: Path, address: str) -> Iterator[str]:
    """Create a migrated PostgreSQL database for the block; yield its address."""
    name, template = f"own_{secrets.token_hex(8)}", migrated_template(shared, address)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        yield _at(address, name)
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def drop_template(address: str) -> None:
    """Drop the run's PostgreSQL template, if there is one."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}" WITH (FORCE)')


def _at(address: str, database: str) -> str:
    return urlsplit(address)._replace(path=f"/{database}").geturl()


def _make_once(mark: Path, make: Callable[[], None]) -> None:
    with mark.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not mark.stat().st_size:  # read after the lock was acquired
            make()
            file.write("made")


def _migrate(data: Path, **variables: str) -> None:
    data.mkdir(exist_ok=True)
    code, output = ServerProcess(data, **variables).manage(
        "migrate", "--verbosity", "0", "--skip-checks", seconds=MIGRATION_SECONDS
    )
    assert code == 0, output

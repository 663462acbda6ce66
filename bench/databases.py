"""Databases of the measured servers: SQLite files, or new databases on the PostgreSQL of `DATABASE_URL`."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import django
from django.core.management import call_command


@dataclass(frozen=True, slots=True)
class Database:
    """A server's data directory and the address of its database."""

    directory: Path
    url: str

    @property
    def product(self) -> str:
        """Return the database system's name."""
        return "SQLite" if self.url.startswith("sqlite") else "PostgreSQL"


def product_of_new_databases() -> str:
    """Return the name of the database system that `new_database` uses."""
    return "PostgreSQL" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "SQLite"


@contextmanager
def new_database(directory: Path) -> Iterator[Database]:
    """Yield an empty database, on PostgreSQL if `DATABASE_URL` is set, and drop it afterwards."""
    address = os.environ.get("DATABASE_URL", "")
    if not address.startswith("postgres"):
        yield _sqlite(directory)
        return
    with _on_postgresql(directory, address, "template0") as database:
        yield database


@contextmanager
def django_on_new_database() -> Iterator[Database]:
    """Set Django up in this process on a new, migrated database, and drop it afterwards."""
    with TemporaryDirectory(prefix="mrpvm-bench-") as directory, new_database(Path(directory, "rows")) as own:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": own.url}
        os.environ["MRPVM_DATA_DIR"] = str(own.directory)
        django.setup()
        call_command("migrate", verbosity=0)
        yield own


@contextmanager
def copied(database: Database, directory: Path) -> Iterator[Database]:
    """Yield a copy of a database that nobody has open, and drop it afterwards."""
    if database.product == "SQLite":
        copy = _sqlite(directory)
        for file in database.directory.glob("db.sqlite3*"):
            shutil.copy2(file, directory)
        yield copy
        return
    with _on_postgresql(directory, database.url, urlsplit(database.url).path[1:]) as copy:
        yield copy


def _sqlite(directory: Path) -> Database:
    directory.mkdir(parents=True)
    return Database(directory, f"sqlite:///{directory / 'db.sqlite3'}")


@contextmanager
def _on_postgresql(directory: Path, address: str, template: str) -> Iterator[Database]:
    import psycopg

    directory.mkdir(parents=True)
    name = f"mrpvm_bench_{secrets.token_hex(6)}"
    with psycopg.connect(address, dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield Database(directory, urlsplit(address)._replace(path=f"/{name}").geturl())
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

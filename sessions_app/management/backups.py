"""Everything that a server keeps, as one file: the database, the operator's files, on request the signing key.

The file is a ZIP archive. Its last member, `manifest.json`, names the version that wrote it and the SHA-256 of every
other member, so that a damaged or shortened file is known before anything is replaced.
"""

import hashlib
import json
import shutil
import sqlite3
import subprocess
import zipfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection, connections
from django.utils import timezone

from mrpvm.archives import DAMAGED_ARCHIVE
from sessions_app.actions.upkeep.copies import copy_sqlite, database_file
from sessions_app.actions.upkeep.sqlite_rows import copy_rows
from sessions_app.management.files import open_owned_file, open_whole_file
from sessions_app.queries.versions import is_known_migration, latest_migration

_MANIFEST = "manifest.json"
_KEY_FILE = "secret_key"
_FOLDERS = ("skills", "personas", "agents", "workspace", "wrappers")
"""Folders of the data directory that hold the operator's own files."""
_CHUNK_BYTES = 1_048_576
_DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}


class BackupError(Exception):
    """A backup cannot be made or used; the message is one line for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """What a backup holds; `checksums` are those of its other members, in hexadecimal digits."""

    version: str
    latest_migration: str
    database: str
    made_at: str
    has_secret_key: bool
    checksums: dict[str, str]


def make_backup(file: Path, *, with_secret_key: bool = False) -> BackupManifest:
    """Write a backup; the server may continue meanwhile.

    Raises:
        BackupError: the file exists, or something cannot be read or written.
    """
    try:
        with open_whole_file(file) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            manifest = _write(archive, file.parent, with_secret_key=with_secret_key)
    except OSError as error:
        raise BackupError(f"{file} cannot be written: {error.strerror or error}.") from error
    except sqlite3.Error as error:
        raise BackupError(f"{database_file()} cannot be copied: {error}") from error
    return manifest


def verified(file: Path) -> BackupManifest:
    """Return what a backup holds, after reading it whole.

    Raises:
        BackupError: the file cannot be read, is not a backup, is damaged, or lacks a part.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = BackupManifest(**json.loads(archive.read(_MANIFEST)))
            wrong = [name for name, digest in manifest.checksums.items() if _digest(archive, name) != digest]
            if unlisted := set(archive.namelist()) - {_MANIFEST, *manifest.checksums}:
                raise BackupError(f"{file} holds what its manifest does not list: {min(unlisted)}.")
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise BackupError(f"{file} cannot be read: {error.strerror}.") from error
    except (*DAMAGED_ARCHIVE, KeyError, TypeError) as error:
        raise BackupError(f"{file} is no whole backup of mrpvm: {error}") from error
    if wrong:
        raise BackupError(f"{file} is damaged: {', '.join(wrong)} is not what was written.")
    return manifest


def restore_backup(file: Path, *, with_secret_key: bool = False) -> BackupManifest:
    """Replace the database and files by those of a backup; no process may serve the database meanwhile.

    A backup of SQLite can be restored to PostgreSQL too.

    What was there stays beside it: SQLite's database and the folders under names that end in `before-restore`. A
    folder of which the backup holds nothing is gone afterwards. If a step fails, the earlier ones are undone.

    Raises:
        BackupError: it is damaged, of a database that it cannot be moved from or of a newer version, or it cannot be
            put in place; nothing was changed.
    """
    manifest = verified(file)
    moves = (manifest.database, connection.vendor) == ("sqlite", "postgresql")
    if manifest.database != connection.vendor and not moves:
        raise BackupError(f"{file} is a backup of {manifest.database}; this server uses {connection.vendor}.")
    if _DATABASES[manifest.database] not in manifest.checksums:
        raise BackupError(f"{file} holds no database.")
    if not is_known_migration(manifest.latest_migration):
        raise BackupError(
            f"{file} was made by mrpvm {manifest.version} ({manifest.latest_migration}), which is newer than this one:"
            f" mrpvm {settings.MRPVM_VERSION} ({latest_migration()})."
        )
    if moves and manifest.latest_migration != latest_migration():
        raise BackupError(
            f"{file} was made by mrpvm {manifest.version}, an earlier version; for PostgreSQL it takes one of this"
            f" version: start mrpvm {settings.MRPVM_VERSION} with SQLite once and make another."
        )
    if with_secret_key and not manifest.has_secret_key:
        raise BackupError(f"{file} holds no signing key.")
    data = Path(settings.MRPVM_DATA_DIR)
    stamp = f"{timezone.now():%Y%m%d-%H%M%S}.before-restore"
    try:
        with zipfile.ZipFile(file) as archive, TemporaryDirectory(dir=data, prefix=".restore-") as scratch:
            names = [name for name in manifest.checksums if with_secret_key or name != _KEY_FILE]
            for name in names:
                _extract(archive, name, Path(scratch) / name)
            with ExitStack() as undo:
                for folder in _FOLDERS:
                    _put(Path(scratch) / "files" / folder, data / folder, stamp, undo)
                if with_secret_key:
                    _put(Path(scratch) / _KEY_FILE, data / _KEY_FILE, stamp, undo)
                _put_database(Path(scratch) / _DATABASES[manifest.database], stamp, undo)
                undo.pop_all()
    except (OSError, sqlite3.Error, Error) as error:
        raise BackupError(f"the backup could not be put in place: {' '.join(str(error).split())}") from error
    return manifest


def _write(archive: zipfile.ZipFile, scratch_directory: Path, *, with_secret_key: bool) -> BackupManifest:
    data = Path(settings.MRPVM_DATA_DIR)
    checksums: dict[str, str] = {}
    with TemporaryDirectory(dir=scratch_directory, prefix=".backup-") as scratch:
        name = _DATABASES[connection.vendor]
        _dump(Path(scratch) / name)
        checksums[name] = _add(archive, Path(scratch) / name, name)
    for folder in _FOLDERS:
        for path in sorted((data / folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                name = str(PurePosixPath("files", *path.relative_to(data).parts))
                checksums[name] = _add(archive, path, name)
    if with_secret_key:
        checksums[_KEY_FILE] = _add_key(archive, data / _KEY_FILE)
    manifest = BackupManifest(
        version=settings.MRPVM_VERSION,
        latest_migration=latest_migration(),
        database=connection.vendor,
        made_at=timezone.now().isoformat(timespec="seconds"),
        has_secret_key=with_secret_key,
        checksums=checksums,
    )
    archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


def _add_key(archive: zipfile.ZipFile, path: Path) -> str:
    if not path.exists() or path.read_text().strip() != settings.SECRET_KEY:
        raise BackupError("The signing key is not in the data directory: it comes from SECRET_KEY; keep that yourself.")
    return _add(archive, path, _KEY_FILE)


def _dump(target: Path) -> None:
    if connection.vendor == "sqlite":
        copy_sqlite(target)
        return
    _run_postgresql("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def _put_database(source: Path, stamp: str, undo: ExitStack) -> None:
    connections.close_all()
    if source.name != _DATABASES[connection.vendor]:
        call_command("migrate", interactive=False, verbosity=0)
        copy_rows(source)
        return
    if connection.vendor == "postgresql":
        _run_postgresql(
            "pg_restore", "--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction",
            "--exit-on-error", str(source),
        )  # fmt: skip
        return
    place = database_file()
    for ending in ("-wal", "-shm"):  # they belong to the database that goes, and move with it
        _move(place.with_name(place.name + ending), place.with_name(f"{place.name}.{stamp}{ending}"), undo)
    _put(source, place, stamp, undo)


def _put(source: Path, place: Path, stamp: str, undo: ExitStack) -> None:
    """Set aside what is in a place and put a file or folder there, if the backup holds it."""
    _move(place, place.with_name(f"{place.name}.{stamp}"), undo)
    if source.exists():
        undo.callback(_remove, place)
        shutil.move(source, place)


def _move(path: Path, target: Path, undo: ExitStack) -> None:
    if path.exists():
        path.replace(target)
        undo.callback(target.replace, path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _run_postgresql(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL on the configured database; the password is not on its command line."""
    if shutil.which(program) is None:
        raise BackupError(f"{program} is not installed; it comes with PostgreSQL's client programs.")
    parts = connection.settings_dict
    with TemporaryDirectory() as scratch:
        passwords = Path(scratch) / "passwords"
        password = str(parts["PASSWORD"] or "").replace("\\", "\\\\").replace(":", "\\:")
        with open_owned_file(passwords) as file:
            file.write(f"*:*:*:*:{password}\n".encode())
        named = {"dbname": "NAME", "host": "HOST", "port": "PORT", "user": "USER"}
        address = {name: str(parts[key]) for name, key in named.items() if parts[key]} | {"passfile": str(passwords)}
        database = " ".join(f"{name}={_quoted(value)}" for name, value in address.items())
        command = [program, f"--dbname={database}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise BackupError(f"{program} failed: {' '.join(done.stderr.split())[:500]}")


def _quoted(value: str) -> str:
    """Return a value quoted for a connection string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> str:
    """Add a file; return its SHA-256."""
    digest = hashlib.sha256()
    with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as member:
        return hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type] # it reads as a file does


def _extract(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise BackupError(f"The backup names a file outside of the data directory: {name}.")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with archive.open(name) as source, open_owned_file(target) as file:
        shutil.copyfileobj(source, file, _CHUNK_BYTES)

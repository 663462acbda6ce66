"""Places outside of rows that hold texts: free pages, the database's log, files of the data directory, caches."""

import functools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session as Login
from django.db import OperationalError, connection

from mrpvm.text_cache import clear_all
from sessions_app.actions.upkeep.copies import copies_directory, database_file, make_daily_copy
from sessions_app.layers import merge_word_index
from sessions_app.models import Forgetting, Project
from sessions_app.queries.experiments.forgetting.phrases import Phrases

_CHUNK_BYTES = 4 * 1024 * 1024
_OVERLAP_BYTES = 64 * 1024
_TRIES, _WAIT_SECONDS = 20, 0.5
_PACKAGES = frozenset(("mrpvm", "sessions_app"))


class _Cleared:
    """The newest finished act that this process has emptied its caches for."""

    through = 0


def clear_caches() -> None:
    """Empty every cache of this process that may hold a text."""
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] in _PACKAGES]
    for function in (value for module in modules for value in list(vars(module).values())):
        if isinstance(function, functools._lru_cache_wrapper):
            function.cache_clear()
    clear_all()


def clear_caches_if_due() -> int:
    """Empty the caches of this process if an act has finished since the last call; return 1 if so, else 0."""
    newest = Forgetting.objects.filter(finished_at__isnull=False).order_by("-finished_at", "-pk")
    latest = newest.values_list("pk", flat=True).first() or 0
    if latest == _Cleared.through:
        return 0
    _Cleared.through = latest
    clear_caches()
    return 1


def end_logins(phrases: Phrases) -> int:
    """Delete browser sessions that hold one of the texts, such as a message written after the login had expired.

    Return how many were deleted.
    """
    held = [login.pk for login in Login.objects.iterator() if phrases.are_in_value(login.get_decoded())]
    Login.objects.filter(pk__in=held).delete()
    return len(held)


def renew_copies() -> int:
    """Replace the daily copies of the database, which still hold the removed rows, by a new one.

    Return how many were removed.
    """
    old = _copies()
    for copy in old:
        copy.unlink(missing_ok=True)
    if old:
        make_daily_copy()
    return len(old)


def _copies() -> list[Path]:
    return list(copies_directory().glob("db-*.sqlite3"))


def overwrite_free_space() -> str:
    """Overwrite the pages of deleted rows; return a sentence about the result."""
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
        return "PostgreSQL has vacuumed its tables. Its write-ahead log, replicas and backups are the operator's."
    for _ in range(_TRIES):
        try:
            merge_word_index()
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA secure_delete = ON")
                cursor.execute("VACUUM")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                busy, *_ = cursor.fetchone()
        except OperationalError:
            busy = 1
        if not busy:
            return "SQLite has rewritten its file and emptied its log. Copies in other places are the operator's."
        time.sleep(_WAIT_SECONDS)
    return "The database was busy and was not rewritten: free pages of its file may hold the text until VACUUM is run."


def files_holding(phrases: Phrases) -> tuple[int, list[str]]:
    """Return the number of files in the data directory, and the names of those that hold one of the texts.

    The database's files are left out if other projects may hold the text in them.
    """
    directory = Path(settings.MRPVM_DATA_DIR)
    paths = {path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()}
    if connection.vendor == "sqlite":
        main = database_file()
        own = {path for path in (main, main.with_name(f"{main.name}-wal"), *_copies()) if path.exists()}
        paths = paths - own if Project.objects.count() > 1 else paths | own
    held = [path for path in sorted(paths) if any(phrases.is_in(text) for text in _texts(path))]
    names = [path.relative_to(directory) if path.is_relative_to(directory) else path for path in held]
    return len(paths), [str(name) for name in names]


def _texts(path: Path) -> Iterator[str]:
    """Return what a file holds as text, in pieces that overlap."""
    kept = b""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield (kept + chunk).decode("utf-8", "ignore")
                kept = chunk[-_OVERLAP_BYTES:]
    except OSError:
        return  # removed meanwhile

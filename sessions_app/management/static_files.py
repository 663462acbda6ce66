"""Collects the static files of production when the server starts."""

from collections.abc import Iterator
from hashlib import sha256
from inspect import getfile
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

MANIFEST = "staticfiles.json"


def collect_static_files(root: Path) -> None:
    """Collect, hash and compress the static files in `STATIC_ROOT`, unless none has changed since an earlier start.

    Effects: the directory, and beside it a file with the digest of what was collected.
    """
    collected, digest = root.with_name(f"{root.name}.sha256"), _digest()
    if (root / MANIFEST).exists() and collected.exists() and collected.read_text() == digest:
        return
    collected.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    collected.write_text(digest)


def _digest() -> str:
    """Return the digest of the names and contents of all files, and of the code that changes them."""
    digest = sha256(settings.MRPVM_VERSION.encode())
    for file in sorted([*_source_files(), Path(getfile(staticfiles_storage.__class__))]):
        digest.update(f"\n{file}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _source_files() -> Iterator[Path]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            yield Path(storage.path(name))

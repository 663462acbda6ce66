"""Files that commands write for their operator alone."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def open_owned_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that only its owner can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def open_whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open such a file, which gets its name once it is whole.

    Raises:
        FileExistsError: there is a file of this name.
    """
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it exists already; name another file", str(path))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with open_owned_file(unfinished) as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)

"""Reads files that operators add: only inside their root, up to a size limit, and in UTF-8."""

import os
import stat
from pathlib import Path

from mrpvm.errors import InvalidInput

FILE_BYTES = 65_536
"""How large a skill, persona or agent file may be; a larger one is excluded, never cut."""


class UnreadableFile(InvalidInput):
    """The file is not read; `code` is the diagnostic's, the message says why."""


def is_inside(path: Path, root: Path) -> bool:
    """Return whether the path, every link followed, is below the root."""
    try:
        return path.resolve(strict=True).is_relative_to(root.resolve(strict=True))
    except (OSError, RuntimeError, ValueError):  # ValueError: the path holds a null character
        return False


def read_text(path: Path, root: Path) -> str:
    """Return the file's text.

    Raises:
        UnreadableFile: `path_outside_root`, `file_unreadable`, `file_too_large`, or `malformed_frontmatter` for
            what is not UTF-8.
    """
    if not is_inside(path, root):
        raise UnreadableFile("The path leads out of its root; excluded.", code="path_outside_root")
    try:
        # A named pipe would keep a plain open waiting for somebody to write.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableFile("Not a regular file; excluded.", code="file_unreadable")
            content = file.read(FILE_BYTES + 1)
            size = os.fstat(descriptor).st_size
    except OSError as error:
        raise UnreadableFile(f"Not readable ({error.strerror}); excluded.", code="file_unreadable") from None
    if len(content) > FILE_BYTES:
        raise UnreadableFile(f"The file has {size} bytes; {FILE_BYTES} are allowed; excluded.", code="file_too_large")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"Invalid encoding: not UTF-8 at byte {error.start}", code="malformed_frontmatter"
        ) from None
    if "\0" in text:
        raise UnreadableFile("Invalid encoding: the text holds a null character", code="malformed_frontmatter")
    return text

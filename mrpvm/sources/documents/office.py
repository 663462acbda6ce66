"""Files of office programs: an archive of XML parts. Macros and linked files are never opened."""

import contextlib
import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

from mrpvm.archives import DAMAGED_ARCHIVE
from mrpvm.errors import Unreadable
from mrpvm.preview import size_words
from mrpvm.sources.documents.xml import elements
from mrpvm.sources.process_limits import UNPACKED_BYTES

_PROPERTIES = "docProps/core.xml"
_DAMAGED = (
    *DAMAGED_ARCHIVE,
    ExpatError,
    ElementTree.ParseError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
)
"""What the libraries that read such a file raise, behind their own checks, for one that is damaged."""


@contextlib.contextmanager
def opened(data: bytes, kind: str) -> Iterator[zipfile.ZipFile]:
    """Open an office file; what its damage raises while it is open becomes a refusal.

    Args:
        kind: the name of its format, for people.

    Raises:
        Unreadable: damaged, or its parts unpack to more than a file may.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size > UNPACKED_BYTES:
                raise Unreadable(
                    f"The {kind} unpacks to {size_words(size)}; {size_words(UNPACKED_BYTES)} are allowed.",
                    details={"limit": UNPACKED_BYTES, "size": size},
                )
            yield archive
    except _DAMAGED as error:
        details = {"cause": type(error).__name__}
        raise Unreadable(f"The {kind} cannot be read, it is damaged.", details=details) from None


def author_of(archive: zipfile.ZipFile) -> str | None:
    """Return who made the file, as it says itself."""
    if _PROPERTIES not in archive.namelist():
        return None
    with archive.open(_PROPERTIES) as part:
        named = next((element.text for name, element in elements(part) if name == "creator"), None)
    return " ".join((named or "").split())[:200] or None

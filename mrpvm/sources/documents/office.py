"""Files of office programs: an archive of XML parts. Macros and linked files are never opened."""

import contextlib
import io
import zipfile
from collections.abc import Iterator
from typing import IO, Any
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError, ParserCreate

from mrpvm.archives import DAMAGED_ARCHIVE
from mrpvm.errors import Unreadable
from mrpvm.preview import size_words
from mrpvm.sources.documents.xml import elements
from mrpvm.sources.process_limits import UNPACKED_BYTES, XML_ATTRIBUTES, XML_CHARS, XML_ELEMENTS

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


def check_amount(archive: zipfile.ZipFile, kind: str) -> None:
    """Refuse a file whose XML parts hold more than it takes seconds to read; a part that is no XML counts until there.

    Raises:
        Unreadable: more elements, attributes or characters than are allowed.
    """
    amount = _Amount(kind)
    for name in archive.namelist():
        with archive.open(name) as part, contextlib.suppress(ExpatError):
            amount.count(part)


class _Amount:
    """What was counted in XML parts so far. A mark between texts, or a declaration, counts as an element."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._elements = self._attributes = self._chars = 0

    def count(self, part: IO[bytes]) -> None:
        parser = ParserCreate()
        parser.buffer_text = parser.ordered_attributes = True
        parser.StartElementHandler = self._begin
        parser.CharacterDataHandler = self._read
        parser.StartCdataSectionHandler = parser.CommentHandler = parser.ProcessingInstructionHandler = self._mark
        parser.EntityDeclHandler = parser.AttlistDeclHandler = parser.ElementDeclHandler = self._mark
        parser.ParseFile(part)

    def _begin(self, name: str, attributes: list[str]) -> None:
        self._mark()
        self._attributes += len(attributes) // 2
        if self._attributes > XML_ATTRIBUTES:
            raise self._refusal(XML_ATTRIBUTES, "attributes")

    def _mark(self, *_: Any) -> None:
        self._elements += 1
        if self._elements > XML_ELEMENTS:
            raise self._refusal(XML_ELEMENTS, "elements")

    def _read(self, text: str) -> None:
        self._chars += len(text)
        if self._chars > XML_CHARS:
            raise self._refusal(XML_CHARS, "characters")

    def _refusal(self, limit: int, unit: str) -> Unreadable:
        return Unreadable(f"The {self._kind} has more than {limit:,} {unit}.", details={"limit": limit, "unit": unit})


def author_of(archive: zipfile.ZipFile) -> str | None:
    """Return who made the file, as it says itself."""
    if _PROPERTIES not in archive.namelist():
        return None
    with archive.open(_PROPERTIES) as part:
        named = next((element.text for name, element in elements(part) if name == "creator"), None)
    return " ".join((named or "").split())[:200] or None

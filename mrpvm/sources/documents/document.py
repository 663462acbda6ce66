"""What a file becomes, and in which formats files come."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.plain import BYTE_ORDER_MARKS

MediaType = Literal[
    "text/markdown",
    "text/plain",
    "text/html",
    "text/csv",
    "application/json",
    "application/xml",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
]
DOCX: MediaType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX: MediaType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS = "Markdown, plain text, HTML, PDF, DOCX, XLSX, CSV, JSON or a MediaWiki export"
"""What is read, in words for people."""
ENDINGS: Mapping[str, MediaType] = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".nl": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/json",
    ".ndjson": "application/json",
    ".xml": "application/xml",
    ".pdf": "application/pdf",
    ".docx": DOCX,
    ".docm": DOCX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
}
_DECLARED: dict[str, MediaType] = {
    **{kind: kind for kind in ENDINGS.values()},
    "application/xhtml+xml": "text/html",
    "text/tab-separated-values": "text/csv",
    "application/jsonl": "application/json",
    "application/x-ndjson": "application/json",
    "text/xml": "application/xml",
}
_HEAD_BYTES = 1_024
_CONTROL = bytes(sorted(frozenset(range(0x20)) - frozenset(b"\t\n\r\f\x1b")))
_CONTROL_SHARE = 0.02
"""A text may have strayed control characters; a NUL, or more of them, make it no text."""
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIN_PARTS: dict[bytes, MediaType] = {b"word/document": DOCX, b"xl/workbook": XLSX}
"""How the names of the parts begin that hold the text of an office file; an archive lists them unpacked at its end."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_BINARY: dict[MediaType, tuple[str, str]] = {
    "application/pdf": ("a PDF", "does not begin with %PDF-"),
    DOCX: ("a DOCX", "is not packed as one"),
    XLSX: ("an XLSX", "is not packed as one"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's text; headings of a Markdown text are lines that begin with `#`."""

    text: str
    is_markdown: bool = False
    author: str | None = None


def media_type_of(data: bytes, name: str, declared: str | None = None) -> MediaType:
    """Return the format of a file: by its first bytes where they tell, else by name, else as declared, else plain text.

    Args:
        declared: a Content-Type header's value; parameters are ignored.

    Raises:
        Unreadable: UNSUPPORTED_MEDIA_TYPE for what is not text and no format that is read here.
    """
    head = data[:_HEAD_BYTES]
    if head.lstrip().startswith(b"%PDF-"):
        return "application/pdf"
    if head.startswith(_OLE):
        raise _refused_office_file(data)
    if head.startswith(_ZIP) and (packed := _packed_type(data)):
        return packed
    if not head.startswith(tuple(BYTE_ORDER_MARKS)) and _is_binary(head):
        raise Unreadable(f"The file is in a format that is not read. Send {FORMATS}.", code="UNSUPPORTED_MEDIA_TYPE")
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    stated = (declared or "").partition(";")[0].strip().lower()
    media_type = ENDINGS[ending] if ending else _DECLARED.get(stated)
    if media_type in _BINARY:
        called, reason = _BINARY[media_type]
        raise Unreadable(f"The file is called {called} and is none: it {reason}.")
    if media_type in (None, "text/plain") and not ending:
        media_type = _marked_type(head)
    if media_type == "application/xml" and b"<mediawiki" not in head:
        raise Unreadable(
            f"XML is read only as a MediaWiki export (Special:Export). Send {FORMATS}.", code="UNSUPPORTED_MEDIA_TYPE"
        )
    return media_type or "text/plain"


def _marked_type(head: bytes) -> MediaType | None:
    """Return the format of a text that says what it is."""
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if begin.startswith((b"<!doctype", b"<html")):
        return "text/html"
    if begin.startswith(b"<?xml"):
        return "text/html" if b"<html" in begin else "application/xml"
    return "application/xml" if begin.startswith(b"<mediawiki") else None


def _packed_type(data: bytes) -> MediaType | None:
    """Return the format of an office file; files that are embedded in it stand before its own list of parts."""
    last, media_type = max((data.rfind(part), media_type) for part, media_type in _MAIN_PARTS.items())
    return media_type if last >= 0 else None


def _refused_office_file(data: bytes) -> Unreadable:
    """Return the refusal of an older office file, or of an encrypted one, which comes in the same container."""
    if _ENCRYPTED in data:
        return Unreadable("The file is protected by a password. Save it without one.")
    return Unreadable(
        "The file is in an older format of office programs. Save it as DOCX, XLSX or PDF.",
        code="UNSUPPORTED_MEDIA_TYPE",
    )


def _is_binary(head: bytes) -> bool:
    return b"\0" in head or len(head) - len(head.translate(None, _CONTROL)) > _CONTROL_SHARE * len(head)

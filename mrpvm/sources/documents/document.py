"""What a file becomes, and in which formats files come."""

from dataclasses import dataclass
from typing import Literal

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.plain import BYTE_ORDER_MARKS

MediaType = Literal["text/markdown", "text/plain", "text/html", "text/csv", "application/pdf"]

_BY_ENDING: dict[str, MediaType] = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".nl": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".pdf": "application/pdf",
}
_DECLARED: dict[str, MediaType] = {
    **{kind: kind for kind in _BY_ENDING.values()},
    "application/xhtml+xml": "text/html",
    "text/tab-separated-values": "text/csv",
}
_HEAD_BYTES = 1_024
_CONTROL = bytes(sorted(frozenset(range(0x20)) - frozenset(b"\t\n\r\f\x1b")))
_CONTROL_SHARE = 0.02
"""A text may have strayed control characters; a NUL, or more of them, make it no text."""


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
    if not head.startswith(tuple(BYTE_ORDER_MARKS)) and _is_binary(head):
        raise Unreadable(
            "The file is not text, and no PDF. Send Markdown, plain text, HTML, CSV or PDF.",
            code="UNSUPPORTED_MEDIA_TYPE",
        )
    ending = next((ending for ending in _BY_ENDING if name.lower().endswith(ending)), None)
    stated = (declared or "").partition(";")[0].strip().lower()
    media_type = _BY_ENDING[ending] if ending else _DECLARED.get(stated)
    if media_type == "application/pdf":
        raise Unreadable("The file is called a PDF and is none: it does not begin with %PDF-.")
    if (
        media_type in (None, "text/plain")
        and not ending
        and head.lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))
    ):
        return "text/html"
    return media_type or "text/plain"


def _is_binary(head: bytes) -> bool:
    return b"\0" in head or len(head) - len(head.translate(None, _CONTROL)) > _CONTROL_SHARE * len(head)

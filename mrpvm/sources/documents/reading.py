"""Reads the text of a file in any supported format."""

from copy import replace

from mrpvm.errors import InvalidInput
from mrpvm.sources.documents.document import DOCX, XLSX, Document, MediaType, media_type_of
from mrpvm.sources.documents.plain import cleaned, decoded, uncommented
from mrpvm.sources.documents.records import records_text
from mrpvm.sources.documents.tables import csv_text

READ_IN_PROCESS: frozenset[MediaType] = frozenset({"text/html", "application/pdf", "application/xml", DOCX, XLSX})
"""Formats whose reading may cost more than their size tells: they are read in a process with limits."""


def read_document(data: bytes, name: str, declared: str | None = None) -> Document:
    """Return the text of a file.

    Args:
        declared: the file's Content-Type, if it came with one.

    Raises:
        Unreadable: SOURCE_UNREADABLE, or UNSUPPORTED_MEDIA_TYPE for other formats.
        InvalidInput: there is no text in it.
    """
    media_type = media_type_of(data, name, declared)
    match media_type:
        case "application/pdf":
            from mrpvm.sources.documents.pdf import read_pdf  # loaded where such a file is read: in its own process

            document = read_pdf(data)
        case "text/html":
            from mrpvm.sources.documents.html import read_html

            document = read_html(data, declared)
        case _ if media_type == DOCX:
            from mrpvm.sources.documents.docx import read_docx

            document = read_docx(data)
        case _ if media_type == XLSX:
            from mrpvm.sources.documents.xlsx import read_xlsx

            document = read_xlsx(data)
        case "text/csv":
            document = Document(text=csv_text(cleaned(decoded(data, declared))), is_markdown=True)
        case "application/json":
            document = Document(text=records_text(cleaned(decoded(data, declared))), is_markdown=True)
        case "application/xml":
            from mrpvm.sources.documents.mediawiki import read_mediawiki

            document = read_mediawiki(data)
        case _:
            document = Document(text=decoded(data, declared), is_markdown=media_type == "text/markdown")
    text = cleaned(document.text)
    if media_type == "text/plain":
        text = uncommented(text)
    if not text.strip():
        raise InvalidInput("There is no content.")
    return replace(document, text=text)

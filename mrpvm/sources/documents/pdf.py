"""The text of a PDF. The limits of the reading process (mrpvm.sources) end slow or large files."""

import io
import re

from pypdf import PdfReader
from pypdf.errors import LimitReachedError, PyPdfError

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.document import Document

_BROKEN_WORD = re.compile(r"(?<=[a-z])-\n(?=[a-z])")


def read_pdf(data: bytes) -> Document:
    """Return the text of all pages in order; words that a line's end broke are whole again.

    Raises:
        Unreadable: damaged, protected by a password, or without any text, as scanned pages are.
    """
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("The PDF is protected by a password.")
        pages = [page.extract_text() for page in reader.pages]
        author = reader.metadata.author if reader.metadata is not None else None
    except LimitReachedError:
        raise Unreadable("The PDF unpacks to more than a file may.") from None
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OSError) as error:
        # A damaged file meets the library's own checks or, behind them, any of these.
        details = {"cause": type(error).__name__}
        raise Unreadable("The PDF cannot be read, it is damaged.", details=details) from None
    text = "\n\n".join(_BROKEN_WORD.sub("", page.strip()) for page in pages).strip()
    if not text:
        raise Unreadable(
            f"The PDF has {len(pages)} pages and no text: scanned pages have to be recognised first.",
            details={"page_count": len(pages)},
        )
    named = " ".join(str(author or "").split())
    return Document(text=text, author=named[:200] or None)

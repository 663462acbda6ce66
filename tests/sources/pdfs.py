"""Small PDFs written by hand, so that tests control every byte."""

import zlib


def pdf(*pages: str, author: str = "", stream_filter: str = "", streams: tuple[bytes, ...] = ()) -> bytes:
    """Return a PDF with a page for each text; `streams` replace the pages' content streams unchanged."""
    contents = streams or tuple(_shown(page) for page in pages)
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids.encode(), len(contents)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R" % (5 + 2 * place)
        objects.append(page + b" /Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), stream_filter.encode(), content))
    objects.append(b"<< /Author (%s) >>" % author.encode())
    return _file(objects)


def bomb(expanded_bytes: int) -> bytes:
    """Return a PDF whose only page decompresses to a text of this size."""
    packed = zlib.compress(zlib.compress(b" " * expanded_bytes, 1), 9)
    return pdf(streams=(packed,), stream_filter="/Filter [/FlateDecode /FlateDecode]")


def _shown(page: str) -> bytes:
    lines = b" T* ".join(b"(%s) Tj" % line.encode() for line in page.split("\n"))
    return b"BT /F1 12 Tf 14 TL 72 720 Td " + lines + b" ET"


def _file(objects: list[bytes]) -> bytes:
    written, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return written + head + table + trailer + b"startxref\n%d\n%%%%EOF\n" % len(written)

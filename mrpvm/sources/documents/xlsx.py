"""The sheets of an XLSX as tables. The limits of the reading process (mrpvm.sources) end slow or large files."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import groupby

from openpyxl import load_workbook
from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.document import Document
from mrpvm.sources.documents.number_formats import shown_moment, shown_number
from mrpvm.sources.documents.office import author_of, opened
from mrpvm.sources.documents.tables import table_text
from mrpvm.sources.documents.xml import elements

_ROWS = 1_048_576
"""Rows that a sheet has at most."""
_STRICT = b"http://purl.oclc.org/ooxml/"
_TRANSITIONAL_NAMES = {
    _STRICT + b"spreadsheetml/main": b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    _STRICT + b"officeDocument/": b"http://schemas.openxmlformats.org/officeDocument/2006/",
}
"""The namespaces of a file that is saved as "Strict Open XML", and those of others, which `openpyxl` knows alone."""


def read_xlsx(data: bytes) -> Document:
    """Return each sheet that is not hidden below its name, as Markdown: tables with what their cells show.

    A formula has the value that was stored with it. Rows without any value part tables.

    Raises:
        Unreadable: damaged, it unpacks to more than a file may, or none of its formulas has a value.
    """
    with opened(data, "XLSX") as archive:
        author = author_of(archive)
        _check_formulas(archive)
        file = io.BytesIO(_transitional(archive) if _STRICT in archive.read("_rels/.rels") else data)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        texts = [
            f"# {' '.join(sheet.title.split())}\n\n{text}"
            for sheet in book.worksheets
            if sheet.sheet_state == "visible" and (text := _text_of(sheet))
        ]
    return Document(text="\n\n".join(texts), is_markdown=True, author=author)


def _transitional(archive: zipfile.ZipFile) -> bytes:
    """Return the archive with the namespaces that most files have."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        for name in archive.namelist():
            content = archive.read(name)
            for strict, transitional in _TRANSITIONAL_NAMES.items():
                content = content.replace(strict, transitional)
            written.writestr(name, content)
    return file.getvalue()


def _check_formulas(archive: zipfile.ZipFile) -> None:
    """Refuse a file that a program has written without working out its formulas."""
    has_formulas = False
    for name in archive.namelist():
        if not name.startswith("xl/worksheets/"):
            continue
        with archive.open(name) as part:
            for kind, element in elements(part):
                if kind == "c" and element.find("{*}f") is not None:
                    if element.findtext("{*}v"):
                        return
                    has_formulas = True
                if kind == "row":
                    element.clear()
    if has_formulas:
        raise Unreadable(
            "The XLSX has formulas and none of their values. Open it in a spreadsheet program and save it there."
        )


def _text_of(sheet: ReadOnlyWorksheet) -> str:
    blocks = groupby(_rows(sheet), key=any)
    return "\n\n".join(part for is_filled, rows in blocks if is_filled for part in _block(list(rows)))


def _rows(sheet: ReadOnlyWorksheet) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    for number, row in enumerate(sheet.iter_rows(), start=1):
        if number > _ROWS:
            raise Unreadable(f"A sheet has more than {_ROWS} rows.", details={"limit": _ROWS})
        yield [_shown(cell) for cell in row]


def _shown(cell: ReadOnlyCell) -> str:
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return shown_number(value, cell.number_format)
        case datetime() | date() | time() | timedelta():
            return shown_moment(value, cell.number_format)
        case _:
            return " ".join(str(value).split())


def _block(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return the paragraphs and the table of neighbouring rows; those with one value stand above or below the table."""
    counts = [sum(map(bool, row)) for row in rows]
    of_table = [place for place, count in enumerate(counts) if count > 1]
    start, end = (of_table[0], of_table[-1] + 1) if len(of_table) > 1 else (0, 0)
    yield from (" ".join(filter(None, row)) for row in rows[:start])
    if end:
        yield _table(rows[start:end])
    yield from (" ".join(filter(None, row)) for row in rows[end:])


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table without empty columns."""
    width = max(map(len, rows))
    even = [[*row, *[""] * (width - len(row))] for row in rows]
    filled = [column for column in range(width) if any(row[column] for row in even)]
    return table_text([[row[column] for column in filled] for row in even])

"""The text of a DOCX, by way of HTML. The limits of the reading process (mrpvm.sources) end slow or large files."""

import io
import re
from collections.abc import Sequence
from copy import replace

import mammoth
from mammoth import documents, transforms
from mammoth.raw_text import extract_raw_text_from_element

from mrpvm.sources.documents.document import Document
from mrpvm.sources.documents.html import read_html
from mrpvm.sources.documents.office import author_of, check_amount, opened

_STYLES = "p[style-name='Title'] => h1:fresh"
_NOTE_MARK = re.compile(r'<sup><a href="#[^"]*note-[^"]*"[^>]*>\[\d+\]</a></sup>|<a href="#[^"]*note-ref-[^"]*">↑</a>')

_NOTES = re.compile(r'<ol>(<li id="(?:foot|end)note-.*)</ol>', re.DOTALL)


def read_docx(data: bytes) -> Document:
    """Return the text as Markdown: headings, paragraphs, lists and tables in order, then the notes.

    Raises:
        Unreadable: damaged, or it unpacks to more than a file may, or has more elements.
    """
    with opened(data, "DOCX") as archive:
        check_amount(archive, "DOCX")
        author = author_of(archive)
        page = mammoth.convert_to_html(
            io.BytesIO(data),
            style_map=_STYLES,
            include_embedded_style_map=False,
            external_file_access=False,
            convert_image=lambda image: [],
            transform_document=_prepared,
        ).value
    unnumbered = _NOTES.sub(r"<ul>\1</ul>", _NOTE_MARK.sub("", page))
    return replace(read_html(unnumbered.encode(), "charset=utf-8"), author=author)


def _prepared(document: documents.Document) -> documents.Document:
    """Return the document with heads of tables, and with each note referred to once, because each place writes it."""
    known: set[tuple[str, str]] = set()

    def first(reference: documents.NoteReference) -> documents.NoteReference | documents.Run:
        key = reference.note_type, reference.note_id
        if key in known:
            return documents.run([])
        known.add(key)
        return reference

    once = transforms.element_of_type(documents.NoteReference, first)(document)
    return transforms.element_of_type(documents.Table, _with_head)(once)


def _with_head(table: documents.Table) -> documents.Table:
    """Return the table with its first row as head; a table of labels and values has an empty one before it."""
    rows: Sequence[documents.TableRow] = table.children
    if len(rows) < 2 or any(row.is_header for row in rows):
        return table
    first, *others = rows
    if _is_of_pairs(rows):
        empty = documents.table_row([documents.table_cell([]) for _ in first.children], is_header=True)
        return table.copy(children=[empty, *rows])
    return table.copy(children=[first.copy(is_header=True), *others])


def _is_of_pairs(rows: Sequence[documents.TableRow]) -> bool:
    """Return whether each row is a label, in bold or before a colon, with a value that is none."""
    return all(len(row.children) == 2 and _is_label(row.children[0]) and not _is_label(row.children[1]) for row in rows)


def _is_label(cell: documents.TableCell) -> bool:
    runs = transforms.get_descendants_of_type(cell, documents.Run)
    said = [(run, text) for run in runs if (text := extract_raw_text_from_element(run).strip())]
    return bool(said) and (said[-1][1].endswith(":") or all(run.is_bold for run, _ in said))

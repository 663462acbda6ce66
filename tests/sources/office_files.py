"""Office files and MediaWiki exports made for tests: every part of them is given here."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from openpyxl import Workbook

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TRANSITIONAL = rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/(main|relationships)"
_STYLES = {"Title": "Title", "Heading1": "heading 1", "Heading2": "heading 2"}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """Return an archive of these parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def repacked(data: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """Return an archive with other or further parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return packed({name: archive.read(name) for name in archive.namelist()} | dict(parts))


def strict(data: bytes) -> bytes:
    """Return an office file as it is saved in the strict form of its standard."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return packed(
        {name: re.sub(_TRANSITIONAL, rb"http://purl.oclc.org/ooxml/\1/\2", part) for name, part in parts.items()}
    )


def docx(body: str, *, author: str = "", prolog: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a DOCX with this body; styles are Title, Heading1 and Heading2, lists 1 (bullets) and 2 (numbers)."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in _STYLES.items()
    )
    levels = "".join(
        f'<w:abstractNum w:abstractNumId="{key}"><w:lvl w:ilvl="0"><w:numFmt w:val="{kind}"/></w:lvl></w:abstractNum>'
        for key, kind in ((1, "bullet"), (2, "decimal"))
    )
    numbers = "".join(f'<w:num w:numId="{key}"><w:abstractNumId w:val="{key}"/></w:num>' for key in (1, 2))
    core = f'<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{author}</dc:creator></x>'
    return packed(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "docProps/core.xml": core,
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
            "word/numbering.xml": f'<w:numbering xmlns:w="{_WORD}">{levels}{numbers}</w:numbering>',
            "word/document.xml": f'{prolog}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
            **(parts or {}),
        }
    )


def footnotes(*texts: str) -> Mapping[str, str]:
    """Return the part of a DOCX that holds its footnotes, numbered from 1."""
    notes = "".join(f'<w:footnote w:id="{key}">{paragraph(text)}</w:footnote>' for key, text in enumerate(texts, 1))
    return {"word/footnotes.xml": f'<w:footnotes xmlns:w="{_WORD}">{notes}</w:footnotes>'}


def paragraph(text: str, *, style: str = "", in_list: int = 0, is_bold: bool = False, more: str = "") -> str:
    """Return a paragraph of a DOCX; `more` is further content of it."""
    listed = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{in_list}"/></w:numPr>' if in_list else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    bold = "<w:rPr><w:b/></w:rPr>" if is_bold else ""
    run = f'<w:r>{bold}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{styled}{listed}</w:pPr>{run}{more}</w:p>"


def table(*rows: Sequence[str], is_bold_first: bool = False) -> str:
    """Return a table of a DOCX; `is_bold_first` says that the first cell of each row is in bold."""
    return f"<w:tbl>{''.join(_row(row, is_bold_first) for row in rows)}</w:tbl>"


def _row(cells: Sequence[str], is_bold_first: bool) -> str:
    shown = (paragraph(cell, is_bold=is_bold_first and not place) for place, cell in enumerate(cells))
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in shown)}</w:tr>"


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Any]]],
    *,
    formats: Mapping[str, str] | None = None,
    hidden: Sequence[str] = (),
    author: str = "",
) -> bytes:
    """Return an XLSX; `formats` are format codes of cells of the first sheet, by their places."""
    book = Workbook()
    book.properties.creator = author
    for number, (title, rows) in enumerate(sheets.items()):
        sheet = book.worksheets[0] if number == 0 else book.create_sheet()
        sheet.title = title
        for row in rows:
            sheet.append(row)
        if title in hidden:
            sheet.sheet_state = "hidden"
    for place, code in (formats or {}).items():
        book.worksheets[0][place].number_format = code
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def mediawiki(*pages: tuple[str, str], space: int = 0, extra: str = "") -> bytes:
    """Return a MediaWiki export of these titles and wikitexts, each with an older revision."""
    written = "".join(
        f"<page><title>{escape(title)}</title><ns>{space}</ns>{extra}<revision><text>Older.</text></revision>"
        f'<revision><text xml:space="preserve">{escape(text)}</text></revision></page>'
        for title, text in pages
    )
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><sitename>W</sitename></siteinfo>'
        f"{written}</mediawiki>"
    ).encode()

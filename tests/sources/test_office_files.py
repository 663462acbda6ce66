"""Office files as text: the parts of a DOCX in order, the sheets of an XLSX as they are shown."""

import datetime
import io
import zipfile

import pytest

from mrpvm.errors import InvalidInput, Unreadable
from mrpvm.sources.documents.document import DOCX, XLSX, media_type_of
from mrpvm.sources.documents.reading import read_document
from mrpvm.sources.process_limits import UNPACKED_BYTES, XML_ATTRIBUTES, XML_CHARS, XML_ELEMENTS
from tests.sources.office_files import (
    OFFICE,
    OLE,
    RELATIONS,
    docx,
    footnotes,
    packed,
    paragraph,
    repacked,
    strict,
    table,
    xlsx,
)

LETTER = docx(paragraph("Dogs travel on the upper deck."))
SHEET = xlsx({"Decks": [["Deck", "Use"], ["Upper", "Dogs"]]})
LAUGHS = "".join(f'<!ENTITY a{depth} "{f"&a{depth - 1};" * 10}">' for depth in range(1, 10))
ENTITIES = "".join(f'<!ENTITY e{number} "x">' for number in range(XML_ELEMENTS + 1))
FIRST = "xl/worksheets/sheet1.xml"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
FORMULA = '<c r="B2"><f>1+1</f>{}</c>'


def lines_of(data: bytes, name: str = "a") -> list[str]:
    return [line for line in read_document(data, name).text.split("\n") if line]


@pytest.mark.parametrize(("data", "expected"), [(LETTER, DOCX), (SHEET, XLSX)])
@pytest.mark.parametrize("name", ["a", "a.txt", "a.docm", "a.xlsm", "a.zip"])
def test_the_format_of_an_office_file_by_its_parts(data: bytes, expected: str, name: str) -> None:
    assert media_type_of(data, name, "application/octet-stream") == expected


def test_a_file_in_an_office_file_does_not_say_what_it_is() -> None:
    assert media_type_of(repacked(LETTER, {"word/embeddings/a.xlsx": SHEET}), "a") == DOCX
    assert media_type_of(repacked(SHEET, {"xl/embeddings/a.docx": LETTER}), "a") == XLSX


def test_the_parts_of_a_docx_in_order() -> None:
    body = (
        paragraph("Ferry rules", style="Title"),
        paragraph("Boarding ", style="Heading1", more="<w:r><w:t>times</w:t></w:r>"),
        paragraph("Boarding ends early.", more='<w:r><w:footnoteReference w:id="1"/></w:r>'),
        paragraph("Dogs are free.", in_list=1),
        paragraph("Cats pay < 5.", in_list=1),
        paragraph("Open the door.", in_list=2),
        paragraph("Close it.", in_list=2),
        paragraph("Prices", style="Heading2"),
        table(("Deck", "Use"), ("1", "Cars | vans")),
        paragraph("Between."),
        table(("Mayor", "Ida Holm"), ("Area", "12 km"), is_bold_first=True),
        table(("Height:", "30 m"), ("Depth:", "2 m")),
        table(("alone",), ("below",)),
    )
    document = read_document(docx("".join(body), author="Ann  Lee", parts=footnotes("Often at six.")), "a.docx")
    assert document.text.split("\n") == [
        "# Ferry rules", "", "# Boarding times", "", "Boarding ends early.", "",
        "- Dogs are free.", "- Cats pay < 5.", "", "1. Open the door.", "2. Close it.", "", "## Prices", "",
        "| Deck | Use |", "| --- | --- |", r"| 1 | Cars \| vans |", "", "Between.", "",
        "|  |  |", "| --- | --- |", "| Mayor | Ida Holm |", "| Area | 12 km |", "",
        "|  |  |", "| --- | --- |", "| Height: | 30 m |", "| Depth: | 2 m |", "",
        "alone", "", "below", "", "- Often at six.",
    ]  # fmt: skip
    assert (document.is_markdown, document.author) == (True, "Ann Lee")


def test_of_a_docx_nothing_is_fetched_and_nothing_deleted_kept() -> None:
    linked = '<w:r><w:drawing><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    linked += (
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:link="r9"/></w:drawing></w:r>'
    )
    kept = "<w:ins><w:r><w:t>in time.</w:t></w:r></w:ins><w:del><w:r><w:delText>late.</w:delText></w:r></w:del>"
    relations = (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r9" Type="{OFFICE}/image" '
        'Target="file:///etc/hostname" TargetMode="External"/></Relationships>'
    )
    parts = {"word/vbaProject.bin": b"\0Shell", "word/_rels/document.xml.rels": relations}
    parts["mammoth/style-map"] = "p => h1:fresh"
    assert lines_of(docx(paragraph("Arrive ", more=kept + linked), parts=parts), "a.docm") == ["Arrive in time."]


def test_an_entity_of_a_docx_reads_no_file() -> None:
    prolog = '<!DOCTYPE w [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    body = "<w:p><w:r><w:t>Dogs&e; bark.</w:t></w:r></w:p>"
    assert lines_of(docx(body, prolog=prolog)) == ["Dogs bark."]


@pytest.mark.parametrize(
    "data",
    [
        LETTER[:-30],
        LETTER[:60] + b"\xff" * 40 + LETTER[100:],
        packed({"word/document.xml": "<w:document"}),
        packed({"word/document2.xml": ""}),
        docx("<w:tbl><w:tr><w:tc/></w:tbl>"),
        docx("<w:sdt><w:sdtContent>" * 5_000 + "</w:sdtContent></w:sdt>" * 5_000),
        docx("<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>", prolog=f'<!DOCTYPE w [<!ENTITY a0 "ha">{LAUGHS}]>'),
        docx(paragraph("x"), parts={"docProps/core.xml": "<"}),
        SHEET[:-30],
        packed({"xl/workbook.xml": "<workbook/>"}),
        repacked(SHEET, {FIRST: "<worksheet><sheetData><row>"}),
        repacked(SHEET, {"xl/workbook.xml": "<workbook>"}),
        repacked(SHEET, {"xl/styles.xml": "none"}),
    ],
    ids=[
        "torn", "broken", "cut off", "no document", "no XML", "deep", "laughs", "properties",
        "torn sheet", "no content types", "cut off sheet", "no book", "no styles",
    ],
)  # fmt: skip
def test_damaged_office_files_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="cannot be read, it is damaged") as refused:
        read_document(data, "a")
    assert refused.value.code == "SOURCE_UNREADABLE"


@pytest.mark.parametrize(("data", "part"), [(LETTER, "word/document.xml"), (SHEET, "a")])
def test_an_office_file_that_unpacks_to_too_much_is_refused(data: bytes, part: str) -> None:
    data = repacked(data, {part: bytes(UNPACKED_BYTES + 1)})
    assert len(data) < UNPACKED_BYTES / 100
    with pytest.raises(Unreadable, match=r"unpacks to 128\.0 MB; 128\.0 MB are allowed") as refused:
        read_document(data, "a")
    assert refused.value.details["limit"] == UNPACKED_BYTES


@pytest.mark.parametrize(
    ("body", "prolog", "limit"),
    [
        ("<w:p/>" * (XML_ELEMENTS + 1), "", XML_ELEMENTS),
        ("<w:p/>" + "<!---->" * XML_ELEMENTS, "", XML_ELEMENTS),
        (f"<w:p><w:r><w:t>{'<![CDATA[x]]>' * XML_ELEMENTS}</w:t></w:r></w:p>", "", XML_ELEMENTS),
        ("<w:p/>", f"<!DOCTYPE w [{ENTITIES}]>", XML_ELEMENTS),
        (f"<w:p {' '.join(f'a{number}="1"' for number in range(1_000))}/>" * 2_001, "", XML_ATTRIBUTES),
        (paragraph("Dogs bark. " * (XML_CHARS // 11 + 1)), "", XML_CHARS),
    ],
    ids=["elements", "comments", "sections", "entities", "attributes", "characters"],
)
def test_a_docx_of_too_many_parts_is_refused_before_it_is_read(
    body: str, prolog: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("mammoth.convert_to_html")
    with pytest.raises(Unreadable, match=f"The DOCX has more than {limit:,} ") as refused:
        read_document(docx(body, prolog=prolog), "a")
    assert refused.value.details["limit"] == limit


@pytest.mark.parametrize(("name", "count"), [("XML_ELEMENTS", 35), ("XML_ATTRIBUTES", 32), ("XML_CHARS", 16)])
def test_the_parts_of_a_docx_are_counted_together(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = docx(paragraph("Dogs bark."), parts=footnotes("Often."))
    monkeypatch.setattr(f"mrpvm.sources.documents.office.{name}", count)
    assert lines_of(file) == ["Dogs bark."]
    monkeypatch.setattr(f"mrpvm.sources.documents.office.{name}", count - 1)
    with pytest.raises(Unreadable, match=f"more than {count - 1} "):
        read_document(file, "a")


def test_a_note_of_a_docx_is_written_once_if_named_often() -> None:
    mark = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    assert lines_of(docx(paragraph("Dogs bark.", more=mark * 9), parts=footnotes("Often."))) == [
        "Dogs bark.",
        "- Often.",
    ]


def test_office_files_in_the_strict_form_are_read() -> None:
    rows = [["Deck", "Use", "Since"], ["Upper", "Dogs", datetime.date(2026, 3, 5)]]
    assert lines_of(strict(xlsx({"Decks": rows}, author="Ann"))) == [
        "# Decks", "| Deck | Use | Since |", "| --- | --- | --- |", "| Upper | Dogs | 2026-03-05 |",
    ]  # fmt: skip
    dated = '<c r="C2" t="d"><v>2026-03-05</v></c>'
    part = f'<worksheet xmlns="{SHEETS}"><sheetData><row>{dated}</row></sheetData></worksheet>'
    assert lines_of(strict(repacked(SHEET, {FIRST: part}))) == ["# Decks", "2026-03-05"]
    assert lines_of(strict(docx(paragraph("Rules", style="Title") + table(("Deck", "Use"), ("1", "Cars"))))) == [
        "# Rules", "| Deck | Use |", "| --- | --- |", "| 1 | Cars |",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (OLE, "UNSUPPORTED_MEDIA_TYPE", "Save it as DOCX, XLSX or PDF"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "SOURCE_UNREADABLE", "protected by a password"),
        (packed({"ppt/presentation.xml": "<p/>"}), "UNSUPPORTED_MEDIA_TYPE", "in a format that is not read"),
    ],
    ids=["older", "encrypted", "slides"],
)
def test_other_office_files_are_refused_with_what_to_do(data: bytes, code: str, message: str) -> None:
    with pytest.raises(Unreadable, match=message) as refused:
        read_document(data, "a.docx")
    assert refused.value.code == code


def test_the_sheets_of_an_xlsx_as_tables_below_their_names() -> None:
    day = datetime.date(2024, 4, 3)
    data = xlsx(
        {
            "Bikes": [
                ["Price list 2026"],
                ["Model", None, "Weight (kg)", "Price", "Since", "New"],
                ["Cargo | Max", None, 38.5, 2499, day, True],
                ["City", None, 15, 899.5, None, False],
                ["* with VAT"],
                [],
                ["Updated:", day],
            ],
            "Secret": [["hidden", "too"], ["a", "b"]],
            "Empty": [],
            "Notes": [[], [None, "Only text."], [None, "More text."]],
        },
        formats={"D3": '"$"#,##0.00', "D4": '"$"#,##0.00', "E3": "d mmmm yyyy"},
        hidden=["Secret"],
        author="Ann Lee",
    )
    document = read_document(data, "a.xlsx")
    assert document.text.split("\n") == [
        "# Bikes", "", "Price list 2026", "",
        "| Model | Weight (kg) | Price | Since | New |", "| --- | --- | --- | --- | --- |",
        r"| Cargo \| Max | 38.5 | $2,499.00 | 3 April 2024 | TRUE |", "| City | 15 | $899.50 |  | FALSE |", "",
        "* with VAT", "", "Updated: 2024-04-03", "",
        "# Notes", "", "Only text.", "", "More text.",
    ]  # fmt: skip
    assert (document.is_markdown, document.author) == (True, "Ann Lee")


@pytest.mark.parametrize(
    ("stored", "lines"),
    [
        ("<v>2</v>", ["# S", "| Name | Sum |", "| --- | --- |", "| a | 2 |"]),
        ("", None),
    ],
)
def test_a_formula_has_the_value_that_was_stored_with_it(stored: str, lines: list[str] | None) -> None:
    named = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    head = f"<row>{named.format('A1', 'Name')}{named.format('B1', 'Sum')}</row>"
    rows = f"{head}<row>{named.format('A2', 'a')}{FORMULA.format(stored)}</row>"
    part = f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData></worksheet>'
    data = repacked(xlsx({"S": []}), {FIRST: part})
    if lines is not None:
        assert lines_of(data) == lines
        return
    with pytest.raises(Unreadable, match="formulas and none of their values"):
        read_document(data, "a")


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ('<row r="1048577"><c r="A1048577"><v>1</v></c></row>', Unreadable, "more than 1048576 rows"),
        ('<row r="x"><c><v>1</v></c></row>', Unreadable, "damaged"),
        ('<row r="1"><c r="A1" t="s"><v>999</v></c></row>', Unreadable, "damaged"),
        ("", InvalidInput, "There is no content"),
    ],
    ids=["too far down", "no number", "no such text", "empty"],
)
def test_a_sheet_that_is_none_is_refused(rows: str, kind: type[Exception], message: str) -> None:
    part = f'<worksheet xmlns="{SHEETS}"><sheetData>{rows}</sheetData></worksheet>'
    with pytest.raises(kind, match=message):
        read_document(repacked(SHEET, {FIRST: part}), "a")


def test_what_a_sheet_says_of_its_size_is_not_believed() -> None:
    with zipfile.ZipFile(io.BytesIO(SHEET)) as archive:
        part = archive.read(FIRST)
    assert b'ref="A1:B2"' in part
    widened = repacked(SHEET, {FIRST: part.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')})
    assert lines_of(widened) == lines_of(SHEET)

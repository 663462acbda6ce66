"""Reading files as text: the format, the encoding, and the visible text of HTML."""

from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import InvalidInput, MRPError, Unreadable
from mrpvm.sources.chunking import chunk_source
from mrpvm.sources.documents.document import media_type_of
from mrpvm.sources.documents.reading import read_document
from tests.sources.pdfs import pdf

PAGE = b"""<!DOCTYPE html><html><head><title>Ignored beside a heading</title><meta name="Author" content="Ann  Lee">
<style>p { color: red }</style><script>alert("x")</script></head><body><nav>Home | About</nav>
<h1>Ferry <em>rules</em></h1><p>Boarding  ends<br>early &amp; strictly.</p>
<ul><li>Dogs travel free.<li>Cats pay.</ul><table>
<tr><th>Deck</th><th>Use</th></tr><tr><td>1</td><td>Cars</td></tr></table>
<h4>Small print</h4><pre>  # no heading
  code</pre><h2>Cabins</h2>They have no windows.</body></html>"""
BEGINNINGS = (
    b"", b"%PDF-1.4\n", b"PK\x03\x04word/document", b"PK\x03\x04xl/workbook", b"<mediawiki><page><revision><text>",
)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "name", "declared", "expected"),
    [
        (b"x", "a.md", None, "text/markdown"),
        (b"x", "A.TXT", "text/html", "text/plain"),
        (b"x", "page", "text/html; charset=utf-8", "text/html"),
        (b" <!DOCTYPE html><p>x", "page", None, "text/html"),
        (b"<!doctype is a word", "notes.txt", None, "text/plain"),
        (b"%PDF-1.4 x", "called.txt", "text/plain", "application/pdf"),
        (b"x", "what", "application/octet-stream", "text/plain"),
        (b"{}", "a.JSONL", "text/plain", "application/json"),
        (b"{}", "records", "application/x-ndjson", "application/json"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<mediawiki>', "dump", None, "application/xml"),
        (b"<mediawiki>", "dump.xml", None, "application/xml"),
        (b'<?xml version="1.0"?><!DOCTYPE html><html>', "page", None, "text/html"),
        ("\ufeffx".encode("utf-16-le"), "a.txt", None, "text/plain"),
    ],
)
def test_format_by_bytes_then_name_then_declaration(
    data: bytes, name: str, declared: str | None, expected: str
) -> None:
    assert media_type_of(data, name, declared) == expected


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04\x00\x00", b"\x89PNG\r\n\x1a\n\x00", b"\x1f\x8b\x08\x00", bytes(range(256))]
)
def test_binary_files_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_document(data, "a.txt")
    assert refused.value.code == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.pdf", "The file is called a PDF and is none: it does not begin with %PDF-."),
        ("a.docx", "The file is called a DOCX and is none: it is not packed as one."),
        ("a.XLSX", "The file is called an XLSX and is none: it is not packed as one."),
    ],
)
def test_a_file_that_is_only_called_so_is_refused(name: str, message: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_document(b"plain", name)
    assert (refused.value.code, str(refused.value)) == ("SOURCE_UNREADABLE", message)


@pytest.mark.parametrize("data", [b"<?xml version='1.0'?><rss></rss>", b"<svg></svg>", b""])
def test_other_xml_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="only as a MediaWiki export") as refused:
        read_document(data, "a.xml")
    assert refused.value.code == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        ("Größe".encode(), None),
        ("\ufeffGröße".encode(), None),
        ("\ufeffGröße".encode("utf-16-le"), None),
        ("\ufeffGröße".encode("utf-16-be"), "text/plain"),
        ("\ufeffGröße".encode("utf-32-le"), None),
        ("\ufeffGröße".encode("utf-32-be"), None),
        ("Größe".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
    ],
)
def test_characters_are_those_that_were_meant(data: bytes, declared: str | None) -> None:
    assert read_document(data, "a.txt", declared).text == "Größe"


@pytest.mark.parametrize(
    "declared", [None, "text/plain; charset=utf-8", "text/plain; charset=klingon", "a; charset=zip"]
)
def test_other_encodings_are_refused_not_guessed(declared: str | None) -> None:
    with pytest.raises(Unreadable) as refused:
        read_document("Größe".encode("latin-1"), "a.txt", declared)
    assert refused.value.code == "SOURCE_UNREADABLE"


@pytest.mark.parametrize("charset", ["undefined", "idna", "punycode", "unicode_escape", "raw-unicode-escape"])
def test_codecs_of_python_are_no_charsets(charset: str) -> None:
    with pytest.raises(Unreadable, match="is not known"):
        read_document(b"Dogs bark.", "a.txt", f"text/plain; charset={charset}")


@pytest.mark.parametrize("data", [b"Dogs bark. " * 30, b"\x80xn--zzzz.\xff", b"\\ud800 \\x", b"\x1b$B\x1b", b"~{~\xff"])
def test_no_charset_breaks_the_reading(data: bytes) -> None:
    breaking = {}
    for charset in sorted({*aliases.values(), *aliases}):
        try:
            read_document(data, "a.txt", f"text/plain; charset={charset}")
        except MRPError:
            pass
        except Exception as error:
            breaking[charset] = error
    assert breaking == {}


def test_lines_and_stray_control_characters_are_made_storable() -> None:
    text = read_document(b"a\r\nb\rc\x0cd" + b"x" * 100 + b"\x01e", "a.txt").text
    assert text == "a\nb\nc\n\nd" + "x" * 100 + " e"


def test_of_a_page_what_a_reader_sees() -> None:
    document = read_document(PAGE, "rules.html")
    assert document.text.split("\n") == [
        "# Ferry rules", "", "Boarding ends", "early & strictly.", "", "- Dogs travel free.", "- Cats pay.", "",
        "| Deck | Use |", "| --- | --- |", "| 1 | Cars |", "",
        "Small print", "", "```", "  # no heading", "  code", "```", "", "## Cabins", "", "They have no windows.",
    ]  # fmt: skip
    assert (document.is_markdown, document.author) == (True, "Ann Lee")


def test_the_paragraph_of_an_item_stands_behind_its_mark() -> None:
    items = b"<li>\n<p>Dogs <b>travel</b> free.</p><p>On deck.</p><li><div><p>Cats pay.</div><li><pre>- \n\nx</pre>"
    assert read_document(b"<ul>" + items, "a.html").text.split("\n") == [
        "- Dogs travel free.", "", "On deck.", "", "- Cats pay.", "", "-", "", "```", "-", "", "x", "```",
    ]  # fmt: skip


def test_the_items_of_an_ordered_list_are_numbered() -> None:
    page = b"<ol><li>Open.<li>Turn:<ul><li>left<li>right</ul><li><p>Close.</ol><ol><li>Again.</ol><li>Loose."
    assert [line for line in read_document(page, "a.html").text.split("\n") if line] == [
        "1. Open.", "2. Turn:", "- left", "- right", "3. Close.", "1. Again.", "- Loose.",
    ]  # fmt: skip
    steps = b"<dl><dt>Reset<dd><ol><li>Hold it.<li>Wait.</ol></dl>"
    assert read_document(steps, "a.html").text.split("\n") == ["Reset:", "", "1. Hold it.", "2. Wait."]


def test_a_page_without_headings_has_its_title() -> None:
    assert read_document(b"<html><title>A\n title</title><p>Text.", "a.html").text == "# A title\n\nText."


def test_a_pages_own_charset_counts() -> None:
    page = '<meta charset="windows-1252"><p>Größe'.encode("windows-1252")
    assert read_document(page, "a.html").text == "Größe"
    assert read_document(page.replace(b"windows-1252", b"utf-8").replace("ö".encode("cp1252"), b"o")
                         .replace("ß".encode("cp1252"), b"ss"), "a.html").text == "Grosse"  # fmt: skip


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("<dt>Adults<dd>12 EUR<dt>Children:<dd>5 EUR", ["Adults: 12 EUR", "Children: 5 EUR"]),
        ("<div><dt>Open</dt><dd><p>Daily.</p><p>Not on Sundays.</p></dd></div>", ["Open: Daily.", "Not on Sundays."]),
        ("<dt>Is it <b>free</b>?<dd>Yes.", ["**Is it free?**", "Yes."]),
        ("<dt>Saw<dt>Axe<dd>sharp<dd>old<dt>Nail<dd>new", ["Saw, Axe: sharp", "Saw, Axe: old", "Nail: new"]),
        ("<dt>Tools<dd><ul><li>saw<li>axe</ul>", ["Tools:", "- saw", "- axe"]),
        ("<dt>Outer<dd>Text<dl><dt>Inner<dd>deep</dl>", ["Outer: Text", "Inner: deep"]),
        ("<dd>no term<dt><dd>empty term<dt>no value<dd><dt>last", ["no term", "empty term", "no value", "last"]),
    ],
)
def test_a_term_stands_with_what_is_said_of_it(body: str, lines: list[str]) -> None:
    text = read_document(f"<p>Before<dl>{body}</dl><p>After".encode(), "a.html").text
    assert [line for line in text.split("\n") if line] == ["Before", *lines, "After"]


def test_terms_without_a_list_and_lists_in_cells() -> None:
    page = b"<dt>Loose<dd>value<table><tr><th>A<th>B<tr><td><dl><dt>K<dd>V</dl><td>2</table>"
    assert read_document(page, "a.html").text.split("\n") == [
        "Loose", "", "value", "", "| A | B |", "| --- | --- |", "| K: V | 2 |",
    ]  # fmt: skip


def test_elements_without_end_are_refused() -> None:
    with pytest.raises(Unreadable, match="nests more than"):
        read_document(b"<div>" * 2_000 + b"x", "a.html")


def test_the_text_of_a_pdf_page_by_page() -> None:
    document = read_document(pdf("The quick infor-\nmation.", "Second page.", author="Ann Lee"), "a.pdf")
    assert document.text == "The quick information.\n\nSecond page."
    assert (document.is_markdown, document.author) == (False, "Ann Lee")


@pytest.mark.parametrize("data", [b"%PDF-", b"%PDF-1.4\n" + b"x" * 500, pdf("text")[:300], pdf("")])
def test_damaged_or_empty_pdfs_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        read_document(data, "a.pdf")
    assert refused.value.code == "SOURCE_UNREADABLE"


def test_a_damaged_pdf_is_called_so_without_the_library_s_words() -> None:
    with pytest.raises(Unreadable) as refused:
        read_document(b"%PDF-1.4 x", "a.pdf")
    assert str(refused.value) == "The PDF cannot be read, it is damaged."
    assert refused.value.details["cause"].endswith("Error")


@pytest.mark.parametrize(("data", "name"), [(b" \n", "a.txt"), (b"<script>x</script>", "a.html")])
def test_no_text_is_no_source(data: bytes, name: str) -> None:
    with pytest.raises(InvalidInput):
        read_document(data, name)


@given(
    st.binary(max_size=400), st.sampled_from(["a.txt", "a.html", "a.pdf", "a.json", "a"]), st.sampled_from(BEGINNINGS)
)
def test_any_bytes_give_storable_text_or_a_clear_refusal(data: bytes, name: str, beginning: bytes) -> None:
    try:
        text = read_document(beginning + data, name).text
    except MRPError:
        return
    assert "\0" not in text
    assert text.encode()


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            "<caption>Tall  ones<tr><th>Tower<th>Height<tr><td>Elm <b>Tower</b><td>30|40 m",
            ["Tall ones", "", "| Tower | Height |", "| --- | --- |", r"| Elm Tower | 30\|40 m |"],
        ),
        (
            "<tr><th>Mayor<td>Ida Holm<tr><th>Area<td>12 km",
            ["|  |  |", "| --- | --- |", "| Mayor | Ida Holm |", "| Area | 12 km |"],
        ),
        ("<tr><td>left<td>right<tr><td>below<td>it", ["left right", "below it"]),
        ("<tr><th>Tower<th>Height<tr><td colspan=2>none", ["Tower Height", "none"]),
        ("<tr><th>Tower<th>Height<tr><td>Elm", ["Tower Height", "Elm"]),
        ("<tr><th>A<th>B<tr><td><table><tr><th>C<th>D<tr><td>1<td>2</table><td>x", None),
        ("", [""]),
    ],
)
def test_a_table_of_data_is_read_as_one(rows: str, lines: list[str] | None) -> None:
    text = read_document(f"<p>x</p><table>{rows}</table>".encode(), "a.html").text
    if lines is None:
        assert "| C | D |" in text
        assert "| A | B |" not in text
    else:
        assert text.removeprefix("x").strip().split("\n") == lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("Name,Phone\nIda,12\n\nBo,13\n", ["| Name | Phone |", "| --- | --- |", "| Ida | 12 |", "| Bo | 13 |"]),
        ('Name;Dept\n"Li; Bo";IT|Ops', ["| Name | Dept |", "| --- | --- |", r"| Li; Bo | IT\|Ops |"]),
        ("Name\tNote\nIda\ta, b", ["| Name | Note |", "| --- | --- |", "| Ida | a, b |"]),
        ('Name,Note\nIda,"two\nlines"', ["| Name | Note |", "| --- | --- |", "| Ida | two lines |"]),
        ("Name,Phone\nIda\n", ["Name,Phone", "Ida", ""]),
        ('Name,Phone\n"Ida,12', ["Name,Phone", '"Ida,12']),
        ("only one line, with commas", ["only one line, with commas"]),
    ],
)
def test_a_file_of_separated_values_is_read_as_a_table(data: str, lines: list[str]) -> None:
    assert read_document(data.encode(), "a.csv").text.split("\n") == lines


def test_each_part_of_a_long_table_has_its_head() -> None:
    rows = [f"Person {number},{number}" for number in range(1_000)]
    document = read_document("\n".join(["Name,Phone", *rows]).encode(), "a.csv")
    chunks = chunk_source(document.text, is_markdown=document.is_markdown)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("| Name | Phone |\n") for chunk in chunks)
    assert all(f"| Person {number} | {number} |" in document.text for number in range(1_000))


CONFIGURATION = b"""# Sluice settings.
# They are read at the start.
#
###### LOGIN ######

# Seconds until a login fails
#
login-timeout 60

# By default the gate is shut. The crew
# opens it.
gate shut
level 3
"""


def test_the_comments_of_a_configuration_file_are_its_prose() -> None:
    text = read_document(CONFIGURATION, "sluice.conf").text
    assert [line for line in text.split("\n") if line] == [
        "Sluice settings.",
        "They are read at the start.",
        "# LOGIN",
        "Seconds until a login fails:",
        "login-timeout 60",
        "By default the gate is shut. The crew",
        "opens it.",
        "gate shut",
        "level 3",
    ]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"# Sluice\n\nIt opens.\n\n# Gate\n\nIt shuts.", "a.txt"),
        (b"# Sluice\n## Gate\n### Hinge\n## Lock\nIt shuts.", "a.txt"),
        (b"# Sluice\n## Gate\n### Hinge\nIt is red.", "a.md"),
    ],
)
def test_headings_are_no_comments(data: bytes, name: str) -> None:
    assert read_document(data, name).text == data.decode()

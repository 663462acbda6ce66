"""HTML as Markdown text: what a reader sees of the page, its headings kept as headings, its pairs as pairs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from mrpvm.english.words.text import QUESTION_MARKS
from mrpvm.errors import Unreadable
from mrpvm.sources.documents.document import Document
from mrpvm.sources.documents.plain import charset_in, decoded
from mrpvm.sources.documents.tables import table_text

_NAME = re.compile(r"\w+")
_UNSEEN = _NAME.findall("script style noscript template svg math iframe object nav select textarea")
_BLOCKS = frozenset(
    _NAME.findall(
        "address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hr main ol p section summary table tbody tfoot thead ul"
    )
)
_MARKS = {
    "h1": "\n\n# ",
    "h2": "\n\n## ",
    "h3": "\n\n### ",
    "br": "\n",
    "li": "\n- ",
    "tr": "\n",
    "td": " ",
    "th": " ",
    "pre": "\n\n```\n",
}
"""What represents the begin of elements that are more than a block."""
_SPACE, _TRAILING, _LEADING = re.compile(r"\s+"), re.compile(r"(?<![ \t])[ \t]+\n"), re.compile(r"\n (?=\S)")
_GAP = re.compile(r"\n{3,}")
_SPANS = frozenset(("colspan", "rowspan"))
_META_CHARS = 1_024
_BLOCK_MARK = re.compile(r"- |\d+\. |\| |```|#|\*\*")
"""What a block begins with that has to begin a line."""
_NESTED = 1_000
"""Elements inside each other; deeper ones are no text that anybody wrote."""


def read_html(data: bytes, declared: str | None = None) -> Document:
    """Return the page's text as Markdown: blocks apart by blank lines, list items on own lines, data as tables.

    Raises:
        Unreadable: the bytes are not in the charset that the page or the declaration names.
    """
    head = data[:_META_CHARS].decode("latin-1")
    charset = charset_in(declared or "") or charset_in(head)
    tree = LexborHTMLParser(decoded(data, f"charset={charset}" if charset else None))
    title, author = tree.css_first("title"), tree.css_first('meta[name="author" i]')
    tree.strip_tags(_UNSEEN, recursive=True)
    text = _text_of(tree.body) if tree.body is not None else ""
    if title is not None and not re.search(r"^# ", text, re.MULTILINE):
        text = f"# {_line(title.text())}\n\n{text}"
    named = _line(str(author.attributes.get("content") or "")) if author is not None else ""
    return Document(text=text, is_markdown=True, author=named[:200] or None)


@dataclass(slots=True)
class _Cell:
    """A cell of a table, and where its text begins and ends among the parts of the page's text."""

    tag: str
    start: int
    end: int = 0


@dataclass(slots=True)
class _Table:
    """A table that is being read. It is of data unless it holds another table, or cells of several rows or columns."""

    start: int
    rows: list[list[_Cell]] = field(default_factory=list)
    caption: _Cell | None = None
    is_of_data: bool = True

    def begin(self, tag: str, place: int) -> None:
        """Take note of a row, a cell or a caption that begins."""
        if tag == "tr":
            self.rows.append([])
        elif tag == "caption":
            self.caption = _Cell(tag, place)
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append(_Cell(tag, place))

    def end(self, tag: str, place: int) -> None:
        """Take note of a cell or a caption that ends."""
        if tag == "caption" and self.caption:
            self.caption.end = place
        elif tag in ("td", "th") and self.rows and self.rows[-1]:
            self.rows[-1][-1].end = place

    def text(self, parts: Sequence[str]) -> str | None:
        """Return the table as Markdown below its caption; None for one that only lays out the page.

        Its first row has headings alone, or each of its rows is a heading with one value: then the head is empty.
        """
        rows = [row for row in self.rows if row]
        if not self.is_of_data or not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
            return None
        texts = [[_line("".join(parts[cell.start : cell.end])) for cell in row] for row in rows]
        if not (len(rows) > 1 and all(cell.tag == "th" for cell in rows[0])):
            if not all([cell.tag for cell in row] == ["th", "td"] for row in rows):
                return None
            texts = [["", ""], *texts]
        caption = _line("".join(parts[self.caption.start : self.caption.end])) if self.caption else ""
        return f"\n\n{caption}\n\n{table_text(texts)}\n\n"


@dataclass(slots=True)
class _Pairs:
    """A list of pairs (`dl`) that is being read: its last terms, and where they and the present part begin."""

    terms: list[str] = field(default_factory=list)
    terms_start: int = 0
    start: int = 0
    is_answered: bool = True
    """Whether a value of the last terms was read, so that the next term begins a new pair."""

    def begin(self, tag: str, place: int) -> None:
        """Take note of a term or a value that begins."""
        self.start = place
        if tag == "dt" and self.is_answered:
            self.terms, self.terms_start, self.is_answered = [], place, False

    def end(self, tag: str, parts: list[str]) -> None:
        """Take note of a term, whose text stays until its value is read; write a value with its terms before it."""
        said = "".join(parts[self.start :]).strip()
        if tag == "dt":
            self.terms.append(_line(said))
            return
        parts[self.start if self.is_answered else self.terms_start :] = [f"\n\n{_labelled(self.terms, said)}\n\n"]
        self.is_answered = True


def _labelled(terms: Sequence[str], value: str) -> str:
    """Return a value behind its terms: "Label: value", or below a question."""
    label = ", ".join(filter(None, terms))
    if not label or not value:
        return label or value
    if label.endswith(QUESTION_MARKS):
        return f"**{label}**\n\n{value}"
    return f"{label.rstrip(':')}:{'\n\n' if _BLOCK_MARK.match(value) else ' '}{value}"


@dataclass(slots=True)
class _Text:
    """The text of a page that is being read, and the tables and lists that are open at its end."""

    parts: list[str] = field(default_factory=list)
    tables: list[_Table] = field(default_factory=list)
    pairs: list[_Pairs] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """For each list the number of its next item, 0 for one without numbers."""
    fence_depth: int = 0
    is_item_empty: bool = False

    def write(self, said: str) -> None:
        """Add the text between two tags."""
        shown = said if self.fence_depth else _SPACE.sub(" ", said)
        self.parts.append(shown.lstrip() if self.is_item_empty else shown)
        self.is_item_empty = self.is_item_empty and not said.strip()

    def begin(self, node: LexborNode) -> None:
        """Take note of an element that begins."""
        tag = str(node.tag)
        if tag == "table":
            if self.tables:
                self.tables[-1].is_of_data = False
            self.tables.append(_Table(len(self.parts)))
        elif self.tables:
            self.tables[-1].begin(tag, len(self.parts))
            self.tables[-1].is_of_data &= _SPANS.isdisjoint(node.attributes)
        if tag == "dl":
            self.pairs.append(_Pairs())
        elif tag in ("dt", "dd") and self.pairs:
            self.pairs[-1].begin(tag, len(self.parts))
        elif tag in ("ol", "ul"):
            self.numbers.append(tag == "ol")
        elif tag == "pre":
            self.fence_depth += 1
        if not (self.is_item_empty and tag in ("p", "div")):
            self.parts.append(self._mark(tag))
        self.is_item_empty = tag == "li" or self.is_item_empty

    def end(self, tag: str) -> None:
        """Take note of an element that ends."""
        self.is_item_empty = False
        if tag == "table":
            table = self.tables.pop()
            if (text := table.text(self.parts)) is not None:
                self.parts[table.start :] = [text]
                return
        elif self.tables:
            self.tables[-1].end(tag, len(self.parts))
        if tag == "dl":
            self.pairs.pop()
        elif tag in ("ol", "ul"):
            self.numbers.pop()
        elif tag == "pre":
            self.fence_depth -= 1
        self.parts.append("\n```\n\n" if tag == "pre" else "\n\n" if tag in _BLOCKS else "")
        if tag in ("dt", "dd") and self.pairs:
            self.pairs[-1].end(tag, self.parts)

    def _mark(self, tag: str) -> str:
        """Return what represents an element's begin in the text."""
        if tag == "li" and self.numbers and self.numbers[-1]:
            self.numbers[-1] += 1
            return f"\n{self.numbers[-1] - 1}. "
        return _MARKS.get(tag) or ("\n\n" if tag in _BLOCKS else "")


def _text_of(body: LexborNode) -> str:
    text = _Text()
    for node, is_end in _walk(body):
        tag = str(node.tag)
        if tag == "-text":
            text.write(node.text(deep=False))
        elif is_end:
            text.end(tag)
        else:
            text.begin(node)
    whole = _TRAILING.sub("\n", "".join(text.parts))
    return _GAP.sub("\n\n", _LEADING.sub("\n", whole)).strip()


def _walk(body: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Return every node when it begins and, except for text, when it ends; without recursion, however deep the page."""
    open_nodes: list[tuple[LexborNode, Iterator[LexborNode]]] = [(body, body.iter(include_text=True))]
    while open_nodes:
        node, children = open_nodes[-1]
        child = next(children, None)
        if child is None:
            open_nodes.pop()
            yield node, True
        elif child.tag == "-text":
            yield child, False
        else:
            if len(open_nodes) == _NESTED:
                raise Unreadable(f"The page nests more than {_NESTED} elements.", details={"limit": _NESTED})
            yield child, False
            open_nodes.append((child, child.iter(include_text=True)))


def _line(text: str) -> str:
    return " ".join(text.split())

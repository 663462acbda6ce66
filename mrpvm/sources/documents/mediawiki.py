"""The pages of a MediaWiki export, by way of HTML. The limits of the reading process end slow or large files."""

import html
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import mwparserfromhell
from mwparserfromhell import nodes
from mwparserfromhell.wikicode import Wikicode

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.document import Document
from mrpvm.sources.documents.html import read_html
from mrpvm.sources.documents.xml import Element, elements

_UNREAD_SPACES = frozenset({"6", "8", "10", "14", "828"})
"""Namespaces of files, messages, templates, categories and modules; those with odd numbers are talk."""
_UNREAD_TAGS = frozenset(
    {"gallery", "graph", "imagemap", "math", "ref", "references", "score", "templatedata", "timeline"}
)
_CODE = frozenset({"source", "syntaxhighlight", "pre", "poem"})
_MEASURES = frozenset({"convert", "cvt"})
_SPECIAL_LINK = re.compile(r"^\s*(?:file|image|category|media)\s*:", re.IGNORECASE)
_STEPS = re.compile(r"(?:^<step>.*(?:\n|\Z))+", re.MULTILINE)
_ITEM = re.compile(r"^(?:<li>|<step>)+[ \t]*(.*)$", re.MULTILINE)
_PAIRS = re.compile(r"(?:^<d[dt]>.*(?:\n|\Z))+", re.MULTILINE)
_GAP = re.compile(r"\n[ \t]*\n\s*")


def read_mediawiki(data: bytes) -> Document:
    """Return each page below its title, as Markdown; without redirects, talk, and pages of the wiki itself.

    Of the templates in a page measures are kept, and the values of infoboxes.

    Raises:
        Unreadable: the XML is damaged.
    """
    try:
        pages = [_page(title, wikitext) for title, wikitext in _pages(data)]
    except ElementTree.ParseError as error:
        line, _ = error.position
        raise Unreadable(f"The MediaWiki export cannot be read: line {line} is no XML.") from None
    return read_html("".join(pages).encode(), "charset=utf-8")


def _pages(data: bytes) -> Iterator[tuple[str, str]]:
    """Return title and newest text of each page that is read."""
    for name, element in elements(io.BytesIO(data)):
        if name != "page":
            continue
        if _is_read(element):
            texts = [text.text for text in element.iterfind("{*}revision/{*}text")]
            yield element.findtext("{*}title") or "", (texts[-1] if texts else None) or ""
        element.clear()


def _is_read(page: Element) -> bool:
    space = page.findtext("{*}ns") or "0"
    is_talk = space[-1:] in "13579"
    return page.find("{*}redirect") is None and space not in _UNREAD_SPACES and not is_talk


def _page(title: str, wikitext: str) -> str:
    markup = _markup(mwparserfromhell.parse(wikitext))
    listed = _ITEM.sub(r"<li>\1</li>", _STEPS.sub(r"<ol>\n\g<0></ol>\n", markup))
    body = _GAP.sub("\n<p>", _PAIRS.sub(r"<dl>\g<0></dl>\n", listed))
    return f"<h1>{html.escape(title)}</h1>\n{body}\n"


def _markup(code: Wikicode) -> str:
    return "".join(map(_of_node, code.nodes))


def _of_node(node: nodes.Node) -> str:
    match node:
        case nodes.Text():
            return html.escape(str(node.value))
        case nodes.HTMLEntity():
            return str(node)
        case nodes.Heading():
            level = max(2, node.level)
            return f"\n<h{level}>{_markup(node.title).strip()}</h{level}>\n"
        case nodes.Wikilink():
            shown = node.title if node.text is None else node.text
            return "" if _SPECIAL_LINK.match(str(node.title)) else _markup(shown)
        case nodes.ExternalLink():
            return _markup(node.url if node.title is None else node.title)
        case nodes.Template():
            return _of_template(node)
        case nodes.Tag():
            return _of_tag(node)
    return ""


def _of_template(template: nodes.Template) -> str:
    name = str(template.name).strip().lower()
    if name in _MEASURES:
        return " ".join(html.escape(str(value.value).strip()) for value in template.params[:2])
    if not name.startswith("infobox"):
        return ""
    named = [value for value in template.params if value.showkey and str(value.value).strip()]
    rows = [f"<tr><th>{html.escape(str(value.name).strip())}<td>{_markup(value.value)}" for value in named]
    return f"<table>{''.join(rows)}</table>\n"


def _of_tag(tag: nodes.Tag) -> str:
    name = str(tag.tag).strip().lower()
    if name in _UNREAD_TAGS or not name.isalnum():
        return ""
    if tag.wiki_markup == "#":
        return "<step>"
    if tag.self_closing or tag.contents is None:
        return f"<{name}>"
    spans = "".join(f" {span}" for span in ("colspan", "rowspan") if tag.has(span))
    contents = html.escape(str(tag.contents)) if name in _CODE else _markup(tag.contents)
    shown = "pre" if name in _CODE else name
    return f"<{shown}{spans}>{contents}</{shown}>"

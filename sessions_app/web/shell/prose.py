"""Answers as HTML: Markdown without raw HTML and images, and with headings that fit the page's own."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from mrpvm.text_cache import TextCache

_CITATION = re.compile(r"\[(\d{1,3})\]")


@TextCache
def prose(text: str, sources_url: str = "") -> SafeString:
    """Return the text as safe HTML: HTML in it is shown as text, images are shown as their Markdown.

    Args:
        sources_url: where source marks such as `[1]` lead, the number at its end; they stay plain text without it.
    """
    # The renderer escapes all text and attributes; raw HTML is switched off.
    return mark_safe(_markdown().render(text, {"sources_url": sources_url}))  # noqa: S308


def plain(text: str) -> str:
    """Return the words of a Markdown text in one line, for a list that has no room for more."""
    return " ".join(" ".join(_words(token) for token in _markdown().parse(text)).split())


def _words(token: Token) -> str:
    if token.type == "list_item_open" and token.info:
        return token.info + token.markup  # the number of an item
    return "".join(_WORDS.get(part.type, part.content) for part in token.children or ())


_WORDS = {"softbreak": " ", "hardbreak": " "}


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    markdown.disable(["image", "html_block", "html_inline"])
    markdown.add_render_rule("heading_open", _heading_open)
    markdown.add_render_rule("heading_close", lambda *_: "</p>\n")
    markdown.add_render_rule("link_open", _link_open)
    markdown.add_render_rule("text", _text)
    for cell in ("th_open", "td_open"):
        markdown.add_render_rule(cell, _cell_open)
    return markdown


def _heading_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return '<p class="prose__heading">'


def _link_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    return renderer.renderToken(tokens, index, options, env)


def _cell_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    # An alignment would become an inline style, which the security policy forbids.
    return f"<{tokens[index].tag}>"


def _text(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    text, url = escape(tokens[index].content), env.get("sources_url")
    if not url:
        return text
    opening = f'<a class="cite" href="{escape(url)}'
    return _CITATION.sub(lambda mark: f'{opening}{int(mark[1])}" aria-label="Source {mark[1]}">{mark[1]}</a>', text)

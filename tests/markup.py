"""Normalizing white space in pages, since browsers do not show a template's indentation."""

import re
from functools import lru_cache

PRESERVED = re.compile(r"(<(pre|textarea|blockquote)\b.*?</\2>)", re.DOTALL)
TAG = re.compile(r"""<[^/>"'][^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*>""")
BLOCKS = (
    "html|head|body|title|meta|link|script|noscript|div|p|h[1-6]|ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tr|td|th"
    "|form|fieldset|legend|section|article|nav|header|footer|main|aside|figure|figcaption|blockquote|details|dialog|menu"
    "|option|optgroup|datalist|select|hr|br|template|svg|defs|symbol|g|path|circle|rect|use|line|progress|meter"
)
AROUND_BLOCKS = re.compile(rf" ?(</?(?:{BLOCKS})\b[^>]*>) ?")
BEGIN_OF_BOX = re.compile(r"(<(?:button|summary|label)\b[^>]*>) ")
END_OF_BOX = re.compile(r" (</(?:button|summary|label)>)")


def collapsed(html: str) -> str:
    """Return HTML with white space collapsed, and removed around blocks and at the ends of buttons."""
    parts = PRESERVED.split(TAG.sub(lambda tag: _collapsed_tag(tag[0]), html))
    # The pattern has two groups, so parts repeat in threes: text, a preserved element, and the element's name.
    return "".join(_collapsed(part) if index % 3 == 0 else part for index, part in enumerate(parts) if index % 3 != 2)


@lru_cache(10_000)
def _collapsed_tag(tag: str) -> str:
    tag = re.sub(r"\s+", " ", tag)
    return re.sub(r'class=" ?([^"]*?) ?"', r'class="\1"', re.sub(r" (/?>)$", r"\1", tag))


def _collapsed(html: str) -> str:
    html = AROUND_BLOCKS.sub(r"\1", " ".join(f"|{html}|".split())[1:-1])
    return END_OF_BOX.sub(r"\1", BEGIN_OF_BOX.sub(r"\1", html))

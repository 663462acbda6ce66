"""JSON as HTML that can be folded: its text content stays the JSON itself, so that copying gives what was stored."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe

NODES_MAX = 2_000
"""A value with more nodes is shown as plain text: folding would not help, and the page would be slow."""
_OPEN_DEPTH = 2
_SHORT_LIST = 8
_LINE_END = re.compile(r"(?<!\\)(?:\\\\)*\\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJson:
    """A value as HTML; `left_out_bytes` says how much of its text is missing."""

    html: SafeString
    is_empty: bool
    left_out_bytes: int = 0


def shown_json(value: Any, limit_bytes: int) -> ShownJson:
    """Give the value as a tree that can be folded, or as the first `limit_bytes` of its text if it is longer."""
    if value is None or value in ({}, []):
        return ShownJson(html=SafeString(""), is_empty=True)
    text = json.dumps(value, indent=2, ensure_ascii=False)
    size = len(text.encode("utf-8", "replace"))
    if size > limit_bytes or node_count(value) > NODES_MAX:
        return shown_text(text, limit_bytes)
    return ShownJson(html=_safe(_node(value, 0)), is_empty=False)


def shown_text(text: str, limit_bytes: int) -> ShownJson:
    """Give the beginning of a text as it is."""
    encoded = text.encode("utf-8", "replace")
    kept = encoded[:limit_bytes].decode("utf-8", "ignore")
    return ShownJson(html=_safe(escape(kept)), is_empty=not text, left_out_bytes=len(encoded) - len(kept.encode()))


def node_count(value: Any) -> int:
    """Give how many values a value holds, itself included."""
    count, waiting = 0, [value]
    while waiting:
        count += 1
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
    return count


def _safe(html: str) -> SafeString:
    # Every text in it went through `escape`.
    return mark_safe(html)  # noqa: S308


def _node(value: Any, depth: int) -> str:
    if isinstance(value, Mapping) and value:
        keys = [f'<span class="json-key">{escape(json.dumps(str(key), ensure_ascii=False))}</span>: ' for key in value]
        return _folder("{", "}", zip(keys, value.values(), strict=True), len(value), depth)
    if isinstance(value, list | tuple) and value:
        if len(value) <= _SHORT_LIST and not any(isinstance(item, Mapping | list | tuple | str) for item in value):
            return "[" + ", ".join(_node(item, depth) for item in value) + "]"
        return _folder("[", "]", (("", item) for item in value), len(value), depth)
    return _leaf(value)


def _folder(start: str, end: str, items: Iterable[tuple[str, Any]], count: int, depth: int) -> str:
    rows = [f"{key}{_node(item, depth + 1)}" for key, item in items]
    lines = ",</div><div>".join(rows)
    state = " open" if depth < _OPEN_DEPTH or count <= 2 else ""
    kind = "entry" if start == "{" else "item"
    words = f"{count} {kind}" if count == 1 else f"{count} {'entries' if kind == 'entry' else 'items'}"
    return (
        f'<details class="json-fold"{state}><summary data-count="{words}">{start}</summary>'
        f"<div>{lines}</div></details>{end}"
    )


def _leaf(value: Any) -> str:
    kind = "string" if isinstance(value, str) else "literal" if value is None or isinstance(value, bool) else "number"
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return escape(json.dumps(value))
    written = escape(json.dumps(value, ensure_ascii=False))
    # A break adds no text: what is copied stays JSON, what is seen has its lines.
    return f'<span class="json-{kind}">{_LINE_END.sub(lambda end: f"{end[0]}<br>", written)}</span>'

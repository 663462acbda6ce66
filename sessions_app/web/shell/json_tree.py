"""JSON as HTML that can be folded: its text content stays the JSON itself, so that copying gives what was stored."""

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe

NODES_MAX = 2_000
"""A value with more nodes, or more levels, is plain text: folding would not help and the page would be slow."""
DEPTH_MAX = 60
_OPEN_ROWS = 60
_SHORT_LIST = 8
_LINE_END = re.compile(r"(?<!\\)(?:\\\\)*\\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownJson:
    """A value as HTML; `left_out_bytes` says how much of its text is missing."""

    html: SafeString
    is_empty: bool
    left_out_bytes: int = 0


def shown_json(value: Any, limit_bytes: int) -> ShownJson:
    """Return the value as a tree that can be folded, or as the first `limit_bytes` of its text if it is longer."""
    if value is None or value in ({}, []):
        return ShownJson(html=SafeString(""), is_empty=True)
    nodes, depth = extent(value)
    text = json.dumps(value, indent=2 if depth <= DEPTH_MAX else None, ensure_ascii=False)
    if len(text.encode("utf-8", "replace")) > limit_bytes or nodes > NODES_MAX or depth > DEPTH_MAX:
        return shown_text(text, limit_bytes)
    return ShownJson(html=_safe(_node(value, (), _open_paths(value))), is_empty=False)


def shown_text(text: str, limit_bytes: int) -> ShownJson:
    """Return the beginning of a text as it is."""
    encoded = text.encode("utf-8", "replace")
    kept = encoded[:limit_bytes].decode("utf-8", "ignore")
    return ShownJson(html=_safe(escape(kept)), is_empty=not text, left_out_bytes=len(encoded) - len(kept.encode()))


def extent(value: Any) -> tuple[int, int]:
    """Return how many values a value holds, itself included, and how many levels deep it is."""
    count, deepest, waiting = 0, 0, [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        count, deepest = count + 1, max(deepest, depth)
        waiting.extend((part, depth + 1) for part in _parts(item))
    return count, deepest


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list | tuple) else ()


def _safe(html: str) -> SafeString:
    # Every text in it went through `escape`.
    return mark_safe(html)  # noqa: S308


type Path = tuple[int, ...]


def _open_paths(value: Any) -> frozenset[Path]:
    """Return the places of the parts that are open at first: level by level, as far as the rows reach."""
    opened: set[Path] = set()
    waiting: deque[tuple[Path, Any]] = deque([((), value)])
    rows = _OPEN_ROWS
    while waiting:
        path, item = waiting.popleft()
        parts = _parts(item)
        if path and len(parts) > rows:
            continue
        rows -= len(parts)
        opened.add(path)
        waiting.extend(((*path, place), part) for place, part in enumerate(parts))
    return frozenset(opened)


def _node(value: Any, path: Path, opened: frozenset[Path]) -> str:
    if isinstance(value, Mapping) and value:
        keys = [f'<span class="json-key">{escape(json.dumps(str(key), ensure_ascii=False))}</span>: ' for key in value]
        parts = [_node(item, (*path, place), opened) for place, item in enumerate(value.values())]
        rows = [f"{key}{part}" for key, part in zip(keys, parts, strict=True)]
        return _folder("{", "}", rows, "entry" if len(value) == 1 else "entries", path in opened)
    if isinstance(value, list | tuple) and value:
        rows = [_node(item, (*path, place), opened) for place, item in enumerate(value)]
        if len(value) <= _SHORT_LIST and not any(isinstance(item, Mapping | list | tuple | str) for item in value):
            return "[" + ", ".join(rows) + "]"
        return _folder("[", "]", rows, "item" if len(value) == 1 else "items", path in opened)
    return _leaf(value)


def _folder(start: str, end: str, rows: Sequence[str], noun: str, is_open: bool) -> str:
    return (
        f'<details class="json-fold"{" open" if is_open else ""}>'
        f'<summary data-count="{len(rows)} {noun}">{start}</summary>'
        f"<div>{',</div><div>'.join(rows)}</div></details>{end}"
    )


def _leaf(value: Any) -> str:
    kind = "string" if isinstance(value, str) else "literal" if value is None or isinstance(value, bool) else "number"
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return escape(json.dumps(value))
    written = escape(json.dumps(value, ensure_ascii=False))
    # A `<br>` adds no text, so copied text stays JSON.
    return f'<span class="json-{kind}">{_LINE_END.sub(lambda end: f"{end[0]}<br>", written)}</span>'

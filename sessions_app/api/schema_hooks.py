"""How the OpenAPI document is finished: the API's own addresses, and texts for readers of the document."""

import re
from collections.abc import Iterable
from typing import Any

_SOURCES = re.compile(r"\s*\[(?:[A-Z]+-\d+|ARCHITECTURE)[^\]]*\]")
"""References to the rules behind a statement: meant for the code's readers."""


def api_only(endpoints: Iterable[tuple[str, str, str, Any]], **kwargs: Any) -> list[tuple[str, str, str, Any]]:
    """Give the endpoints below `/api/`: the probes answer at the root too, under the same names."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/")]


def without_sources(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Give the document with references to rules left out of its descriptions."""
    waiting: list[Any] = [result]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if isinstance(item.get("description"), str):
                item["description"] = _SOURCES.sub("", item["description"])
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return result

"""How the OpenAPI document is finished: the API's own addresses, and texts for readers of the document."""

import re
from collections.abc import Iterable
from typing import Any

from mrpvm.conversation.flags import ALIASES, DOCUMENT_BIAS, LIMITS, NAMES

TAKE_FLAGS = ("ChatRequest", "SessionCreateRequest", "PatchedSessionPatchRequest", "PatchedPoliciesRequest")
"""The bodies that take flags beside their fields."""
_SOURCES = re.compile(r"\s*\[(?:[A-Z]+-?\d+|ARCHITECTURE)[^\]]*\]")
"""References to the rules behind a statement: meant for the code's readers."""


def api_only(endpoints: Iterable[tuple[str, str, str, Any]], **kwargs: Any) -> list[tuple[str, str, str, Any]]:
    """Return the endpoints below `/api/`: the probes answer at the root too, under the same names."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/")]


def without_sources(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Return the document with references to rules left out of its descriptions."""
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


def with_flags(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Return the document with the flags in the bodies that take them; null is no choice, or takes one back."""
    for name in TAKE_FLAGS:
        result["components"]["schemas"][name]["properties"] |= {flag: _flag(flag) for flag in NAMES}
    return result


def _flag(name: str) -> dict[str, Any]:
    if name in LIMITS:
        lowest, highest = LIMITS[name]
        kind = "integer" if isinstance(lowest, int) else "number"
        return {"type": [kind, "null"], "minimum": lowest, "maximum": highest}
    if name == "document_bias":
        return {"enum": [*DOCUMENT_BIAS, None]}
    other = next(alias for alias, flag in ALIASES.items() if flag == name)
    return {"type": ["boolean", "null"], "description": f"Also as `{other}`."}

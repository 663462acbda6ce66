"""How the OpenAPI document is finished: the API's own addresses, and texts for readers of the document."""

import re
from collections.abc import Iterable
from typing import Any

from mrpvm.conversation.flags import ALIASES, DOCUMENT_BIAS, LIMITS, NAMES
from mrpvm.wire import JSONObject
from sessions_app.actions.settings.kept_answers import KEY_CHARS
from sessions_app.api.shell.errors import PROBLEM_TYPE
from sessions_app.api.shell.schemas import ERRORS

_WRITES = ("post", "put", "patch", "delete")
_IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "description": "A name for this request, chosen by the client. Sent again within a day it gets the same answer,"
    " and nothing is done twice.",
    "schema": {"type": "string", "maxLength": KEY_CHARS},
}
_PAGE_HEADERS = {
    "Link": {
        "description": "The addresses of the pages beside this one, by the relations first, next and prev (RFC 8288).",
        "schema": {"type": "string"},
    },
    "X-Total-Count": {
        "description": "How long the whole list is, where that is stored.",
        "schema": {"type": "integer"},
    },
}
_PROBLEM = {
    "type": "object",
    "description": "The error as problem details (RFC 9457), for a request that accepts them; the fields of `error` are"
    " extension members.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "code"],
}
TAKE_FLAGS = ("ChatRequest", "SessionCreateRequest", "PatchedSessionPatchRequest", "PatchedPoliciesRequest")
"""The bodies that take flags beside their fields."""
_SOURCES = re.compile(r"\s*\[(?:[A-Z]+-?\d+|ARCHITECTURE)[^\]]*\]")
"""References to the rules behind a statement: meant for the code's readers."""


def api_only(endpoints: Iterable[tuple[str, str, str, Any]], **kwargs: Any) -> list[tuple[str, str, str, Any]]:
    """Return the endpoints below `/api/`: the probes answer at the root too, under the same names."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/")]


def without_sources(result: JSONObject, **kwargs: Any) -> JSONObject:
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


def with_flags(result: JSONObject, **kwargs: Any) -> JSONObject:
    """Return the document with the flags in the bodies that take them; null is no choice, or takes one back."""
    for name in TAKE_FLAGS:
        result["components"]["schemas"][name]["properties"] |= {flag: _flag(flag) for flag in NAMES}
    return result


def with_habits(result: JSONObject, **kwargs: Any) -> JSONObject:
    """Return the document with what every write, list and error share, each described once."""
    shared = result["components"]
    shared["parameters"] = {"IdempotencyKey": _IDEMPOTENCY_KEY}
    shared["headers"] = _PAGE_HEADERS
    shared["responses"] = {}
    shared["schemas"]["Problem"] = _PROBLEM
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if method in _WRITES and operation.get("security"):
                operation.setdefault("parameters", []).append(_reference("parameters", "IdempotencyKey"))
                refused = {str(code): _refused(code) for code in (400, 409, 422)}
                operation["responses"] = refused | operation["responses"]
            if any(parameter.get("name") in ("cursor", "before") for parameter in operation.get("parameters", ())):
                operation["responses"]["200"]["headers"] = {name: _reference("headers", name) for name in _PAGE_HEADERS}
            _share_errors(operation, shared["responses"])
    return result


def _share_errors(operation: JSONObject, shared: JSONObject) -> None:
    """Put the operation's error answers into `shared` by their statuses, and references in their place."""
    for status, answer in sorted(operation["responses"].items()):
        plain = answer.get("content", {}).get("application/json", {}).get("schema")
        if plain != _reference("schemas", "ErrorResponse"):
            continue
        content = {"application/json": {"schema": plain}, PROBLEM_TYPE: {"schema": _reference("schemas", "Problem")}}
        described = shared.setdefault(f"Error{status}", {**answer, "content": content})
        if described["description"] == answer["description"]:
            operation["responses"][status] = _reference("responses", f"Error{status}")
        else:
            answer["content"] = content
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _refused(status: int) -> JSONObject:
    schema = _reference("schemas", "ErrorResponse")
    return {"description": ERRORS[status], "content": {"application/json": {"schema": schema}}}


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _flag(name: str) -> JSONObject:
    if name in LIMITS:
        lowest, highest = LIMITS[name]
        kind = "integer" if isinstance(lowest, int) else "number"
        return {"type": [kind, "null"], "minimum": lowest, "maximum": highest}
    if name == "document_bias":
        return {"enum": [*DOCUMENT_BIAS, None]}
    other = next(alias for alias, flag in ALIASES.items() if flag == name)
    return {"type": ["boolean", "null"], "description": f"Also as `{other}`."}

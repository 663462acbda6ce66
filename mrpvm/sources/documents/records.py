"""JSON and JSON lines: flat records as the rows of a table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mrpvm.errors import Unreadable
from mrpvm.sources.documents.tables import table_text

_FIELDS = 500
"""Different fields that records may have: each becomes a column."""
_ACCEPTED = (
    "Send a list of objects, or one object in each line, whose values are texts, numbers, true, false, null or lists "
    "of these."
)


def records_text(text: str) -> str:
    """Return records as a Markdown table, their fields as its columns; texts of a single field as paragraphs.

    Raises:
        Unreadable: no JSON, or no flat records.
    """
    records = [_record(value) for value in _values(text)]
    fields = list(dict.fromkeys(field for record in records for field in record))
    if len(fields) > _FIELDS:
        raise Unreadable(
            f"The records have {len(fields)} different fields; {_FIELDS} are allowed.",
            details={"limit": _FIELDS, "size": len(fields)},
        )
    if len(fields) < 2:
        return "\n\n".join(value for record in records for value in record.values())
    return table_text([fields, *([record.get(field, "") for field in fields] for record in records)])


def _values(text: str) -> Sequence[Any]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and _is_json(lines[0][1]):
        return [_parsed(line, number) for number, line in lines]
    value = _parsed(text)
    return value if isinstance(value, list) else [value]


def _is_json(line: str) -> bool:
    try:
        _parsed(line)
    except Unreadable:
        return False
    return True


def _parsed(text: str, line: int = 1) -> Any:
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)  # numbers as they are written
    except json.JSONDecodeError as error:
        raise Unreadable(f"The JSON cannot be read: {error.msg} in line {line + error.lineno - 1}.") from None
    except RecursionError:
        raise Unreadable(f"The JSON holds no flat records. {_ACCEPTED}") from None


def _record(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise Unreadable(f"The JSON holds no flat records. {_ACCEPTED}")
    return {field: _shown(item) for field, item in value.items()}


def _shown(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return value
        case list() if not any(isinstance(item, (list, dict)) for item in value):
            return ", ".join(filter(None, map(_shown, value)))
    raise Unreadable(f"The JSON holds no flat records. {_ACCEPTED}")

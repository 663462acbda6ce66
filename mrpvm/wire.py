"""The JSON form of values: what is stored, shown and sent."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

_PLAIN = frozenset({type(None), str, int, float, bool})


@cache
def _wire_fields(kind: type) -> tuple[tuple[str, str], ...] | None:
    """Give each field's name and its name on the wire; None for what is no dataclass."""

    def camel(name: str) -> str:
        head, *rest = name.split("_")
        return head + "".join(part.capitalize() for part in rest)

    return tuple((item.name, camel(item.name)) for item in fields(kind)) if is_dataclass(kind) else None


class Brief:
    """A dataclass whose objects are given without what is None or empty in them, and each of them converted once.

    For one piece of work that converts the same objects again and again, as the calls of a turn do with its evidence:
    the JSON form of an object is shared by all values that hold it.
    """

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self._known: dict[int, tuple[object, dict[str, Any]]] = {}

    def object_of(self, value: object, named: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        """Give the JSON form of one object of the dataclass."""
        known = self._known.get(id(value))  # the value is kept beside its form, so that no other can get its id
        if known is None:
            form = {wire: to_wire(item) for name, wire in named if (item := getattr(value, name)) or item == 0}
            known = self._known[id(value)] = (value, form)
        return known[1]


def to_wire(value: Any, *, brief: Brief | None = None) -> Any:
    """Give `value` as JSON-ready data: dataclasses become objects with camelCase keys [N-4]."""
    # A turn converts some thousands of values, nearly all of them plain or fields of dataclasses: these come first.
    kind: type[object] = type(value)
    if kind in _PLAIN:
        return value
    if (named := _wire_fields(kind)) is not None:  # type: ignore[arg-type]  # a class is hashable, whatever it defines
        if brief is not None and kind is brief.kind:
            return brief.object_of(value, named)
        return {
            wire: item if type(item := getattr(value, name)) in _PLAIN else to_wire(item, brief=brief)
            for name, wire in named
        }
    if isinstance(value, tuple | list | set | frozenset):
        return [item if type(item) in _PLAIN else to_wire(item, brief=brief) for item in value]
    if isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): to_wire(item, brief=brief) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_wire(item, brief=brief) for item in value]
    return str(value)


def wire_time(moment: datetime) -> str:
    """Give a UTC time as it is sent [N-5]."""
    return moment.isoformat().replace("+00:00", "Z")

"""The JSON form of values: what is stored, shown and sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

_PLAIN = frozenset({type(None), str, int, float, bool})


@dataclass(frozen=True, slots=True)
class _Fields:
    """What to read of a dataclass: `(name, name on the wire)` of each field; `frozen` tells that no object changes."""

    named: tuple[tuple[str, str], ...]
    frozen: bool


@cache
def _fields_of(kind: type) -> _Fields | None:
    """Give the fields of a dataclass, None for what is none."""

    def camel(name: str) -> str:
        head, *rest = name.split("_")
        return head + "".join(part.capitalize() for part in rest)

    if not is_dataclass(kind):
        return None
    frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # typeshed leaves it out
    return _Fields(tuple((item.name, camel(item.name)) for item in fields(kind)), frozen)


class Forms:
    """The JSON forms of one piece of work that converts the same objects again and again, as a turn's calls do.

    A frozen object is converted once and its form shared by all values that hold it, so no form may be changed. One
    kind of objects is told briefly: without what is None or empty in them.
    """

    def __init__(self, brief: type) -> None:
        self._brief = brief
        self._known: dict[int, tuple[object, dict[str, Any]]] = {}

    def form_of(self, value: object, known: _Fields) -> dict[str, Any]:
        """Give the JSON form of one object of a dataclass with these fields."""
        if not known.frozen:
            return self._converted(value, known)
        found = self._known.get(id(value))  # the value is kept beside its form, so that no other can get its id
        if found is None:
            found = self._known[id(value)] = (value, self._converted(value, known))
        return found[1]

    def _converted(self, value: object, known: _Fields) -> dict[str, Any]:
        read = ((wire, getattr(value, name)) for name, wire in known.named)
        if type(value) is self._brief:
            read = ((wire, item) for wire, item in read if item or item == 0)
        return {wire: item if type(item) in _PLAIN else to_wire(item, forms=self) for wire, item in read}


def to_wire(value: Any, *, forms: Forms | None = None) -> Any:
    """Give `value` as JSON-ready data: dataclasses become objects with camelCase keys [N-4]."""
    # A turn converts some thousands of values, nearly all of them plain or fields of dataclasses: these come first.
    kind: type[object] = type(value)
    if kind in _PLAIN:
        return value
    if (known := _fields_of(kind)) is not None:  # type: ignore[arg-type]  # a class is hashable, whatever it defines
        if forms is not None:
            return forms.form_of(value, known)
        return {
            wire: item if type(item := getattr(value, name)) in _PLAIN else to_wire(item) for name, wire in known.named
        }
    if isinstance(value, tuple | list | set | frozenset):
        return [item if type(item) in _PLAIN else to_wire(item, forms=forms) for item in value]
    if isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): to_wire(item, forms=forms) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_wire(item, forms=forms) for item in value]
    return str(value)


def wire_time(moment: datetime) -> str:
    """Give a UTC time as it is sent [N-5]."""
    return moment.isoformat().replace("+00:00", "Z")

"""The JSON form of values: what is stored, shown and sent, with camelCase keys; and values read back from it."""

import json
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeAliasType, Union, get_args, get_origin

import orjson
from msgspec import Struct

from mrpvm.fields import field_types, is_frozen

_PLAIN = frozenset({type(None), str, int, float, bool})
type JSONObject = dict[str, Any]
"""A JSON object whose names are not listed here."""
_EMPTY: tuple[()] = ()
"""CPython has one empty tuple, so it is recognised by identity; most fields of several values are empty."""


class OnWire(Struct, frozen=True):
    """A note in the `Annotated` type of a field: its name on the wire, and whether it is left out while it is None."""

    name: str | None = None
    is_optional: bool = False


OPTIONAL = OnWire(is_optional=True)
_AS_USUAL = OnWire()


class _Fields(Struct, frozen=True):
    """What to read of a value: `(name, name on the wire)` of each field, and the wire names of optional ones.

    `form` reads the fields of an object by their names on the wire. `converted` are the wire names of the fields whose
    values may be anything but text, numbers, truth or None, as their types say.
    """

    named: tuple[tuple[str, str], ...]
    form: Callable[[object], dict[str, Any]]
    converted: tuple[str, ...]
    optional: tuple[str, ...]
    is_frozen: bool

    def read(self, value: object) -> dict[str, Any]:
        """Return the values of an object's fields by their names on the wire; what they hold is not converted."""
        form = self.form(value)
        for wire in self.optional:
            if form[wire] is None:
                del form[wire]
        return form


@cache
def _fields_of(kind: type) -> _Fields | None:
    """Return the fields of a value's class, None for what has none."""

    def camel(name: str) -> str:
        head, *rest = name.split("_")
        return head + "".join(part.capitalize() for part in rest)

    types_of, noted = field_types(kind), field_types(kind, with_notes=True)
    if types_of is None or noted is None:
        return None
    notes = {name: note_of(hint) for name, hint in noted.items()}
    named = tuple((name, note.name or camel(name)) for name, note in notes.items())
    # Of code that names each field the interpreter learns where the objects keep it: a quarter of the time that
    # `attrgetter` and `zip` take, for the hundred and seventy objects that a turn writes.
    form = eval(f"lambda value: {{{', '.join(f'{wire!r}: value.{name}' for name, wire in named)}}}")  # noqa: S307
    return _Fields(
        named=named,
        form=form,
        converted=tuple(wire for name, wire in named if not _is_plain(types_of[name])),
        optional=tuple(wire for name, wire in named if notes[name].is_optional),
        is_frozen=is_frozen(kind),
    )


def note_of(hint: Any) -> OnWire:
    """Return what the type of a field says about its form on the wire."""
    return next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, OnWire)), _AS_USUAL)


def _is_plain(hint: Any) -> bool:
    """Return whether values of this type are JSON as they are."""
    if isinstance(hint, TypeAliasType):
        return _is_plain(hint.__value__)
    if get_origin(hint) in (Union, types.UnionType):
        return all(map(_is_plain, get_args(hint)))
    if get_origin(hint) is Literal:
        return all(type(item) in _PLAIN for item in get_args(hint))
    return isinstance(hint, type) and hint in _PLAIN


def to_wire(value: Any) -> Any:
    """Return `value` as JSON-ready data: values with fields become objects with camelCase keys."""
    # A turn converts some thousands of values, nearly all of them plain or fields of objects: these come first.
    kind: type[object] = type(value)
    if kind in _PLAIN:
        return value
    if (known := _fields_of(kind)) is not None:  # type: ignore[arg-type]  # a class is hashable, whatever it defines
        form = known.read(value)
        for wire in known.converted:
            if wire in form and type(item := form[wire]) not in _PLAIN:
                form[wire] = [] if item is _EMPTY else to_wire(item)
        return form
    if isinstance(value, tuple | list | set | frozenset):
        return [item if type(item) in _PLAIN else to_wire(item) for item in value]
    if isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): to_wire(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_wire(item) for item in value]
    return str(value)


def first_text(value: Any) -> str:
    """Return what a value says first: itself, or the first text among its fields; else all of it."""
    if isinstance(value, str):
        return value
    known = _fields_of(type(value))  # type: ignore[arg-type]  # a class is hashable, whatever it defines
    texts = known.form(value).values() if known else value.values() if isinstance(value, Mapping) else ()
    text = next((item for item in texts if isinstance(item, str) and item), None)
    return text or ("" if value is None else str(to_wire(value)))


class WireWriter:
    """Writes values as JSON, with the same names as `to_wire` and without its copy of everything.

    Objects of one class are written without their None and empty fields. A frozen object that many values hold is read
    once.
    """

    def __init__(self, brief: type | None = None) -> None:
        self._brief = brief
        self._known: dict[int, tuple[object, Any]] = {}

    def json(self, value: Any) -> bytes:
        """Return JSON without spaces, in UTF-8; half a surrogate pair is kept."""
        try:
            return orjson.dumps(value, default=self._form, option=_AS_HERE)
        except TypeError:  # half a pair, a key that is no text, a number of more than 64 bits
            form = to_wire(value)
            return json.dumps(form, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    def _form(self, value: object) -> Any:
        """Return what represents an object that is no JSON; what it holds is asked for in its turn."""
        known = _fields_of(type(value))  # type: ignore[arg-type]  # as above
        if known is None:
            if isinstance(value, Mapping):
                return {str(key): item for key, item in value.items()}
            return list(value) if isinstance(value, Sequence | set | frozenset) else str(value)
        cached = self._known.get(id(value))  # the value is kept beside its form, so that no other can get its id
        if cached is None:
            form = known.read(value)
            if type(value) is self._brief:
                form = {wire: item for wire, item in form.items() if item or item == 0}
            if not known.is_frozen:
                return form
            cached = self._known[id(value)] = (value, form)
        return cached[1]


_AS_HERE = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON without spaces, in UTF-8, named as by `to_wire`; half a surrogate pair is kept."""
    return WireWriter().json(value)


def wire_names(kind: type) -> tuple[str, ...]:
    """Return the names on the wire of a class's fields, in their order."""
    known = _fields_of(kind)
    if known is None:
        raise TypeError(f"{kind.__name__} has no fields")
    return tuple(wire for _, wire in known.named)


type _Read = Callable[[Any], Any]


def from_wire[Value](kind: type[Value], data: Mapping[str, Any]) -> Value:
    """Return the object that `to_wire` gave this form; a key that it lacks has the field's default.

    Raises:
        TypeError: a key is missing whose field has no default.
    """
    readers = _readers_of(kind)  # type: ignore[arg-type]  # a class is hashable, whatever it defines
    return kind(**{name: read(data[wire]) for name, wire, read in readers if wire in data})


@cache
def _readers_of(kind: type) -> tuple[tuple[str, str, _Read], ...]:
    known = _fields_of(kind)
    if known is None:
        raise TypeError(f"{kind.__name__} has no fields")
    types_of = field_types(kind) or {}
    return tuple((name, wire, _reader_of(types_of[name])) for name, wire in known.named)


def _reader_of(hint: Any) -> _Read:
    """Return what turns JSON data into a value of this type; only objects and tuples are any different."""
    if isinstance(hint, TypeAliasType):
        return _reader_of(hint.__value__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        read = next((reader for part in arguments if (reader := _reader_of(part)) is not _as_is), _as_is)
        return _as_is if read is _as_is else lambda data: None if data is None else read(data)
    if origin is tuple:
        read_item = _reader_of(arguments[0])
        return tuple if read_item is _as_is else lambda data: tuple(read_item(item) for item in data)
    if isinstance(hint, type) and _fields_of(hint) is not None:
        return lambda data: from_wire(hint, data)
    return _as_is


def _as_is(data: Any) -> Any:
    return data


def wire_time(moment: datetime) -> str:
    """Return a UTC time as it is sent."""
    return moment.isoformat().replace("+00:00", "Z")

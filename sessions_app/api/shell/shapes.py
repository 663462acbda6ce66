"""Serializers of typed records: what the API returns, and what bodies hold, described from its types alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeAliasType,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from mrpvm.fields import field_types
from mrpvm.wire import OnWire, note_of, wire_names
from sessions_app.api.shell.fields import JSONNumber, JSONText, Truth, WholeNumber
from sessions_app.field_notes import Between, Length, OneOf

WireTime = Annotated[str, serializers.DateTimeField]
"""A moment that is written out already."""


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose keys are not listed here."""


@extend_schema_field({})
class AnyValue(serializers.JSONField):
    """Any JSON value."""


@cache
def shape_of(record: Any) -> type[serializers.Serializer]:
    """Return the serializer that describes a TypedDict, or what `to_wire` makes of a value.

    Either may say in `Annotated` what its fields mean.
    """
    if is_typeddict(record):
        described = {
            name: _field(hint, _ANSWERED, **({} if name in record.__required_keys__ else {"required": False}))
            for name, hint in get_type_hints(record, include_extras=True).items()
        }
    else:
        hints = field_types(record, with_notes=True) or {}
        described = {
            wire: _field(_without_none(hint), _ANSWERED, required=False)
            if note_of(hint).is_optional
            else _field(hint, _ANSWERED)
            for hint, wire in zip(hints.values(), wire_names(record), strict=True)
        }
    return type(record.__name__, (serializers.Serializer,), {"__doc__": record.__doc__, **described})


def request_of(
    name: str, record: Any, base: type[serializers.Serializer] = serializers.Serializer
) -> type[serializers.Serializer]:
    """Return a serializer that checks a TypedDict in a body; none of its keys is required.

    Args:
        base: has fields of its own, which stay as they are.
    """
    hints = get_type_hints(record, include_extras=True)
    own = base().fields.keys()
    taken = {name: _field(hint, _TAKEN, required=False) for name, hint in hints.items() if name not in own}
    shape = type(name, (base,), {"__doc__": record.__doc__, **taken})
    _REQUESTS.setdefault(record, shape)
    return shape


_REQUESTS: dict[Any, type[serializers.Serializer]] = {}


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The fields of plain types, and what gives the serializer of a record in a record."""

    plain: Mapping[Any, type[serializers.Field]]
    shape: Callable[[Any], type[serializers.Serializer]]


_ANSWERED = _Kinds(
    {
        str: serializers.CharField,
        int: serializers.IntegerField,
        float: serializers.FloatField,
        bool: serializers.BooleanField,
        datetime: serializers.DateTimeField,
        date: serializers.DateField,
        Any: AnyValue,
    },
    shape_of,
)
_TAKEN = _Kinds({str: JSONText, int: WholeNumber, float: JSONNumber, bool: Truth}, _REQUESTS.__getitem__)


def _without_none(hint: Any) -> Any:
    """Return the type of an optional field where it is sent: it is left out while it is None."""
    (kind,) = (kind for kind in get_args(hint.__origin__) if kind is not NoneType)
    return kind


def _field(hint: Any, kinds: _Kinds, **options: Any) -> serializers.Field:
    if isinstance(hint, TypeAliasType):
        return _field(hint.__value__, kinds, **options)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return _field(arguments[0], kinds, **options)
    if origin is Annotated:
        for note in arguments[1:]:
            options |= _options(note)
        return options.pop("kind", partial(_field, arguments[0], kinds))(**options)
    if origin in (Union, UnionType):
        (kind,) = (kind for kind in arguments if kind is not NoneType)
        return _field(kind, kinds, allow_null=True, **options)
    if origin is Literal:
        return serializers.ChoiceField(arguments, **options)
    if "choices" in options:
        return serializers.ChoiceField(**options)
    if _is_record(hint):
        return kinds.shape(hint)(**options)
    if origin in (list, tuple):  # a tuple of any length: `tuple[str, ...]`
        kind = arguments[0]
        if _is_record(kind):
            return kinds.shape(kind)(many=True, **options)
        return serializers.ListField(child=_field(kind, kinds), **options)
    if origin is Mapping:
        kind = arguments[1]
        if kind is Any:
            return (Anything if kinds is _ANSWERED else serializers.DictField)(**options)
        return serializers.DictField(child=_field(kind, kinds), **options)
    if hint is str and kinds is _TAKEN:
        options["allow_blank"] = not options.pop("min_length", None)
    return kinds.plain[hint](**options)


def _is_record(hint: Any) -> bool:
    return is_typeddict(hint) or (isinstance(hint, type) and field_types(hint) is not None)


class FieldOptions(TypedDict, total=False):
    """The arguments of a serializer's field that one note gives; `kind` is its class."""

    choices: Sequence[str]
    min_value: float
    max_value: float | None
    min_length: int | None
    max_length: int | None
    kind: type
    help_text: str


def _options(note: Any) -> FieldOptions:
    match note:
        case OneOf():
            return {"choices": note.values}
        case Between():
            return {"min_value": note.least, "max_value": note.most}
        case Length():
            return {"min_length": note.least or None, "max_length": note.most}
        case type():
            return {"kind": note}
        case OnWire():
            return {}
    return {"help_text": note}

"""The schema's view of a typed record: what the API's functions return, described from its types alone."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeAliasType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from mrpvm.wire import OPTIONAL, wire_names


@dataclass(frozen=True, slots=True)
class OneOf:
    """Says in `Annotated` which values a text has."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """Says in `Annotated` how small and how large a number may be."""

    least: float
    most: float


WireTime = Annotated[str, serializers.DateTimeField]
"""A moment that is written out already."""


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose keys are not listed here."""


@extend_schema_field({})
class AnyValue(serializers.JSONField):
    """Any JSON value."""


_PLAIN: Mapping[Any, type[serializers.Field]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    datetime: serializers.DateTimeField,
    date: serializers.DateField,
    Any: AnyValue,
}


@cache
def shape_of(record: type) -> type[serializers.Serializer]:
    """Return the serializer that describes a TypedDict, or what `to_wire` makes of a dataclass.

    Either may say in `Annotated` what its fields mean.
    """
    hints = get_type_hints(record, include_extras=True)
    if is_dataclass(record):
        described = {
            wire: _field(_without_none(hints[item.name]), required=False)
            if item.metadata == OPTIONAL
            else _field(hints[item.name])
            for item, wire in zip(fields(record), wire_names(record), strict=True)
        }
    else:
        described = {name: _field(hint) for name, hint in hints.items()}
    return type(record.__name__, (serializers.Serializer,), {"__doc__": record.__doc__, **described})


def _without_none(hint: Any) -> Any:
    """Return the type of an optional field where it is sent: it is left out while it is None."""
    (kind,) = (kind for kind in get_args(hint) if kind is not NoneType)
    return kind


def _field(hint: Any, **options: Any) -> serializers.Field:
    if isinstance(hint, TypeAliasType):
        return _field(hint.__value__, **options)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return _field(arguments[0], required=False, **options)
    if origin is Annotated:
        for note in arguments[1:]:
            options |= _options(note)
        return options.pop("kind", partial(_field, arguments[0]))(**options)
    if origin in (Union, UnionType):
        (kind,) = (kind for kind in arguments if kind is not NoneType)
        return _field(kind, allow_null=True, **options)
    if origin is Literal:
        return serializers.ChoiceField(arguments, **options)
    if "choices" in options:
        return serializers.ChoiceField(**options)
    if _is_record(hint):
        return shape_of(hint)(**options)
    if origin in (list, tuple):  # a tuple of any length: `tuple[str, ...]`
        kind = arguments[0]
        return shape_of(kind)(many=True, **options) if _is_record(kind) else _list(kind, options)
    if origin is Mapping:
        kind = arguments[1]
        return Anything(**options) if kind is Any else serializers.DictField(child=_field(kind), **options)
    return _PLAIN[hint](**options)


def _is_record(hint: Any) -> bool:
    return is_typeddict(hint) or (isinstance(hint, type) and is_dataclass(hint))


def _list(kind: Any, options: dict[str, Any]) -> serializers.Field:
    return serializers.ListField(child=_field(kind), **options)


def _options(note: Any) -> dict[str, Any]:
    match note:
        case OneOf():
            return {"choices": note.values}
        case Between():
            return {"min_value": note.least, "max_value": note.most}
        case type():
            return {"kind": note}
    return {"help_text": note}

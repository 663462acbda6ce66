"""The schema's view of a typed record: what the API's functions return, described from its types alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


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
def shape_of(record: Any) -> type[serializers.Serializer]:
    """Return the serializer that describes a TypedDict, which may say in `Annotated` what its fields mean."""
    hints = get_type_hints(record, include_extras=True)
    fields = {name: _field(hint) for name, hint in hints.items()}
    return type(record.__name__, (serializers.Serializer,), {"__doc__": record.__doc__, **fields})


def _field(hint: Any, **options: Any) -> serializers.Field:
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
    if is_typeddict(hint):
        return shape_of(hint)(**options)
    if origin is list:
        (kind,) = arguments
        return shape_of(kind)(many=True, **options) if is_typeddict(kind) else _list(kind, options)
    if origin is Mapping:
        kind = arguments[1]
        return Anything(**options) if kind is Any else serializers.DictField(child=_field(kind), **options)
    return _PLAIN[hint](**options)


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

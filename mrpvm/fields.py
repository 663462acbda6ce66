"""The fields of values: of frozen `msgspec.Struct` classes, which a turn makes by the hundred, and of dataclasses."""

from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from msgspec import Struct


def field_types(kind: type, *, with_notes: bool = False) -> dict[str, Any] | None:
    """Return the type of each field by its name, None for a class without fields.

    Args:
        with_notes: leave what is `Annotated` as it is.
    """
    if issubclass(kind, Struct):
        names = kind.__struct_fields__
    elif is_dataclass(kind):
        names = tuple(item.name for item in fields(kind))
    else:
        return None
    try:
        hints = get_type_hints(kind, include_extras=with_notes)
    except NameError:  # a type of the scope of a function
        hints = {}
    return {name: hints.get(name, Any) for name in names}


def is_frozen(kind: type) -> bool:
    """Return whether the objects of a class with fields stay as they were made."""
    if issubclass(kind, Struct):
        return kind.__struct_config__.frozen
    return kind.__dataclass_params__.frozen  # type: ignore[attr-defined, no-any-return]  # typeshed leaves it out

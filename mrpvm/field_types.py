"""Whether a value has the types that a class or a type of JSON data names, down to the last one.

Type checkers say so of code that they see; plugins of other packages and files from elsewhere are not among it.
"""

import math
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints, is_typeddict

from mrpvm.fields import field_types

type _Check = Callable[[Any], str | None]
"""Returns what is wrong with a value, as the rest of a sentence that begins with the value's place; None if nothing."""


def misfit(value: object, kind: type) -> str | None:
    """Return the first place in `value` that is not as the fields of `kind` say, and why; None if all fits."""
    if not isinstance(value, kind):
        return f"The value{_is_another(value, kind.__name__)}"
    return data_misfit(value, kind)


def data_misfit(value: object, hint: Any) -> str | None:
    """Return the first place in `value` that is not as a type says, and why; None if all fits.

    A list stands for a tuple, and an object of JSON for a `TypedDict`; further members are allowed.
    """
    complaint = _check_of(hint)(value)
    return complaint and complaint.removeprefix(".")


@cache
def _check_of(hint: Any) -> _Check:
    if isinstance(hint, TypeAliasType):
        return _check_of(hint.__value__)
    if hint is Any:
        return lambda value: None
    if get_origin(hint) is Literal:
        return _literal(get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return _union(get_args(hint))
    if get_origin(hint) is tuple and get_args(hint)[-1] is not ...:
        return _places([_check_of(item) for item in get_args(hint)])
    if get_origin(hint) in (tuple, list):
        return _items(_check_of(get_args(hint)[0]))
    if get_origin(hint) is Mapping:
        return _instance(Mapping)
    if get_origin(hint) is dict:
        return _values(_check_of(get_args(hint)[1]))
    if is_typeddict(hint):
        return _members(hint)
    if hint is float:
        return _number
    types_of = field_types(hint)
    return _instance(hint) if types_of is None else _fields(hint, types_of)


def _instance(kind: type) -> _Check:
    def check(value: Any) -> str | None:
        is_number = kind is int and isinstance(value, bool)
        return None if isinstance(value, kind) and not is_number else _is_another(value, kind.__name__)

    return check


def _number(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None if math.isfinite(value) else f" is {value}; it must be a finite number."
    return _is_another(value, "float")


def _literal(allowed: tuple[Any, ...]) -> _Check:
    def check(value: Any) -> str | None:
        if value in allowed:
            return None
        return f" is {str(value)[:80]!r}; it must be one of {', '.join(map(str, allowed))}."

    return check


def _union(options: tuple[Any, ...]) -> _Check:
    checks = [_check_of(option) for option in options if option is not type(None)]
    is_none_allowed = type(None) in options

    def check(value: Any) -> str | None:
        if value is None and is_none_allowed:
            return None
        complaints = [complaint(value) for complaint in checks]
        return complaints[0] if all(complaints) else None

    return check


def _items(check_item: _Check) -> _Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, tuple | list):
            return _is_another(value, "tuple")
        for place, item in enumerate(value):
            if (complaint := check_item(item)) is not None:
                return f"[{place}]{complaint}"
        return None

    return check


def _places(checks: list[_Check]) -> _Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, tuple | list) or len(value) != len(checks):
            return f" is {str(value)[:80]}; it must hold {len(checks)} values."
        complaints = (check_item(item) for check_item, item in zip(checks, value, strict=True))
        return next((f"[{place}]{complaint}" for place, complaint in enumerate(complaints) if complaint), None)

    return check


def _values(check_item: _Check) -> _Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return _is_another(value, "dict")
        complaints = ((name, check_item(item)) for name, item in value.items())
        return next((f".{name}{complaint}" for name, complaint in complaints if complaint), None)

    return check


def _members(kind: Any) -> _Check:
    checks = {name: _check_of(hint) for name, hint in get_type_hints(kind).items()}

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return _is_another(value, "dict")
        if missing := sorted(kind.__required_keys__ - value.keys()):
            return f".{missing[0]} is missing."
        complaints = ((name, checks[name](value[name])) for name in checks if name in value)
        return next((f".{name}{complaint}" for name, complaint in complaints if complaint), None)

    return check


def _fields(kind: type, types_of: dict[str, Any]) -> _Check:
    checks = {name: _check_of(hint) for name, hint in types_of.items()}

    def check(value: Any) -> str | None:
        if not isinstance(value, kind):
            return _is_another(value, kind.__name__)
        for name, check_field in checks.items():
            if (complaint := check_field(getattr(value, name))) is not None:
                return f".{name}{complaint}"
        return None

    return check


def _is_another(value: object, wanted: str) -> str:
    return f" is {_with_article(type(value).__name__)}; it must be {_with_article(wanted)}."


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"

"""Value types: how one argument is read, and how its value is written again.

Each type is one frozen object of the table in `schema`; `expected` completes the sentence "expected ..." of a
diagnostic. Reading never guesses or repairs.
"""

import math
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from msgspec import Struct

from mrpvm.lang.diagnostics import DiagnosticCode, shown
from mrpvm.lang.tokens import ID_PATTERN, Argument, ListArgument, Location, Token, TokenKind

type Value = str | int | float | bool | tuple[str, ...]

_ATOM = re.compile(r"""(?![@$])[^\s\x00-\x1f\x7f-\x9f"\[\]]+""")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


class Fault(Exception):
    """One thing wrong with a statement; the validator makes a diagnostic of it. `place` None is the statement's."""

    def __init__(
        self, code: DiagnosticCode, message: str, place: Location | None = None, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = place
        self.field = field


class ValueType(Protocol):
    """What every value type can do."""

    @property
    def expected(self) -> str:
        """Name what may be here, for messages."""

    def read(self, argument: Argument) -> Value:
        """Return the argument's value; raises `Fault`."""

    def write(self, value: Value) -> str:
        """Return the control text that reads back as `value`; raises ValueError if none does."""


def quote(text: str) -> str:
    """Return `text` as a string of the language, safe on one line whatever it contains."""
    return f'"{text.translate(_ESCAPES)}"'


def argument_place(argument: Argument) -> Location:
    """Return where an argument starts."""
    return Location(argument.line, argument.column)


def alternatives(values: Sequence[str]) -> str:
    """Return "one of a, b, c" for messages."""
    return f"one of {', '.join(values)}"


def refuse(argument: Argument, expected: str, code: DiagnosticCode = DiagnosticCode.INVALID_ARGUMENT_KIND) -> Fault:
    """Return the fault of an argument that is not what its place asks for."""
    return Fault(code, f"{_shown(argument)} cannot stand here; expected {expected}", argument_place(argument))


def _shown(argument: Argument) -> str:
    if isinstance(argument, ListArgument):
        return "a list"
    short = shown(argument.value)
    if argument.kind is TokenKind.STRING:
        return f"the string {quote(short)}"
    return f"the reference ${short}" if argument.kind is TokenKind.REFERENCE else f"the {argument.kind.value} {short}"


def _atom(argument: Argument, expected: str) -> str:
    if isinstance(argument, Token) and argument.kind is TokenKind.ATOM:
        return argument.value
    raise refuse(argument, expected)


def _written_atom(value: Value) -> str:
    if isinstance(value, str) and _ATOM.fullmatch(value):
        return value
    raise ValueError(f"{value!r} cannot be written as an atom")


class Text(Struct, frozen=True):
    """Free text: always a string."""

    expected: str = "a quoted string"

    def read(self, argument: Argument) -> str:
        """Return the string's content."""
        if isinstance(argument, Token) and argument.kind is TokenKind.STRING:
            return argument.value
        raise refuse(argument, self.expected)

    def write(self, value: Value) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not text")
        return quote(value)


class Label(Struct, frozen=True):
    """A compact identifier or a string: atom or string give the same value."""

    expected: str = "an atom or a quoted string"
    is_time: bool = False

    def read(self, argument: Argument) -> str:
        """Return the text; a label that is a time must be ISO-8601."""
        if not isinstance(argument, Token) or argument.kind not in (TokenKind.ATOM, TokenKind.STRING):
            raise refuse(argument, self.expected)
        if self.is_time:
            try:
                datetime.fromisoformat(argument.value)
            except ValueError:
                raise refuse(argument, self.expected) from None
        return argument.value

    def write(self, value: Value) -> str:
        """Return an atom if the text is one, else a string."""
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a label")
        return value if _ATOM.fullmatch(value) else quote(value)


class Atom(Struct, frozen=True):
    expected: str = "an atom"

    def read(self, argument: Argument) -> str:
        return _atom(argument, self.expected)

    def write(self, value: Value) -> str:
        return _written_atom(value)


class AtomOf(Struct, frozen=True):
    """An atom of a closed list, letter case kept; `code` is reported for any other atom."""

    values: tuple[str, ...]
    code: DiagnosticCode = DiagnosticCode.INVALID_ARGUMENT_KIND

    @property
    def expected(self) -> str:
        """Name the list."""
        return alternatives(self.values)

    def read(self, argument: Argument) -> str:
        value = _atom(argument, self.expected)
        if value not in self.values:
            raise refuse(argument, self.expected, self.code)
        return value

    def write(self, value: Value) -> str:
        return _written_atom(value)


class Flag(Struct, frozen=True):
    """The atoms `true` and `false`."""

    expected: str = "true or false"

    def read(self, argument: Argument) -> bool:
        value = _atom(argument, self.expected)
        if value not in ("true", "false"):
            raise refuse(argument, self.expected)
        return value == "true"

    def write(self, value: Value) -> str:
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not true or false")
        return "true" if value else "false"


class Number(Struct, frozen=True):
    """A number in `minimum` to `maximum`; `is_whole` takes no fraction. Anything else is reported as `code`."""

    expected: str = "a number"
    is_whole: bool = False
    minimum: float = -math.inf
    maximum: float = math.inf
    code: DiagnosticCode = DiagnosticCode.INVALID_ARGUMENT_KIND

    def read(self, argument: Argument) -> int | float:
        """Return an int for a number without fraction, else a float."""
        value = _number(argument.value) if isinstance(argument, Token) and argument.kind is TokenKind.ATOM else None
        if value is None or (self.is_whole and isinstance(value, float)) or not self.minimum <= value <= self.maximum:
            raise refuse(argument, self.expected, self.code)
        return value

    def write(self, value: Value) -> str:
        """Return the number without an exponent."""
        return _written_number(value)


class NumberOrAtom(Struct, frozen=True):
    """A number, or any other atom as it stands."""

    expected: str = "an atom or a number"

    def read(self, argument: Argument) -> str | int | float:
        """Return the number, or the atom's text."""
        text = _atom(argument, self.expected)
        value = _number(text)
        return text if value is None else value

    def write(self, value: Value) -> str:
        return _written_atom(value) if isinstance(value, str) else _written_number(value)


class AtomList(Struct, frozen=True):
    """A list of atoms, each read by `item`."""

    item: Atom | AtomOf = Atom()

    @property
    def expected(self) -> str:
        """Name the list and its items."""
        return f"a list in brackets, each item {self.item.expected}"

    def read(self, argument: Argument) -> tuple[str, ...]:
        """Return the items in order."""
        if not isinstance(argument, ListArgument):
            raise refuse(argument, self.expected)
        return tuple([self.item.read(item) for item in argument.items])

    def write(self, value: Value) -> str:
        return _written_list(value)


class ReferenceList(Struct, frozen=True):
    """A list of references; `atoms`, if any, may be beside them. References keep their sigil in the value."""

    noun: str
    atoms: tuple[str, ...] = ()
    is_empty_allowed: bool = False

    @property
    def expected(self) -> str:
        """Name the list and its items."""
        also = f" and {alternatives(self.atoms)}" if self.atoms else ""
        some = "" if self.is_empty_allowed else ", at least one"
        return f"a list in brackets of {self.noun}{also}{some}"

    def read(self, argument: Argument) -> tuple[str, ...]:
        """Return the items in order; what the references point to is checked by the validator."""
        if not isinstance(argument, ListArgument) or not (argument.items or self.is_empty_allowed):
            raise refuse(argument, self.expected)
        return tuple([self._item(item) for item in argument.items])

    def _item(self, item: Token) -> str:
        if item.kind is TokenKind.REFERENCE:
            return f"${item.value}"
        if item.value in self.atoms:
            return item.value
        raise refuse(item, self.expected)

    def write(self, value: Value) -> str:
        return _written_list(value)


class Reference(Struct, frozen=True):
    """A reference; what it points to is checked by the validator. The value is the id without sigil."""

    noun: str

    @property
    def expected(self) -> str:
        """Name what the reference has to point to."""
        return f"a reference to {self.noun}, such as $x1"

    def read(self, argument: Argument) -> str:
        if isinstance(argument, Token) and argument.kind is TokenKind.REFERENCE:
            return argument.value
        raise refuse(argument, self.expected)

    def write(self, value: Value) -> str:
        """Return the id with its sigil."""
        return _written_reference(value)


def _number(text: str) -> int | float | None:
    if not _NUMBER.fullmatch(text) or math.isinf(float(text)):
        return None
    return float(text) if "." in text else int(text)


def _written_number(value: Value) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be written as a number")
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    # Without a point it would read back as an int, which need not equal a large float.
    return text if "." in text else f"{text}.0"


def _written_list(value: Value) -> str:
    if not isinstance(value, tuple):
        raise ValueError(f"{value!r} is not a tuple of atoms")
    written = (_written_reference(item[1:]) if item.startswith("$") else _written_atom(item) for item in value)
    return f"[{' '.join(written)}]"


def _written_reference(value: Value) -> str:
    if isinstance(value, str) and ID_PATTERN.fullmatch(value):
        return f"${value}"
    raise ValueError(f"{value!r} cannot be written as a reference")

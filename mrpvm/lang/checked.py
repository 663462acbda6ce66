"""What the validator hands to the interpreter."""

from typing import NamedTuple

from mrpvm.lang.arguments import Value
from mrpvm.lang.schema import Command, ObjectKind
from mrpvm.lang.tokens import ControlStatement


class CheckedStatement(NamedTuple):
    """A statement that obeys the table: its command, its values, and the kind of its first reference, if any."""

    statement: ControlStatement
    command: Command
    values: tuple[Value, ...]
    target: ObjectKind | None

"""What the tokenizer and the parser hand on: tokens, their lines, statements."""

import re
from enum import Enum
from typing import NamedTuple

ID_PATTERN = re.compile(r"[A-Za-z0-9_:-]+")
"""A statement id or a reference behind its sigil."""


class TokenKind(Enum):
    """Kinds of token; the value is the kind's name in messages."""

    ATOM = "atom"
    STRING = "string"
    REFERENCE = "reference"
    STATEMENT_ID = "statement id"
    LIST_OPEN = "["
    LIST_CLOSE = "]"


class Location(NamedTuple):
    """A place in a document; line and column count from 1."""

    line: int
    column: int


class Token(NamedTuple):
    """One token; `value` has no quotes, escapes or sigil left in it."""

    kind: TokenKind
    value: str
    line: int
    column: int


class TokenLine(NamedTuple):
    """The tokens of one line that is not blank, with its text for messages."""

    number: int
    text: str
    tokens: tuple[Token, ...]


class ListArgument(NamedTuple):
    """A bracketed list of atoms and references; the place is that of its opening bracket."""

    items: tuple[Token, ...]
    line: int
    column: int


type Argument = Token | ListArgument


class ControlStatement(NamedTuple):
    """One parsed statement; `command` is an empty atom behind the id when the line has nothing more."""

    id: str
    command: Token
    arguments: tuple[Argument, ...]
    line: int
    column: int
    text: str

    @property
    def end_column(self) -> int:
        """Return the column behind the statement's last character."""
        return len(self.text.rstrip(" \t")) + 1

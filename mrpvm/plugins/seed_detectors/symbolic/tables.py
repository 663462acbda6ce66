"""Tables in a text; each row is about the thing in its first cell."""

import re
from collections.abc import Sequence

from msgspec import Struct

from mrpvm.english.words.lexicon import listed

_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|(?:\s*:?-{2,}:?\s*\|)+\s*$")
_ESCAPED = re.compile(r"(?<!\\)\|")
_PLAIN_HEADS = listed("plain_heads") | {""}
"""Heads of a second column without a meaning of their own: the first column's cells are the labels."""
_MARKS = re.compile(r"^[*_`]+|[*_`]+$")


class Row(Struct, frozen=True):
    """A row of a table: its first cell, which may be empty, and its other cells with the heads of their columns."""

    name: str
    cells: tuple[tuple[str, str], ...]

    @property
    def value(self) -> str | None:
        """Return the only other cell if the head of its column has no meaning, else None."""
        is_plain = len(self.cells) == 1 and self.cells[0][0].lower() in _PLAIN_HEADS
        return self.cells[0][1] if is_plain else None


def first_table(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of the first table's head and of the line after the table, or None; a rule follows the head."""
    for start in range(len(lines) - 2):
        if _ROW.match(lines[start]) and _RULE.match(lines[start + 1]):
            end = start + 2
            while end < len(lines) and _ROW.match(lines[end]):
                end += 1
            return start, end
    return None


def table_rows(table: Sequence[str]) -> list[Row] | None:
    """Return the rows of a table, None if one does not fit its head."""
    head, *rows = [_cells(line) for line in (table[0], *table[2:])]
    if len(head) < 2 or (len(head) > 2 and not all(head[1:])) or any(len(row) != len(head) for row in rows):
        return None
    return [Row(row[0], tuple((label, cell) for label, cell in zip(head[1:], row[1:], strict=True) if cell))
            for row in rows]  # fmt: skip


def _cells(line: str) -> list[str]:
    parts = _ESCAPED.split(line.strip())[1:-1]
    return [_MARKS.sub("", part.strip().replace("\\|", "|")).strip() for part in parts]

"""Tables as Markdown: CSV files, and the rows that other formats have."""

import csv
from collections.abc import Iterator, Sequence

_DELIMITERS = ",;\t|"
_BLOCK_CHARS = 2_000
"""About how long a table may be until another with the same head begins: a source is not cut within such a block."""

type Rows = Sequence[Sequence[str]]


def table_text(rows: Rows) -> str:
    """Return a Markdown table; a long one is several, each with the head.

    Args:
        rows: the head and the others, each with as many cells.
    """
    return "\n\n".join("\n".join(block) for block in _blocks(rows))


def csv_text(text: str) -> str:
    """Return a CSV text as a Markdown table; the text itself if its rows are not all as long as its head."""
    rows = next((rows for delimiter in _DELIMITERS if (rows := _rows_by(text, delimiter)) is not None), None)
    return text if rows is None else table_text(rows)


def _blocks(rows: Rows) -> Iterator[list[str]]:
    head = [_line(rows[0]), f"|{' --- |' * len(rows[0])}"]
    block, chars = list(head), 0
    for row in rows[1:]:
        line = _line(row)
        if chars and chars + len(line) > _BLOCK_CHARS:
            yield block
            block, chars = list(head), 0
        block.append(line)
        chars += len(line)
    yield block


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', r'\|') for cell in cells)} |"


def _rows_by(text: str, delimiter: str) -> list[list[str]] | None:
    """Return the rows if this delimiter gives at least two of at least two cells, all as long as the first."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True):
            if not any(cell.strip() for cell in row):
                continue
            if len(row) < 2 or (rows and len(row) != len(rows[0])):
                return None
            rows.append(row)
    except csv.Error:
        return None
    return rows if len(rows) > 1 else None

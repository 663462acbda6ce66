"""Renders statements as answer text in the output form, every statement with its source mark."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from mrpvm.english.sentences.statements import Statement
from mrpvm.english.words.text import SENTENCE_MARKS, sentences

BRIEF_CLAIMS = 3
STEP_LIMIT = 7


@dataclass(slots=True)
class Citations:
    """Numbers sources in the order in which they are first cited."""

    unit_ids: list[str] = field(default_factory=list)

    def mark(self, unit_id: str) -> str:
        """Return the mark of a unit, counted from 1."""
        if unit_id not in self.unit_ids:
            self.unit_ids.append(unit_id)
        return f"[{self.unit_ids.index(unit_id) + 1}]"


class Rendered(Struct, frozen=True):
    """Answer text and the units it cites, in the order of their marks."""

    text: str
    cited_unit_ids: tuple[str, ...]


def _closed(text: str) -> str:
    return text if text[-1:] in SENTENCE_MARKS + ":" else text + "."


def _cited(statement: Statement, citations: Citations, quoted: set[str]) -> str:
    """Return a statement with its mark, after the not yet quoted sentences with its pronoun's antecedent."""
    mark = citations.mark(statement.unit_id)
    named = f"{statement.speaker}: "
    before = [text for text in sentences(statement.before or "") if text not in quoted]
    lead = f"{_closed(' '.join(before))} " if before else ""
    text = statement.text.removeprefix(named) if lead.startswith(named) else statement.text
    quoted |= {*before, statement.text}
    return f"{lead}{_closed(text)} {mark}"


def sentences_text(statements: Iterable[Statement], opening: str = "") -> Rendered:
    """Return the statements, each with its mark; a sentence that a pronoun needs is quoted once before it."""
    citations = Citations()
    quoted: set[str] = set()
    parts = [_cited(statement, citations, quoted) for statement in statements if statement.text not in quoted]
    return Rendered(" ".join([opening, *parts] if opening else parts), tuple(citations.unit_ids))


def value_text(value: str, statements: Sequence[Statement]) -> Rendered:
    """Return only the value; its sources are cited beside the text, not in it."""
    return Rendered(value, tuple(dict.fromkeys(item.unit_id for item in statements)))


def json_text(value: str, statements: Sequence[Statement]) -> Rendered:
    """Return a JSON object with the answer and its sources; marks would break the form."""
    unit_ids = list(dict.fromkeys(item.unit_id for item in statements))
    document = {"status": "answered", "answer": value, "sources": unit_ids}
    return Rendered(json.dumps(document, ensure_ascii=False), tuple(unit_ids))


def bullets_text(statements: Sequence[Statement]) -> Rendered:
    """Return a bullet list, one item per line."""
    citations = Citations()
    lines = [f"- {item.text} {citations.mark(item.unit_id)}" for item in statements]
    return Rendered("\n".join(lines), tuple(citations.unit_ids))


def steps_text(statements: Sequence[Statement]) -> Rendered:
    """Return numbered steps, at most seven."""
    citations = Citations()
    numbered = enumerate(statements[:STEP_LIMIT], 1)
    lines = [f"{number}. {_closed(item.text)} {citations.mark(item.unit_id)}" for number, item in numbered]
    return Rendered("\n".join(lines), tuple(citations.unit_ids))


def table_text(rows: Sequence[tuple[str, str, Statement]], headings: tuple[str, str]) -> Rendered:
    """Return a Markdown table of two columns; the second cell of each row ends with the mark."""
    citations = Citations()
    lines = [f"| {headings[0]} | {headings[1]} |", "| --- | --- |"]
    for name, text, statement in rows:
        lines.append(f"| {_cell(name)} | {_cell(text)} {citations.mark(statement.unit_id)} |")
    return Rendered("\n".join(lines), tuple(citations.unit_ids))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def comparison_text(groups: Mapping[str, Sequence[Statement]]) -> Rendered:
    """Return the statements about each compared thing side by side, under its name."""
    citations = Citations()
    lines = []
    for name, statements in groups.items():
        quoted: set[str] = set()
        lines.append(f"- **{name}**: {' '.join(_cited(statement, citations, quoted) for statement in statements)}")
    return Rendered("\n".join(lines), tuple(citations.unit_ids))

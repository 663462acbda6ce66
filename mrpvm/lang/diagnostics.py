"""What is wrong with a control document, where, and what was expected there.

A diagnostic speaks to people and to the detector that wrote the document: its text shows the line with a caret
under the place. Its dictionary form is the spec's `{code, class, line, column, statementId, field, message}`.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mrpvm.errors import MRPError

SHOWN_LINE_CHARS = 120
"""A longer source line is cut to this many characters around the caret."""
SHOWN_VALUE_CHARS = 40
"""A longer value is cut to this many characters in a message."""
REPORTED_DIAGNOSTICS_COUNT = 100
"""Of more diagnostics only these go into an error's details and report; the count of all is beside them."""


class DiagnosticCode(StrEnum):
    """Stable codes of everything that can be wrong."""

    MALFORMED_LINE = "MALFORMED_LINE"
    INVALID_STATEMENT_ID = "INVALID_STATEMENT_ID"
    INVALID_ARGUMENT_COUNT = "INVALID_ARGUMENT_COUNT"
    INVALID_ARGUMENT_KIND = "INVALID_ARGUMENT_KIND"
    UNKNOWN_COMMAND = "UNKNOWN_COMMAND"
    COMMAND_NOT_ALLOWED = "COMMAND_NOT_ALLOWED"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    INVALID_FIELD_FOR_OBJECT = "INVALID_FIELD_FOR_OBJECT"
    DUPLICATE_STATEMENT_ID = "DUPLICATE_STATEMENT_ID"
    CONSTRUCTOR_REQUIRED_FIRST = "CONSTRUCTOR_REQUIRED_FIRST"
    UNRESOLVED_REFERENCE = "UNRESOLVED_REFERENCE"
    MISSING_REQUIRED_FIELD = "MISSING_REQUIRED_FIELD"
    INCOMPLETE_SYMBOLIC_FACT = "INCOMPLETE_SYMBOLIC_FACT"
    INVALID_ACT_VALUE = "INVALID_ACT_VALUE"
    INVALID_ROLE_VALUE = "INVALID_ROLE_VALUE"
    INVALID_RELATION_VALUE = "INVALID_RELATION_VALUE"
    INVALID_PHASE_SCOPE = "INVALID_PHASE_SCOPE"
    INVALID_CONFIDENCE_VALUE = "INVALID_CONFIDENCE_VALUE"
    CLAIM_AND_PROCEDURE_CONFLICT = "CLAIM_AND_PROCEDURE_CONFLICT"
    INVALID_HIERARCHY = "INVALID_HIERARCHY"
    INVALID_STATUS_TRANSITION = "INVALID_STATUS_TRANSITION"


class DiagnosticClass(StrEnum):
    """The classes codes fall into."""

    LEXICAL = "lexical"
    PARSE = "parse"
    UNKNOWN_COMMAND = "unknown command"
    INVALID_FIELD = "invalid field"
    DUPLICATE_ID = "duplicate id"
    UNRESOLVED_REFERENCE = "unresolved reference"
    MISSING_FIELD = "missing field"
    SEMANTIC_CONFLICT = "semantic conflict"
    INVALID_TRANSITION = "invalid transition"


CLASS_OF_CODE = {
    DiagnosticCode.MALFORMED_LINE: DiagnosticClass.PARSE,
    DiagnosticCode.INVALID_STATEMENT_ID: DiagnosticClass.PARSE,
    DiagnosticCode.INVALID_ARGUMENT_COUNT: DiagnosticClass.PARSE,
    DiagnosticCode.INVALID_ARGUMENT_KIND: DiagnosticClass.PARSE,
    DiagnosticCode.UNKNOWN_COMMAND: DiagnosticClass.UNKNOWN_COMMAND,
    DiagnosticCode.COMMAND_NOT_ALLOWED: DiagnosticClass.UNKNOWN_COMMAND,
    DiagnosticCode.UNKNOWN_FIELD: DiagnosticClass.INVALID_FIELD,
    DiagnosticCode.INVALID_FIELD_FOR_OBJECT: DiagnosticClass.INVALID_FIELD,
    DiagnosticCode.DUPLICATE_STATEMENT_ID: DiagnosticClass.DUPLICATE_ID,
    DiagnosticCode.CONSTRUCTOR_REQUIRED_FIRST: DiagnosticClass.UNRESOLVED_REFERENCE,
    DiagnosticCode.UNRESOLVED_REFERENCE: DiagnosticClass.UNRESOLVED_REFERENCE,
    DiagnosticCode.MISSING_REQUIRED_FIELD: DiagnosticClass.MISSING_FIELD,
    DiagnosticCode.INCOMPLETE_SYMBOLIC_FACT: DiagnosticClass.MISSING_FIELD,
    DiagnosticCode.INVALID_ACT_VALUE: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_ROLE_VALUE: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_RELATION_VALUE: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_PHASE_SCOPE: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_CONFIDENCE_VALUE: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.CLAIM_AND_PROCEDURE_CONFLICT: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_HIERARCHY: DiagnosticClass.SEMANTIC_CONFLICT,
    DiagnosticCode.INVALID_STATUS_TRANSITION: DiagnosticClass.INVALID_TRANSITION,
}
"""The class of each code; only the tokenizer names another one, `lexical`, for its MALFORMED_LINE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing that is wrong; `error_class` is the spec's `class`.

    `statement_id` and `field` are None where the place belongs to none; `source_line` is empty for a document-level
    error.
    """

    code: DiagnosticCode
    error_class: DiagnosticClass
    line: int
    column: int
    message: str
    statement_id: str | None = None
    field: str | None = None
    source_line: str = dataclasses.field(default="", compare=False)

    def as_dict(self) -> dict[str, str | int | None]:
        """Return the JSON form with the spec's keys."""
        return {
            "code": self.code.value,
            "class": self.error_class.value,
            "line": self.line,
            "column": self.column,
            "statementId": self.statement_id,
            "field": self.field,
            "message": self.message,
        }

    def __str__(self) -> str:
        head = f"line {self.line}, column {self.column}: {self.code.value} ({self.error_class.value})"
        picture = _line_with_caret(self.source_line, self.column) if self.source_line else []
        return "\n".join([head, *picture, f"  {self.message}"])


class ControlLanguageError(MRPError):
    """A control document was refused as a whole; `diagnostics` is never empty."""

    default_code = "CONTROL_LANGUAGE_INVALID"
    module = "lang"

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first, others = self.diagnostics[0], len(self.diagnostics) - 1
        more = f" (and {others} more)" if others else ""
        reported = self.diagnostics[:REPORTED_DIAGNOSTICS_COUNT]
        super().__init__(
            f"control document refused at line {first.line}: {first.message}{more}",
            details={
                "diagnostics": [diagnostic.as_dict() for diagnostic in reported],
                "diagnosticCount": len(self.diagnostics),
            },
        )

    @property
    def report(self) -> str:
        """Return the diagnostics with their source lines and carets, for people and for a corrective retry."""
        shown_ones = [str(diagnostic) for diagnostic in self.diagnostics[:REPORTED_DIAGNOSTICS_COUNT]]
        hidden_count = len(self.diagnostics) - len(shown_ones)
        return "\n\n".join([*shown_ones, f"and {hidden_count} more"] if hidden_count else shown_ones)


def shown(text: str) -> str:
    """Return `text` as it may be in a message: short, without anything unprintable."""
    short = text if len(text) <= SHOWN_VALUE_CHARS else text[: SHOWN_VALUE_CHARS - 1] + "…"
    return _printable(short)


def _printable(text: str) -> str:
    return "".join([char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text])


def _line_with_caret(text: str, column: int) -> list[str]:
    """Return the source line and a caret under `column`, cut to a window around it; tabs keep their width."""
    start = max(0, min(column - 1 - SHOWN_LINE_CHARS // 2, len(text) - SHOWN_LINE_CHARS))
    end = start + SHOWN_LINE_CHARS
    before, after = "…" if start else "", "…" if end < len(text) else ""
    under = "".join(["\t" if char == "\t" else " " for char in text[start : column - 1]])
    return [f"  {before}{_printable(text[start:end])}{after}", f"  {' ' * len(before)}{under}^"]

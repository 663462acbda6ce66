"""SOP Lang Control: the text in which plugins tell the machine what it must treat deterministically.

    text -> tokenizer -> parser -> validator -> interpreter -> AdmittedDocument -> serializer -> text

Admission is all or nothing. The language itself is one table, `mrpvm.lang.schema`.
"""

from mrpvm.lang.arguments import quote
from mrpvm.lang.diagnostics import ControlLanguageError, Diagnostic, DiagnosticClass, DiagnosticCode
from mrpvm.lang.interpreter import admit
from mrpvm.lang.objects import (
    AdmittedBranch,
    AdmittedCandidate,
    AdmittedChallenge,
    AdmittedComparison,
    AdmittedDocument,
    AdmittedIntent,
    AdmittedKU,
    AdmittedObject,
    AdmittedObjective,
    AdmittedPlugin,
    AdmittedPolicy,
    AdmittedResult,
    AdmittedSeed,
    AdmittedSubproblem,
    AdmittedValidation,
    RelationEdge,
    RuntimeChange,
    StatusEvent,
)
from mrpvm.lang.schema import DocumentKind, ObjectKind
from mrpvm.lang.serializer import serialize
from mrpvm.lang.writer import ControlWriter

__all__ = [
    "AdmittedBranch",
    "AdmittedCandidate",
    "AdmittedChallenge",
    "AdmittedComparison",
    "AdmittedDocument",
    "AdmittedIntent",
    "AdmittedKU",
    "AdmittedObject",
    "AdmittedObjective",
    "AdmittedPlugin",
    "AdmittedPolicy",
    "AdmittedResult",
    "AdmittedSeed",
    "AdmittedSubproblem",
    "AdmittedValidation",
    "ControlLanguageError",
    "ControlWriter",
    "Diagnostic",
    "DiagnosticClass",
    "DiagnosticCode",
    "DocumentKind",
    "ObjectKind",
    "RelationEdge",
    "RuntimeChange",
    "StatusEvent",
    "admit",
    "quote",
    "serialize",
]

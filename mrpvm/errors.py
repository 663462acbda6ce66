"""Every error the machine or the server raises on purpose.

    MRPError
    ├── InvalidInput            the caller sent something that cannot be accepted
    ├── NotFound                the named thing does not exist for this caller
    ├── Expired                 it existed and its time ran out
    ├── Conflict                it is busy, dirty or was changed meanwhile
    ├── TooLarge                a documented limit was passed
    ├── Unreadable              a file is damaged, protected, or of a format that is not read
    ├── Unavailable             cannot be served now, may be later
    │   └── StorageUnavailable  what is stored cannot be read or written
    │       ├── StorageFull     there is no room to write
    │       └── StorageDamaged  a stored value is not what was written
    ├── ModelFailed             a language model's provider did not deliver
    │   ├── ModelTimeout        it took too long
    │   └── AnswerDenied        it said what policy denies
    ├── RegistryError           a plugin cannot be registered
    ├── ControlLanguageError    a control document was refused (mrpvm.lang)
    └── TurnFailed              a turn ended without an answer
        ├── StageExhausted      no plugin of a stage delivered
        ├── ValidationRejected  validators refused every candidate
        ├── BudgetExceeded      calls ran out
        ├── EngineTimeout       time ran out
        ├── TurnCancelled       somebody stopped it
        └── TurnInterrupted     its process ended before it did

Codes are stable strings; which HTTP status belongs to a code is the API's table, not known here.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict


class ErrorRecord(TypedDict):
    """An error as stored data."""

    code: str
    message: str
    details: Mapping[str, Any]


class MRPError(Exception):
    """Base of all deliberate errors: a stable code, a sentence for people, and JSON details."""

    default_code: ClassVar[str] = "SERVER_INTERNAL_ERROR"
    module: ClassVar[str] = "mrpvm"

    def __init__(self, message: str, *, code: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.details = dict(details or {})

    def as_record(self) -> ErrorRecord:
        """Return the error as stored data."""
        return {"code": self.code, "message": self.message, "details": self.details}


class InvalidInput(MRPError):
    """The request names or contains something that is not acceptable."""

    default_code = "INVALID_INPUT"
    module = "api"


class NotFound(MRPError):
    """The named thing does not exist, or not for this caller."""

    default_code = "NOT_FOUND"
    module = "api"


class Expired(MRPError):
    """The session's idle time ran out; it stays readable."""

    default_code = "SESSION_EXPIRED"
    module = "conversation"


class Conflict(MRPError):
    """The object is busy, has unsaved changes, or was changed concurrently."""

    default_code = "CONFLICT"
    module = "conversation"


class TooLarge(MRPError):
    """Input is over a documented limit; `details` names the limit and the size."""

    default_code = "BODY_TOO_LARGE"
    module = "api"


class Unreadable(MRPError):
    """A source's file cannot be read as text."""

    default_code = "SOURCE_UNREADABLE"
    module = "knowledge"


class Unavailable(MRPError):
    """The server cannot do this now: shutting down, full, or without the model it needs."""

    default_code = "UNAVAILABLE"
    module = "conversation"


class StorageUnavailable(Unavailable):
    """What is stored cannot be read or written: ends the turn, for no other plugin could do better."""


class StorageFull(StorageUnavailable):
    """The disk is full; what is stored can still be read."""

    default_code = "INSUFFICIENT_STORAGE"


class StorageDamaged(StorageUnavailable):
    """A stored value is not what was written; `details` name its column. It is replaced soon."""

    default_code = "STORED_VALUE_DAMAGED"


class ModelFailed(MRPError):
    """A language model's provider failed, refused or answered something unreadable."""

    default_code = "LLM_PROVIDER_ERROR"
    module = "llm"


class ModelTimeout(ModelFailed):
    """A language model did not answer in time."""

    default_code = "LLM_TIMEOUT"


class AnswerDenied(ModelFailed):
    """A language model answered what policy denies; nothing of it is kept."""

    default_code = "ANSWER_DENIED"


MODEL_ERROR_CODES = frozenset({"LLM_NOT_AVAILABLE", "LLM_PROVIDER_ERROR", "LLM_TIMEOUT", "ANSWER_DENIED"})
"""Codes that blame the model; a turn or source that fails for want of one keeps it, and with it its status."""
MODEL_FAILURE_CODES = MODEL_ERROR_CODES - {"LLM_NOT_AVAILABLE"}
"""Those of a model that is configured and was asked."""


class RegistryError(MRPError):
    """A plugin's descriptor or id is not acceptable."""

    default_code = "PLUGIN_REGISTRY_INVALID_DESCRIPTOR"
    module = "plugins"


class TurnFailed(MRPError):
    """A turn ended without an answer; nothing but its explainability entry is kept."""

    default_code = "TURN_FAILED"
    module = "kernel"


class StageExhausted(TurnFailed):
    """Every candidate of a stage was tried; details: `{stage, pluginsTried, diagnostics}`."""

    default_code = "PLUGIN_STAGE_EXHAUSTED"


class ValidationRejected(TurnFailed):
    """The validators refused every answer that was found."""

    default_code = "VALIDATION_REJECTED"


class BudgetExceeded(TurnFailed):
    """The turn used more model calls than it may."""

    default_code = "ENGINE_BUDGET_EXCEEDED"


class EngineTimeout(TurnFailed):
    """The turn's time limit passed."""

    default_code = "ENGINE_TIMEOUT"


class TurnCancelled(TurnFailed):
    """A person or client stopped the turn."""

    default_code = "TURN_CANCELLED"


class TurnInterrupted(TurnFailed):
    """The turn's process ended before the turn did."""

    default_code = "TURN_INTERRUPTED"

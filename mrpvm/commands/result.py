"""The result of a command."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict


class CommandEnvelope(TypedDict):
    """What a command gave."""

    status: Literal["ok", "error"]
    code: str
    message: str
    data: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The envelope of every command; equal state and equal text give an equal one, byte for byte."""

    status: Literal["ok", "error"]
    code: str
    message: str
    data: Mapping[str, Any] | None = None

    def as_record(self) -> CommandEnvelope:
        """Return the envelope as stored data."""
        return {
            "status": self.status,
            "code": self.code,
            "message": self.message,
            "data": None if self.data is None else dict(self.data),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that ran, with its input and output."""

    provider: str
    tool: str
    input: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """A command's result, and what of the session it changes: names of `SessionFacts` with their new values."""

    result: CommandResult
    changes: Mapping[str, Any] = field(default_factory=dict)
    tool_call: ToolCall | None = None


def ok(code: str, message: str, data: Mapping[str, Any] | None = None, **changes: Any) -> CommandOutcome:
    return CommandOutcome(result=CommandResult(status="ok", code=code, message=message, data=data), changes=changes)


def error(code: str, message: str, data: Mapping[str, Any] | None = None) -> CommandOutcome:
    """Return a failure, which changes nothing; the message gets its `Error: `."""
    return CommandOutcome(result=CommandResult(status="error", code=code, message=f"Error: {message}", data=data))


def invalid_args(message: str, command: str, subcommand: str | None = None) -> CommandOutcome:
    """Return the refusal of arguments that do not fit."""
    named = {"command": command} | ({"subcommand": subcommand} if subcommand is not None else {})
    return error("invalid_args", message, named)

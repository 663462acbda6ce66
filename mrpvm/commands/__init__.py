"""Deterministic commands: what begins with `/` is answered from the session's own state, never by a model.

grammar (text -> command) -> dispatch (command -> built-in, skill or refusal) -> result (the envelope)
"""

from mrpvm.commands.dispatch import BUILTINS, RESERVED, ResolvedCommand, answer, resolve
from mrpvm.commands.facts import MemoryQuery, MemoryRecord, MemoryStore, Ports, SessionFacts
from mrpvm.commands.grammar import is_command
from mrpvm.commands.orchestration import Orchestration
from mrpvm.commands.result import CommandOutcome, CommandResult, ToolCall

__all__ = [
    "BUILTINS",
    "RESERVED",
    "CommandOutcome",
    "CommandResult",
    "MemoryQuery",
    "MemoryRecord",
    "MemoryStore",
    "Orchestration",
    "Ports",
    "ResolvedCommand",
    "SessionFacts",
    "ToolCall",
    "answer",
    "is_command",
    "resolve",
]

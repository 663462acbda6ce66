"""What the payload of a node says beside its input and output: its `meta`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mrpvm.values import Usage
from mrpvm.wire import OPTIONAL, on_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameState:
    """A frame's comparison state as it stands when the frame closes; None where there was none.

    `rejected_by` is the validator that did not let a challenged answer stand.
    """

    open_comparisons: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    resolved_differences: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    open_questions: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    challenges: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    frontier_size: int | None = field(default=None, metadata=OPTIONAL)
    branch_families: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    rejected_by: str | None = field(default=None, metadata=OPTIONAL)


NO_STATE = FrameState()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameBudgets:
    """What was left when the frame closed."""

    remaining_llm_calls: int = field(metadata=on_wire("remainingLLMCalls"))
    remaining_time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameMeta(FrameState):
    """How a frame closed."""

    closure_reason: str
    depth: int
    max_depth: int
    budgets: FrameBudgets


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMeta:
    """How a plugin call went; `requests` are those really sent to models, redacted."""

    llm_calls: int
    sufficient: bool | None
    model: str | None
    model_role: str | None
    warnings: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    usage: Usage | None = field(default=None, metadata=OPTIONAL)
    requests: Sequence[Mapping[str, Any]] | None = field(default=None, metadata=OPTIONAL)

"""What the payload of a node says beside its input and output: its `meta`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct

from mrpvm.values import Usage
from mrpvm.wire import OPTIONAL, OnWire


class FrameState(Struct, frozen=True, kw_only=True):
    """A frame's comparison state as it stands when the frame closes; None where there was none.

    `rejected_by` is the validator that did not let a challenged answer stand.
    """

    open_comparisons: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    resolved_differences: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    open_questions: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    challenges: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    frontier_size: Annotated[int | None, OPTIONAL] = None
    branch_families: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    rejected_by: Annotated[str | None, OPTIONAL] = None


NO_STATE = FrameState()


class FrameBudgets(Struct, frozen=True, kw_only=True):
    """What was left when the frame closed."""

    remaining_llm_calls: Annotated[int, OnWire("remainingLLMCalls")]
    remaining_time_ms: int


class FrameMeta(FrameState, frozen=True, kw_only=True):
    """How a frame closed."""

    closure_reason: str
    depth: int
    max_depth: int
    budgets: FrameBudgets


class CallMeta(Struct, frozen=True, kw_only=True):
    """How a plugin call went; `requests` are those really sent to models, redacted."""

    llm_calls: int
    sufficient: bool | None
    model: str | None
    model_role: str | None
    warnings: Annotated[tuple[str, ...] | None, OPTIONAL] = None
    usage: Annotated[Usage | None, OPTIONAL] = None
    requests: Annotated[Sequence[Mapping[str, Any]] | None, OPTIONAL] = None

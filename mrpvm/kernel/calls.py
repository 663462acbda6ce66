"""The requests of a frame's program to the scheduler, and the recording of plugin calls.

Programs are generators: they yield a `PluginCall` or a `Fork` and are resumed with its result. So a turn's rules are
plain sequential code, and only the scheduler deals with threads, timeouts and parallelism.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from copy import replace
from typing import Any, Literal

from msgspec import Struct

from mrpvm.contracts import (
    CallContext,
    CallMetadata,
    Descriptor,
    Detection,
    Plugin,
    PluginError,
    Retrieval,
    Solution,
    Validation,
)
from mrpvm.field_types import misfit
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.llm.recorder import Recorder
from mrpvm.trace.events import Cause, PluginStarted
from mrpvm.values import Plan, Selection, StageRecord
from mrpvm.wire import WireWriter, first_text, to_wire
from mrpvm.wrappers.wrapper import Wrapper

SNIPPET_CHARS = 300
RESULT_BYTES = 1_048_576
"""Most that a plugin in Python may return, as JSON. Validators and the trace read all of it."""
_TOO_LARGE = "PLUGIN_OUTPUT_TOO_LARGE"
_SHIPPED = "mrpvm.plugins."
RESULTS: Mapping[str, type] = {
    "sd-plugin": Detection,
    "kb-plugin": Retrieval,
    "gs-plugin": Solution,
    "val-plugin": Validation,
    "mrp-plan-plugin": Plan,
}
"""What the plugins of a family return."""


class Writes(Struct, frozen=True, kw_only=True):
    """The labels of the pieces of an answer that a plugin writes."""

    plugin_id: str
    is_draft: bool
    used: Selection


class PluginCall(Struct, frozen=True, kw_only=True):
    """A request to make one plugin call; `writes` is None unless a client streams the answer."""

    execution_id: str
    frame: Frame
    descriptor: Descriptor
    invoke: Callable[[CallContext], Any]
    writes: Writes | None = None


class CallReturn(Struct, frozen=True, kw_only=True):
    """The reply to a `PluginCall`: the plugin's value, or the error in its place.

    `recorder` is what the call said to models, where it was recorded and is not made again.
    """

    value: Any = None
    error: PluginError | None = None
    skipped: bool = False
    recorder: Recorder | None = None


type Replies = Callable[[PluginCall], CallReturn | None]
"""Returns the recorded reply of a call, None if the call must be made."""


def unknown_reply(call: PluginCall) -> None:
    """Return None: every call has to be made."""


class Fork(Struct, frozen=True):
    """A request to run programs in parallel; the reply lists their results or errors in order."""

    programs: "tuple[Program[Any], ...]"


type Program[Result] = Generator[PluginCall | Fork, Any, Result]


class Execution(Struct, frozen=True, kw_only=True):
    """One finished plugin call; `value` is None unless the plugin returned a valid result."""

    id: str
    plugin_id: str
    status: str
    value: Any = None
    error: PluginError | None = None

    def then(self, kind: Literal["flow", "retry"]) -> Cause:
        """Return the cause of an execution that follows from this one."""
        return Cause(kind=kind, execution_id=self.id)


class CallPlace(Struct, frozen=True):
    """The position of a call in its frame, and its cause."""

    slot: int
    attempt: int
    cause: Cause | None


class Call(Struct, frozen=True, kw_only=True):
    """One plugin call to be made: the plugin, its place in the graph, the input and the reason.

    `judge` returns what is wrong with a valid value; `remarks` are asked for after it and recorded with the execution.
    """

    stage: str
    plugin: Plugin | Wrapper
    slot: int
    attempt: int
    given: Any
    invoke: Callable[[CallContext], Any]
    cause: Cause | None = None
    judge: Callable[[Any], PluginError | None] = lambda value: None
    writes: Writes | None = None
    remarks: Callable[[], Sequence[str]] = tuple


def call_plugin(run: TurnRun, frame: Frame, call: Call) -> Program[Execution]:
    """Make one plugin call and record it as one execution of the graph.

    The execution is an `error` if the value is not of the family's types or `call.judge` rejects it.
    """
    descriptor = call.plugin.descriptor
    execution_id = frame.execution_id(call.slot, call.attempt)
    run.execution_started(
        PluginStarted(
            execution_id=execution_id,
            frame_id=frame.id,
            stage=call.stage,
            plugin_id=descriptor.id,
            plugin_name=descriptor.name or descriptor.id,
            plugin_type=descriptor.type,
            cause=call.cause,
            attempt=call.attempt,
            input_snippet=_snippet(call.given),
        )
    )
    started_ms = run.budget.elapsed_ms
    reply: CallReturn = yield PluginCall(
        execution_id=execution_id, frame=frame, descriptor=descriptor, invoke=call.invoke, writes=call.writes
    )
    status, error = _status(call, reply)
    # What is too large is read by nobody, the trace included.
    output = None if error is not None and error.code == _TOO_LARGE else reply.value
    reported: Any = getattr(output, "metadata", None)
    is_fitting = _is_type_checked(call.plugin) or misfit(reported, CallMetadata) is None
    metadata = run.metadata_of(execution_id, reported if is_fitting and reported is not None else CallMetadata())
    if remarks := call.remarks():
        metadata = replace(metadata, warnings=(*metadata.warnings, *remarks))
    record = StageRecord(
        stage=call.stage,
        plugin_id=descriptor.id,
        status=status,
        duration_ms=run.budget.elapsed_ms - started_ms,
        llm_calls=metadata.llm_calls,
        sufficient=status == "success" if call.stage == "kb" else None,
        frame_id=frame.id,
    )
    run.execution_finished(
        execution_id,
        record,
        metadata,
        to_wire(error),
        _snippet(output),
        {"input": call.given, "output": output},
    )
    frame.last_execution_id = execution_id
    frame.calls.settle(0, metadata.llm_calls)
    value = output if error is None else None
    return Execution(id=execution_id, plugin_id=descriptor.id, status=status, value=value, error=error)


def _status(call: Call, reply: CallReturn) -> tuple[str, PluginError | None]:
    if reply.skipped:
        return "skipped-budget", reply.error
    if reply.error is not None:
        return "error", reply.error
    violation = _violation(call, reply.value)
    if violation is not None:
        return "error", violation
    status = "success" if call.plugin.descriptor.type == "mrp-plan-plugin" else reply.value.status
    if status == "error":
        return "error", reply.value.error or PluginError(code="PLUGIN_ERROR", message="The plugin gave no reason.")
    refused = call.judge(reply.value)
    return (status, None) if refused is None else ("error", refused)


def _violation(call: Call, value: Any) -> PluginError | None:
    """Return what is wrong with types or size of a plugin's value; an external program's is made by its wrapper."""
    family = call.plugin.descriptor.type
    if isinstance(call.plugin, Wrapper) or (value is None and family == "mrp-plan-plugin"):
        return None
    if _is_type_checked(call.plugin):
        return None
    complaint = misfit(value, RESULTS[family])
    if complaint is not None:
        return PluginError(code="PLUGIN_CONTRACT_VIOLATION", message=complaint)
    try:
        size = len(WireWriter().json(value))
    except RecursionError:
        return PluginError(code=_TOO_LARGE, message="The value holds itself, or is nested too deeply for JSON.")
    if size > RESULT_BYTES:
        return PluginError(
            code=_TOO_LARGE, message=f"The value has {size:,} bytes as JSON; {RESULT_BYTES:,} are allowed."
        )
    return None


def _is_type_checked(plugin: Plugin | Wrapper) -> bool:
    """Return whether mypy has seen all that a plugin returns: it is shipped, and no model's reply goes into it.

    A look into each unit of its results would cost a turn a twentieth of its time.
    """
    return type(plugin).__module__.startswith(_SHIPPED) and not plugin.descriptor.uses_llm


def _snippet(value: Any) -> str:
    text = first_text(value)
    return text if len(text) <= SNIPPET_CHARS else text[: SNIPPET_CHARS - 1] + "…"

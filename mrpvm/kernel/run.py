"""A running turn: its ports, its budget, and the methods that record its events."""

from collections.abc import Callable, Mapping
from copy import replace
from threading import Event as StopFlag
from typing import Any

from mrpvm.contracts import CallContext, CallMetadata, Descriptor
from mrpvm.errors import ErrorRecord
from mrpvm.kernel.budget import Budget
from mrpvm.kernel.frame import Frame
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import CallScope, LanguageModel, ModelSource
from mrpvm.llm.recorder import Recorder
from mrpvm.registry import Registry
from mrpvm.trace.details import NO_STATE, CallMeta, FrameBudgets, FrameMeta, FrameState
from mrpvm.trace.events import (
    BacktrackTaken,
    Emit,
    Event,
    EventData,
    FrameClosed,
    FrameOpened,
    PluginFinished,
    PluginStarted,
    UnitsStaged,
)
from mrpvm.trace.order import in_frame_order
from mrpvm.values import KnowledgeUnit, StageRecord, TurnRequest

type NodePayload = Mapping[str, Any]
"""The input and output of a node."""

_NO_MODEL = AbsentModel()
"""The model of quick plugins, which call none."""

INTENT_CHARS = 300
"""How many characters of a child frame's task its record shows; the payload has the whole text."""


class TurnRun:
    """The state that all frames of a turn share. Only the turn's own thread uses it."""

    def __init__(
        self,
        request: TurnRequest,
        registry: Registry,
        budget: Budget,
        knowledge: TurnKnowledge,
        model: ModelSource,
        emit: Emit,
    ) -> None:
        self.request = request
        self.registry = registry
        self.budget = budget
        self.stages: list[StageRecord] = []
        self.staged_units: tuple[KnowledgeUnit, ...] = ()
        self.effective_level = request.deliberation_level if request.limits.comparison_enabled else 0
        self.stop = StopFlag()
        self.has_streamed = False
        self._knowledge = knowledge
        self._model = model
        self._emit = emit
        self._open_frames: dict[str, Frame] = {}
        self._open_executions: dict[str, PluginStarted] = {}
        self._recorders: dict[str, Recorder] = {}

    @property
    def stages_in_order(self) -> tuple[StageRecord, ...]:
        """Return the calls so far, grouped by frame where frames ran in parallel: learning depends on the order."""
        return tuple(in_frame_order(self.stages, lambda record: record.frame_id))

    def usable(self, plugin_type: str, pin: str | None = None) -> list[Descriptor]:
        """Return the descriptors of the plugins that are usable now, and of the pinned plugin in any case."""
        descriptors = self.registry.descriptors(plugin_type)
        if self._model.available:
            return descriptors
        return [item for item in descriptors if not item.uses_llm or item.id == pin]

    def emit(self, data: EventData, ref: str | None = None, detail: Mapping[str, Any] | None = None) -> None:
        self._emit(Event(at_ms=self.budget.elapsed_ms, data=data, detail_ref=ref, detail=detail or {}))

    def stage_units(self, frame: Frame, execution_id: str, units: tuple[KnowledgeUnit, ...]) -> None:
        """Stage the units that a frame's detection found, before retrieval starts."""
        frame.units += units
        self.staged_units = tuple(sorted((*self.staged_units, *units), key=lambda unit: unit.unit_index or 0))
        data = UnitsStaged(frame_id=frame.id, execution_id=execution_id, unit_ids=tuple(unit.id for unit in units))
        self._emit(Event(at_ms=self.budget.elapsed_ms, data=data, units=units))

    def open_frame(self, frame: Frame, opened_by: str | None, shown_input: Any) -> None:
        """Record that a frame begins; `shown_input` is its input as pages show it."""
        self._open_frames[frame.id] = frame
        opened = FrameOpened(
            frame_id=frame.id,
            parent_frame_id=frame.parent.id if frame.parent else None,
            purpose=frame.purpose,
            label=frame.label,
            depth=frame.depth,
            opened_by=opened_by,
            intent_refs=tuple(intent.group_number for intent in frame.intents),
            intents=tuple(intent.target[:INTENT_CHARS] for intent in frame.intents) if frame.parent else (),
        )
        self.emit(opened, frame.id, {"input": shown_input})

    def may_open_child(self, frame: Frame) -> bool:
        """Return whether the frame may open a child frame, and record a refusal."""
        if frame.depth < self.request.limits.max_frame_depth:
            return True
        self.emit(BacktrackTaken(frame_id=frame.id, step="frame", tried=frame.id, reason="FRAME_DEPTH_EXCEEDED"))
        return False

    def close_frame(
        self, frame: Frame, status: str, reason: str, result: Any = None, state: FrameState = NO_STATE
    ) -> None:
        """Record that a frame ends, with exactly one closure reason, its comparison state and its output."""
        self._open_frames.pop(frame.id)
        self.emit(
            FrameClosed(frame_id=frame.id, status=status, closure_reason=reason),
            frame.id,
            {
                "output": result,
                "meta": FrameMeta(
                    closure_reason=reason,
                    depth=frame.depth,
                    max_depth=self.request.limits.max_frame_depth,
                    budgets=FrameBudgets(
                        remaining_llm_calls=frame.calls.remaining, remaining_time_ms=self.budget.remaining_ms
                    ),
                    open_comparisons=state.open_comparisons,
                    resolved_differences=state.resolved_differences,
                    open_questions=state.open_questions,
                    challenges=state.challenges,
                    frontier_size=state.frontier_size,
                    branch_families=state.branch_families,
                    rejected_by=state.rejected_by,
                ),
            },
        )

    def fail_frame(self, frame: Frame, reason: str, error: ErrorRecord) -> None:
        """Record that a frame ends without a result; its error is the open question."""
        self.close_frame(frame, "failed", reason, {"error": error}, FrameState(open_questions=(error["message"],)))

    def execution_started(self, started: PluginStarted) -> None:
        """Record that a plugin call begins."""
        self._open_executions[started.execution_id] = started
        self.emit(started)

    def execution_finished(
        self,
        execution_id: str,
        record: StageRecord,
        metadata: CallMetadata,
        error: Any,
        snippet: str,
        payload: NodePayload,
    ) -> None:
        """Record how a plugin call ended, with its payload."""
        self._open_executions.pop(execution_id)
        self.stages.append(record)
        recorder = self._recorders.pop(execution_id, None)
        usage = recorder.usage if recorder is not None else None
        finished = PluginFinished(
            execution_id=execution_id,
            frame_id=record.frame_id,
            status=record.status,
            duration_ms=record.duration_ms,
            llm_calls=record.llm_calls,
            sufficient=record.sufficient,
            model=metadata.model,
            model_role=metadata.model_role,
            error=error,
            output_snippet=snippet,
            usage=usage,
            finish_reason="length" if recorder is not None and recorder.answer_was_cut else None,
        )
        meta = CallMeta(
            llm_calls=record.llm_calls,
            sufficient=record.sufficient,
            model=metadata.model,
            model_role=metadata.model_role,
            warnings=metadata.warnings or None,
            usage=usage,
            requests=(recorder.as_records() or None) if recorder is not None else None,
        )
        self.emit(finished, execution_id, {**payload, "error": error, "meta": meta})

    def abandon(self, error: ErrorRecord, reason: str) -> None:
        """Close all open executions and frames of a turn that ends early, innermost first: no node stays running."""
        self.stop.set()
        for started in list(self._open_executions.values()):
            used = self.metadata_of(started.execution_id, CallMetadata())
            record = StageRecord(
                stage=started.stage,
                plugin_id=started.plugin_id,
                status="error",
                duration_ms=0,
                llm_calls=used.llm_calls,
                frame_id=started.frame_id,
            )
            self.execution_finished(started.execution_id, record, used, dict(error), error["message"], {"output": None})
        for frame in sorted(self._open_frames.values(), key=lambda frame: frame.path, reverse=True):
            self.fail_frame(frame, reason, error)

    def take_recorder(self, execution_id: str, recorder: Recorder | None) -> None:
        """Take what a call that is not made again said to models."""
        if recorder is not None:
            self._recorders[execution_id] = recorder

    def metadata_of(self, execution_id: str, metadata: CallMetadata) -> CallMetadata:
        """Return the usage of a call: the plugin's report, corrected by the recorded requests.

        Calls of a plugin that raised or timed out count too.
        """
        recorder = self._recorders.get(execution_id)
        if recorder is None or recorder.call_count == 0:
            return metadata
        return replace(
            metadata,
            llm_calls=max(metadata.llm_calls, recorder.call_count),
            model=metadata.model or recorder.model,
            model_role=metadata.model_role or recorder.role,
            warnings=(*metadata.warnings, *recorder.warnings),
        )

    def context(
        self,
        execution_id: str,
        frame: Frame,
        descriptor: Descriptor,
        timeout_ms: int,
        stopped: Callable[[], bool],
        write: Callable[[str], None] = lambda text: None,
    ) -> CallContext:
        """Return the read-only context of one plugin call."""
        model: LanguageModel = _NO_MODEL
        if not descriptor.is_quick:
            recorder = self._recorders[execution_id] = Recorder()
            model = self._model.bind(
                CallScope(timeout_ms=timeout_ms, max_calls=descriptor.max_llm_calls, stopped=stopped, recorder=recorder)
            )
        return CallContext(
            request_id=self.request.request_id,
            session=self.request.session,
            frame_id=frame.id,
            frame_depth=frame.depth,
            remaining_ms=timeout_ms,
            remaining_llm_calls=frame.calls.remaining,
            knowledge=self._knowledge.for_plugin(descriptor.id),
            model=model,
            stopped=stopped,
            write=write,
        )


Tick = Callable[[], None]
"""Called at least every 100 ms while a turn waits; may raise to end the turn."""

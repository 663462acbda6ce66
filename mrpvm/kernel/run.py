"""One turn while it runs: its ports, its budget, and the pen that writes its events."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event as StopFlag
from typing import Any

from mrpvm.contracts import CallContext, CallMetadata, Descriptor
from mrpvm.kernel.budget import Budget
from mrpvm.kernel.frame import Frame
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.port import CallScope, ModelSource
from mrpvm.llm.recorder import Recorder
from mrpvm.registry import Registry
from mrpvm.trace.events import Emit, Event, EventName
from mrpvm.trace.order import in_frame_order
from mrpvm.values import KnowledgeUnit, StageRecord, TurnRequest
from mrpvm.wire import Forms, to_wire

INTENT_CHARS = 300
"""How much of what a child frame is to answer its record says; the payload has all of it."""


class TurnRun:
    """What all frames of one turn share. Only the thread that runs the turn touches it."""

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
        self.forms = Forms(brief=KnowledgeUnit)
        self._knowledge = knowledge
        self._model = model
        self._emit = emit
        self._open_frames: dict[str, Frame] = {}
        self._open_executions: dict[str, dict[str, Any]] = {}
        self._recorders: dict[str, Recorder] = {}

    @property
    def stages_in_order(self) -> tuple[StageRecord, ...]:
        """Give the calls so far, those of parallel frames frame by frame: learning goes by their order [K-17, K-55]."""
        return tuple(in_frame_order(self.stages, lambda record: record.frame_id))

    def usable(self, plugin_type: str, pin: str | None = None) -> list[Descriptor]:
        """Give the descriptors of the plugins that can work now, and of the pinned one in any case [PL-31]."""
        found = self.registry.descriptors(plugin_type)
        return [item for item in found if self._model.available or not item.uses_llm or item.id == pin]

    def emit(
        self, name: EventName, data: Mapping[str, Any], ref: str | None = None, detail: Mapping[str, Any] | None = None
    ) -> None:
        """Record an event now."""
        self._emit(Event(name=name, at_ms=self.budget.elapsed_ms, data=data, detail_ref=ref, detail=detail or {}))

    def stage_units(self, frame: Frame, execution_id: str, units: tuple[KnowledgeUnit, ...]) -> None:
        """Hand what a frame's detection found to whoever stores it, before retrieval starts [T-10, T-12, O-48]."""
        frame.units += units
        self.staged_units = tuple(sorted((*self.staged_units, *units), key=lambda unit: unit.unit_index or 0))
        self._emit(
            Event(
                name="units.staged",
                at_ms=self.budget.elapsed_ms,
                data={"frameId": frame.id, "executionId": execution_id, "unitIds": [unit.id for unit in units]},
                units=units,
            )
        )

    def open_frame(self, frame: Frame, opened_by: str | None, given: Any) -> None:
        """Record that a frame begins; `given` is its input as people see it."""
        self._open_frames[frame.id] = frame
        self.emit(
            "frame.opened",
            {
                "frameId": frame.id,
                "parentFrameId": frame.parent.id if frame.parent else None,
                "purpose": frame.purpose,
                "label": frame.label,
                "depth": frame.depth,
                "openedBy": opened_by,
                "intentRefs": [intent.group_number for intent in frame.intents],
                "intents": [intent.target[:INTENT_CHARS] for intent in frame.intents] if frame.parent else [],
            },
            frame.id,
            {"input": given},
        )

    def may_open_child(self, frame: Frame) -> bool:
        """Tell whether a child of the frame may exist; a refusal is recorded, and the frame does without [K-3]."""
        if frame.depth < self.request.limits.max_frame_depth:
            return True
        self.emit(
            "backtrack.taken",
            {"frameId": frame.id, "step": "frame", "from": frame.id, "reason": "FRAME_DEPTH_EXCEEDED"},
        )
        return False

    def close_frame(
        self, frame: Frame, status: str, reason: str, result: Any = None, state: Mapping[str, Any] | None = None
    ) -> None:
        """Record that a frame ends, with exactly one closure reason [K-49], its comparison state and what it left."""
        self._open_frames.pop(frame.id)
        self.emit(
            "frame.closed",
            {"frameId": frame.id, "status": status, "closureReason": reason},
            frame.id,
            {
                "output": to_wire(result, forms=self.forms),
                "meta": {
                    "closureReason": reason,
                    "depth": frame.depth,
                    "maxDepth": self.request.limits.max_frame_depth,
                    "budgets": {
                        "remainingLLMCalls": frame.calls.remaining,
                        "remainingTimeMs": self.budget.remaining_ms,
                    },
                    **(state or {}),
                },
            },
        )

    def fail_frame(self, frame: Frame, reason: str, error: Mapping[str, Any]) -> None:
        """Record that a frame ends without a result; its error is the question that stays open [K-49]."""
        self.close_frame(frame, "failed", reason, {"error": error}, {"openQuestions": [error["message"]]})

    def execution_started(self, data: dict[str, Any]) -> None:
        """Record that a plugin call begins."""
        self._open_executions[data["executionId"]] = data
        self.emit("plugin.started", data)

    def execution_finished(
        self,
        execution_id: str,
        frame_id: str,
        record: StageRecord,
        metadata: CallMetadata,
        error: Any,
        snippet: str,
        payload: dict[str, Any],
    ) -> None:
        """Record how a plugin call ended, with its payload."""
        self._open_executions.pop(execution_id)
        self.stages.append(record)
        data = {
            "executionId": execution_id,
            "frameId": frame_id,
            "status": record.status,
            "durationMs": record.duration_ms,
            "llmCalls": record.llm_calls,
            "sufficient": record.sufficient,
            "model": metadata.model,
            "modelRole": metadata.model_role,
            "error": error,
            "outputSnippet": snippet,
        }
        meta = {**{key: data[key] for key in ("llmCalls", "sufficient", "model", "modelRole")}}
        if metadata.warnings:
            meta["warnings"] = list(metadata.warnings)
        recorder = self._recorders.pop(execution_id, None)
        if recorder is not None and recorder.usage is not None:
            data["usage"] = meta["usage"] = recorder.usage.as_record()
        if recorder is not None and recorder.answer_was_cut:
            data["finishReason"] = "length"
        if recorder is not None and (requests := recorder.as_records()):
            meta["requests"] = requests
        self.emit("plugin.finished", data, execution_id, {**payload, "error": error, "meta": meta})

    def abandon(self, error: Mapping[str, Any], reason: str) -> None:
        """Close what is still open when the turn ends early, innermost first, so that no node stays running [G-4]."""
        self.stop.set()
        for execution_id, data in list(self._open_executions.items()):
            used = self.metadata_of(execution_id, CallMetadata())
            frame_id = data["frameId"]
            record = StageRecord(
                stage=data["stage"],
                plugin_id=data["pluginId"],
                status="error",
                duration_ms=0,
                llm_calls=used.llm_calls,
                frame_id=frame_id,
            )
            self.execution_finished(
                execution_id, frame_id, record, used, dict(error), error["message"], {"output": None}
            )
        for frame in sorted(self._open_frames.values(), key=lambda frame: frame.path, reverse=True):
            self.fail_frame(frame, reason, error)

    def metadata_of(self, execution_id: str, told: CallMetadata) -> CallMetadata:
        """Give what a call used: what its plugin told, corrected by what was recorded [PL-26].

        A plugin that raised or did not come back told nothing, and its calls count too.
        """
        recorder = self._recorders.get(execution_id)
        if recorder is None or recorder.call_count == 0:
            return told
        return replace(
            told,
            llm_calls=max(told.llm_calls, recorder.call_count),
            model=told.model or recorder.model,
            model_role=told.model_role or recorder.role,
            warnings=(*told.warnings, *recorder.warnings),
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
        """Return the read-only context of one plugin call [PL-5]."""
        recorder = self._recorders[execution_id] = Recorder()
        scope = CallScope(timeout_ms=timeout_ms, max_calls=descriptor.max_llm_calls, stopped=stopped, recorder=recorder)
        return CallContext(
            request_id=self.request.request_id,
            session=self.request.session,
            frame_id=frame.id,
            frame_depth=frame.depth,
            remaining_ms=timeout_ms,
            remaining_llm_calls=frame.calls.remaining,
            knowledge=self._knowledge.for_plugin(descriptor.id),
            model=self._model.bind(scope),
            stopped=stopped,
            write=write,
        )


Tick = Callable[[], None]
"""Called at least every 100 ms while a turn waits; may raise to end the turn."""

"""The execution trace of a turn: like the graph, a fold over its events."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from msgspec import Struct

from mrpvm.errors import ErrorRecord
from mrpvm.trace.events import (
    BranchFailed,
    BranchFinished,
    BranchStarted,
    CommandResolved,
    Event,
    FrameClosed,
    FrameOpened,
    PlanMade,
    PluginFinished,
    PluginStarted,
    PolicySet,
    ResultRecorded,
    SkillConsidered,
    SkillInvoked,
    TurnFinished,
    TurnStarted,
)
from mrpvm.trace.graph import Graph, GraphFrame, fold_graph, path_key
from mrpvm.values import AnswerStatus, Basis, Usage
from mrpvm.wire import OPTIONAL


class Stage(PluginStarted, frozen=True, kw_only=True):
    """A plugin call: when it began, of a solver what led to it, and how it ended."""

    planner_plugin_id: str | None
    kb_plugin_id: str | None
    started_at: str | None
    started_at_ms: int
    status: str = "running"
    duration_ms: int | None = None
    llm_calls: int | None = None
    sufficient: bool | None = None
    model: str | None = None
    model_role: str | None = None
    error: ErrorRecord | None = None
    output_snippet: str = ""
    usage: Annotated[Usage | None, OPTIONAL] = None
    finish_reason: Annotated[str | None, OPTIONAL] = None


class RecordedBranch(BranchStarted, frozen=True, kw_only=True):
    """A solver over one view of evidence, and its outcome."""

    status: str = "active"
    result_id: str | None = None
    validation_id: str | None = None
    output_preview: str = ""
    failure_id: Annotated[str | None, OPTIONAL] = None
    reason: Annotated[str | None, OPTIONAL] = None
    error: Annotated[str | None, OPTIONAL] = None


class DetailedGraph(Graph, frozen=True, kw_only=True):
    """The graph with payloads of its nodes under their refs, as far as they were asked for."""

    details: Mapping[str, Any]


class ExecutionTrace(Struct, frozen=True, kw_only=True):
    """The complete structured record of a turn; lists are ordered by path ids."""

    request_id: str | None
    session_id: str | None
    root_frame_id: str | None
    input_message: str | None
    deliberation_level: int | None
    effective_level: int | None
    deliberation_policy: PolicySet | None
    planner_plugin_id: str | None
    planner_attempts: tuple[str, ...]
    planner_candidates: tuple[str, ...]
    seed_detector_candidates: tuple[str, ...]
    plans: tuple[PlanMade, ...]
    stages: tuple[Stage, ...]
    command: CommandResolved | None
    skill_choice: SkillConsidered | None
    skill: SkillInvoked | None
    frames: tuple[GraphFrame, ...]
    branches: tuple[RecordedBranch, ...]
    results: tuple[ResultRecorded, ...]
    failures: tuple[BranchFailed, ...]
    graph: DetailedGraph
    final_status: Literal["success", "failure"] | None
    final_answer_status: AnswerStatus | None
    final_answer_basis: Basis | None
    frame_transitions: int
    error: ErrorRecord | None


def execution_trace(events: Sequence[Event], details: Mapping[str, Any] | None = None) -> ExecutionTrace:
    """Return the record of a turn, with no payloads but these."""
    said = _EventsByKind(events)
    started, finished = said.first(TurnStarted), said.last(TurnFinished)
    plans = sorted(said.all(PlanMade), key=lambda made: path_key(made.execution_id))
    graph = fold_graph(events)
    succeeded = finished is not None and finished.status == "succeeded"
    return ExecutionTrace(
        request_id=started.request_id if started else None,
        session_id=started.session_id if started else None,
        root_frame_id=graph.root_frame_id,
        input_message=started.input_message if started else None,
        deliberation_level=started.deliberation_level if started else None,
        effective_level=started.effective_level if started else None,
        deliberation_policy=said.first(PolicySet),
        planner_plugin_id=plans[-1].plan.planner_plugin_id if plans else None,
        planner_attempts=tuple(dict.fromkeys(made.plan.planner_plugin_id for made in plans)),
        planner_candidates=started.planner_candidates if started else (),
        seed_detector_candidates=started.seed_detector_candidates if started else (),
        plans=tuple(plans),
        stages=_stages(events, said),
        command=said.first(CommandResolved),
        skill_choice=said.first(SkillConsidered),
        skill=said.first(SkillInvoked),
        frames=graph.frames,
        branches=_branches(said),
        results=tuple(sorted(said.all(ResultRecorded), key=lambda result: path_key(result.result_id))),
        failures=tuple(sorted(said.all(BranchFailed), key=lambda failure: path_key(failure.failure_id))),
        graph=DetailedGraph(
            root_frame_id=graph.root_frame_id,
            frames=graph.frames,
            plugin_executions=graph.plugin_executions,
            edges=graph.edges,
            control_nodes=graph.control_nodes,
            control_edges=graph.control_edges,
            details=details or {},
        ),
        final_status=None if finished is None else "success" if succeeded else "failure",
        final_answer_status=finished.answer_status if finished and succeeded else None,
        final_answer_basis=finished.answer_basis if finished and succeeded else None,
        frame_transitions=len(said.all(FrameOpened)) + len(said.all(FrameClosed)),
        error=finished.error if finished else None,
    )


class _EventsByKind:
    """What the events of each kind say, in their order; read once."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_kind: defaultdict[type, list[Any]] = defaultdict(list)
        for event in events:
            self._by_kind[type(event.data)].append(event.data)

    def all[Data](self, kind: type[Data]) -> list[Data]:
        return self._by_kind.get(kind, [])

    def first[Data](self, kind: type[Data]) -> Data | None:
        return next(iter(self.all(kind)), None)

    def last[Data](self, kind: type[Data]) -> Data | None:
        return next(reversed(self.all(kind)), None)


def _stages(events: Iterable[Event], said: _EventsByKind) -> tuple[Stage, ...]:
    """Return every plugin call with when it began, and a solver's with what led to it."""
    started = said.first(TurnStarted)
    begun = datetime.fromisoformat(started.started_at) if started and started.started_at else None
    led = {branch.execution_id: branch for branch in said.all(BranchStarted)}
    ended = {call.execution_id: call for call in said.all(PluginFinished)}
    stages: list[Stage] = []
    for event in events:
        if isinstance(call := event.data, PluginStarted):
            branch = led.get(call.execution_id)
            finished = ended.get(call.execution_id)
            stage = Stage(
                execution_id=call.execution_id,
                frame_id=call.frame_id,
                stage=call.stage,
                plugin_id=call.plugin_id,
                plugin_name=call.plugin_name,
                plugin_type=call.plugin_type,
                cause=call.cause,
                attempt=call.attempt,
                input_snippet=call.input_snippet,
                planner_plugin_id=branch.planner_plugin_id if branch else None,
                kb_plugin_id=branch.kb_plugin_id if branch else None,
                started_at=(begun + timedelta(milliseconds=event.at_ms)).isoformat() if begun else None,
                started_at_ms=event.at_ms,
                **(_end_of(finished) if finished else {}),
            )
            stages.append(stage)
    return tuple(sorted(stages, key=lambda stage: path_key(stage.execution_id)))


def _end_of(finished: PluginFinished) -> dict[str, Any]:
    return {name: getattr(finished, name) for name in _ENDS}


_ENDS = set(PluginFinished.__struct_fields__) - set(PluginStarted.__struct_fields__)


def _branches(said: _EventsByKind) -> tuple[RecordedBranch, ...]:
    ended = {done.branch_id: done for done in said.all(BranchFinished)}
    failed = {failure.branch_id: failure for failure in said.all(BranchFailed)}
    branches: list[RecordedBranch] = []
    for begun in said.all(BranchStarted):
        branch = RecordedBranch(**{name: getattr(begun, name) for name in BranchStarted.__struct_fields__})
        if done := ended.get(begun.branch_id):
            branch = replace(
                branch,
                status=done.status,
                result_id=done.result_id,
                validation_id=done.validation_id,
                output_preview=done.output_preview,
            )
        if failure := failed.get(begun.branch_id):
            branch = replace(
                branch, status="failed", failure_id=failure.failure_id, reason=failure.reason, error=failure.error
            )
        branches.append(branch)
    return tuple(sorted(branches, key=lambda branch: path_key(branch.branch_id)))

"""The execution trace of a turn: like the graph, a fold over its events."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

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
    said,
)
from mrpvm.trace.graph import fold_graph, path_key
from mrpvm.wire import to_wire


def execution_trace(events: Sequence[Event]) -> dict[str, Any]:
    """Return the complete structured record of a turn in its JSON form, payloads left out.

    Keys are those of; lists are ordered by path ids.
    """
    started = next(iter(said(TurnStarted, events)), None)
    finished = next(reversed(said(TurnFinished, events)), None)
    plans = sorted(said(PlanMade, events), key=lambda made: path_key(made.execution_id))
    graph = to_wire(fold_graph(events))
    succeeded = finished is not None and finished.status == "succeeded"
    return {
        "requestId": started and started.request_id,
        "sessionId": started and started.session_id,
        "rootFrameId": graph["rootFrameId"],
        "inputMessage": started and started.input_message,
        "deliberationLevel": started and started.deliberation_level,
        "effectiveLevel": started and started.effective_level,
        "deliberationPolicy": _first(PolicySet, events),
        "plannerPluginId": plans[-1].plan.planner_plugin_id if plans else None,
        "plannerAttempts": list(dict.fromkeys(made.plan.planner_plugin_id for made in plans)),
        "plannerCandidates": list(started.planner_candidates) if started else [],
        "seedDetectorCandidates": list(started.seed_detector_candidates) if started else [],
        "plans": to_wire(plans),
        "stages": _stages(events, started.started_at if started else None),
        "command": _first(CommandResolved, events),
        "skillChoice": _first(SkillConsidered, events),
        "skill": _first(SkillInvoked, events),
        "frames": graph["frames"],
        "branches": _branches(events),
        "results": to_wire(sorted(said(ResultRecorded, events), key=lambda result: path_key(result.result_id))),
        "failures": to_wire(sorted(said(BranchFailed, events), key=lambda failure: path_key(failure.failure_id))),
        "graph": graph,
        "finalStatus": None if finished is None else "success" if succeeded else "failure",
        "finalAnswerStatus": finished.answer_status if finished and succeeded else None,
        "finalAnswerBasis": finished.answer_basis if finished and succeeded else None,
        "frameTransitions": len(said(FrameOpened, events)) + len(said(FrameClosed, events)),
        "error": finished.error if finished else None,
    }


def _first[Data](kind: type[Data], events: Iterable[Event]) -> dict[str, Any] | None:
    return next((to_wire(item) for item in said(kind, events)), None)


def _stages(events: Sequence[Event], started_at: str | None) -> list[dict[str, Any]]:
    """Return every plugin call with when it began, and a solver's with what led to it."""
    begun = datetime.fromisoformat(started_at) if started_at else None
    led = {branch.execution_id: branch for branch in said(BranchStarted, events)}
    stages: dict[str, dict[str, Any]] = {}
    for event in events:
        if isinstance(call := event.data, PluginStarted):
            branch = led.get(call.execution_id)
            stages[call.execution_id] = {
                **to_wire(call),
                "plannerPluginId": branch and branch.planner_plugin_id,
                "kbPluginId": branch and branch.kb_plugin_id,
                "startedAt": begun and (begun + timedelta(milliseconds=event.at_ms)).isoformat(),
                "startedAtMs": event.at_ms,
                "status": "running",
            }
        elif isinstance(call, PluginFinished):
            stages[call.execution_id].update(to_wire(call))
    return [stages[key] for key in sorted(stages, key=path_key)]


def _branches(events: Sequence[Event]) -> list[dict[str, Any]]:
    branches = {data.branch_id: {**to_wire(data), "status": "active"} for data in said(BranchStarted, events)}
    for finished in said(BranchFinished, events):
        branches[finished.branch_id].update(to_wire(finished))
    for failed in said(BranchFailed, events):
        branches[failed.branch_id].update(to_wire(failed), status="failed")
    return [branches[key] for key in sorted(branches, key=path_key)]

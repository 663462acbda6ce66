"""The execution trace of a turn [G-1]: like the graph, a fold over its events."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from mrpvm.trace.graph import Record, fold_graph, path_key


def execution_trace(records: Sequence[Record]) -> dict[str, Any]:
    """Give the complete structured record of a turn, payloads left out [O-9].

    Keys are those of [G-1]; lists are ordered by path ids.
    """
    by_name: dict[str, list[dict[str, Any]]] = {}
    for name, _, data in records:
        by_name.setdefault(name, []).append(data)
    started = (by_name.get("turn.started") or [{}])[0]
    finished = (by_name.get("turn.finished") or [{}])[-1]
    stages = _stages(records, started.get("startedAt"), by_name.get("branch.started", []))
    plans = _by_path(by_name.get("plan.made", []), "executionId")
    graph = fold_graph(records)
    succeeded = finished.get("status") == "succeeded"
    return {
        "requestId": started.get("requestId"),
        "sessionId": started.get("sessionId"),
        "rootFrameId": graph["rootFrameId"],
        "inputMessage": started.get("inputMessage"),
        "deliberationLevel": started.get("deliberationLevel"),
        "effectiveLevel": started.get("effectiveLevel"),
        "deliberationPolicy": next(iter(by_name.get("policy.set", [])), None),
        "plannerPluginId": plans[-1]["plan"]["plannerPluginId"] if plans else None,
        "plannerAttempts": list(dict.fromkeys(plan["plan"]["plannerPluginId"] for plan in plans)),
        "plannerCandidates": started.get("plannerCandidates", []),
        "seedDetectorCandidates": started.get("seedDetectorCandidates", []),
        "plans": plans,
        "stages": stages,
        "command": next(iter(by_name.get("command.resolved", [])), None),
        "skillChoice": next(iter(by_name.get("skill.considered", [])), None),
        "skill": next(iter(by_name.get("skill.invoked", [])), None),
        "frames": graph["frames"],
        "branches": _branches(by_name),
        "results": _by_path(by_name.get("result.recorded", []), "resultId"),
        "failures": _by_path(by_name.get("branch.failed", []), "failureId"),
        "graph": graph,
        "finalStatus": None if not finished else "success" if succeeded else "failure",
        "finalAnswerStatus": finished.get("answerStatus") if succeeded else None,
        "frameTransitions": len(by_name.get("frame.opened", [])) + len(by_name.get("frame.closed", [])),
        "error": finished.get("error"),
    }


def _by_path(items: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: path_key(item[key]))


def _stages(
    records: Sequence[Record], started_at: str | None, branches: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Give every plugin call with when it began, and a solver's with what led to it [G-2]."""
    begun = datetime.fromisoformat(started_at) if started_at else None
    led = {data["executionId"]: {key: data[key] for key in ("plannerPluginId", "kbPluginId")} for data in branches}
    nobody = {"plannerPluginId": None, "kbPluginId": None}
    stages: dict[str, dict[str, Any]] = {}
    for name, at_ms, data in records:
        if name == "plugin.started":
            time = None if begun is None else (begun + timedelta(milliseconds=at_ms)).isoformat()
            stages[data["executionId"]] = {
                **data, **led.get(data["executionId"], nobody), "startedAt": time, "startedAtMs": at_ms,
                "status": "running",
            }  # fmt: skip
        elif name == "plugin.finished":
            stages[data["executionId"]].update(data)
    return [stages[key] for key in sorted(stages, key=path_key)]


def _branches(by_name: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    branches = {data["branchId"]: {**data, "status": "active"} for data in by_name.get("branch.started", [])}
    for data in by_name.get("branch.finished", []):
        branches[data["branchId"]].update(data)
    for data in by_name.get("branch.failed", []):
        branches[data["branchId"]].update(data, status="failed")
    return [branches[key] for key in sorted(branches, key=path_key)]

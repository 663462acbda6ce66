"""The explainability graph of a turn: a fold over its events [G-6, G-8].

The same fold serves the live picture and the stored one, so they cannot differ. Edges are taken from what the events
recorded and never from time or order of arrival [G-11, O-23].
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Record = Sequence[Any]
"""A stored event: `[name, atMs, data]`."""

type Graph = dict[str, Any]


def fold_graph(records: Iterable[Record]) -> Graph:
    """Give `{rootFrameId, frames, pluginExecutions, edges, controlNodes, controlEdges}` of the events so far.

    Nodes are ordered by their path ids, so a parallel run gives the same graph as a sequential one [K-17]. Frames and
    executions that have not ended have status `active` / `running` and a null duration.
    """
    fold = _Fold()
    for name, at_ms, data in records:
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(fold, at_ms, data)
    return fold.graph()


def path_key(node_id: str) -> tuple[tuple[int, ...], int, str]:
    """Give the sorting key of a path id such as `exec-0.2.1~2`."""
    kind, _, path = node_id.partition("-")
    steps, _, attempt = path.partition("~")
    return tuple(int(step) for step in steps.split(".")), int(attempt or 0), kind


class _Fold:
    def __init__(self) -> None:
        self.root_frame_id: str | None = None
        self.frames: dict[str, dict[str, Any]] = {}
        self.executions: dict[str, dict[str, Any]] = {}
        self.begun_in: Counter[str] = Counter()
        self.edges: list[dict[str, str]] = []
        self.control_nodes: dict[str, dict[str, Any]] = {}
        self.control_edges: list[dict[str, str]] = []

    def graph(self) -> Graph:
        def ordered(nodes: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
            return [nodes[key] for key in sorted(nodes, key=path_key)]

        def by_ends(edge: dict[str, str]) -> Any:
            return path_key(edge["to"]), path_key(edge["from"]), edge["kind"]

        return {
            "rootFrameId": self.root_frame_id,
            "frames": ordered(self.frames),
            "pluginExecutions": ordered(self.executions),
            "edges": sorted(self.edges, key=by_ends),
            "controlNodes": ordered(self.control_nodes),
            "controlEdges": sorted(self.control_edges, key=by_ends),
        }

    def connect(self, start: str, end: str, kind: str) -> None:
        self.edges.append({"from": start, "to": end, "kind": kind})

    def control(self, node_id: str, kind: str, frame_id: str, label: str, status: str) -> None:
        self.control_nodes[node_id] = {
            "id": node_id,
            "type": kind,
            "frameId": frame_id,
            "label": label,
            "status": status,
            "detailRef": node_id,
        }

    def deliberate(self, frame_id: str, status: str) -> None:
        """Show in a frame's policy how far its deliberation is [K-48]."""
        for node in self.control_nodes.values():
            if node["type"] == "policy" and node["frameId"] == frame_id:
                node["status"] = status

    def control_edge(self, start: str, end: str, kind: str) -> None:
        self.control_edges.append({"from": start, "to": end, "kind": kind})


def _frame_opened(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    frame_id, parent = data["frameId"], data["parentFrameId"]
    fold.frames[frame_id] = {
        "id": frame_id,
        "parentFrameId": parent,
        "label": data["label"],
        "purpose": data["purpose"],
        # What a child frame is to answer; older records do not say.
        "intent": " ".join(data.get("intents", ())),
        "status": "active",
        "startedAtMs": at_ms,
        "durationMs": None,
        "detailRef": frame_id,
    }
    if parent is None:
        fold.root_frame_id = frame_id
    else:
        fold.connect(parent, frame_id, "contains")
    if data["openedBy"] is not None:
        fold.connect(data["openedBy"], frame_id, "child-frame")


def _frame_closed(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    frame = fold.frames[data["frameId"]]
    frame["status"] = data["status"]
    frame["durationMs"] = at_ms - frame["startedAtMs"]
    frame["closureReason"] = data["closureReason"]
    fold.deliberate(data["frameId"], "settled")


def _plugin_started(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    execution_id = data["executionId"]
    fold.begun_in[data["frameId"]] += 1
    fold.executions[execution_id] = {
        "id": execution_id,
        "frameId": data["frameId"],
        "pluginId": data["pluginId"],
        "pluginName": data["pluginName"],
        "pluginType": data["pluginType"],
        "stage": data["stage"],
        # Its place among the calls of its frame as they began; ids count tries by stage, and a stage is returned to.
        "ordinal": fold.begun_in[data["frameId"]],
        "status": "running",
        "startedAtMs": at_ms,
        "durationMs": None,
        "detailRef": execution_id,
    }
    fold.connect(data["frameId"], execution_id, "contains")
    if data["cause"] is not None:
        fold.connect(data["cause"]["from"], execution_id, data["cause"]["kind"])


def _plugin_finished(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    execution = fold.executions[data["executionId"]]
    execution["status"] = data["status"]
    execution["durationMs"] = data["durationMs"]


def _plan_made(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.executions[data["executionId"]]["phase"] = data["phase"]


def _policy_set(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["policyId"], "policy", data["frameId"], f"level {data['level']}", "default")
    fold.control_edge(data["frameId"], data["policyId"], "contains")


def _seed_admitted(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["seedId"], "seed", data["frameId"], data["focus"][:80], "active")
    fold.control_edge(data["frameId"], data["seedId"], "contains")


def _branch_started(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["branchId"], "branch", data["frameId"], data["pluginId"], "active")
    fold.control_edge(data["frameId"], data["branchId"], "contains")
    for seed_id in data["seedIds"]:
        fold.control_edge(seed_id, data["branchId"], "spawned_from")
    fold.control_edge(data["branchId"], data["executionId"], "uses")


def _branch_finished(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control_nodes[data["branchId"]]["status"] = data["status"]


def _branch_failed(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control_nodes[data["branchId"]]["status"] = "failed"
    fold.control(data["failureId"], "failure", data["frameId"], data["reason"], "failed")
    fold.control_edge(data["branchId"], data["failureId"], "failed_as")


def _result_recorded(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["resultId"], "result", data["frameId"], data["kind"], data["validationStatus"])
    fold.control_edge(data["branchId"], data["resultId"], "produced")


def _candidate_promoted(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["candidateId"], "candidate", data["frameId"], data["label"], data["strength"])
    fold.control_edge(data["frameId"], data["candidateId"], "contains")
    fold.control_edge(data["resultId"], data["candidateId"], "derived_from")
    fold.deliberate(data["frameId"], "candidate_found")


def _comparison_made(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["comparisonId"], "comparison", data["frameId"], data["label"], data["status"])
    fold.control_edge(data["frameId"], data["comparisonId"], "contains")
    for candidate_id in data["candidateIds"]:
        fold.control_edge(data["comparisonId"], candidate_id, "compares")
    if data["status"] == "open":
        fold.deliberate(data["frameId"], "comparative_open")


def _challenge_made(fold: _Fold, at_ms: int, data: Mapping[str, Any]) -> None:
    fold.control(data["challengeId"], "challenge", data["frameId"], data["label"], data["status"])
    fold.control_edge(data["frameId"], data["challengeId"], "contains")
    fold.control_edge(data["challengeId"], data["targetId"], "challenges")


_HANDLERS: Mapping[str, Callable[[_Fold, int, Mapping[str, Any]], None]] = {
    "frame.opened": _frame_opened,
    "frame.closed": _frame_closed,
    "plugin.started": _plugin_started,
    "plugin.finished": _plugin_finished,
    "plan.made": _plan_made,
    "policy.set": _policy_set,
    "seed.admitted": _seed_admitted,
    "branch.started": _branch_started,
    "branch.finished": _branch_finished,
    "branch.failed": _branch_failed,
    "result.recorded": _result_recorded,
    "candidate.promoted": _candidate_promoted,
    "comparison.made": _comparison_made,
    "challenge.made": _challenge_made,
}

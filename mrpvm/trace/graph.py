"""The explainability graph of a turn: a fold over its events.

The same fold serves the live picture and the stored one, so they cannot differ. Edges are taken from what the events
recorded and never from time or order of arrival.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import replace
from functools import lru_cache
from typing import Annotated, Any

from msgspec import Struct

from mrpvm.trace.events import (
    BranchFailed,
    BranchFinished,
    BranchStarted,
    CandidatePromoted,
    ChallengeMade,
    ComparisonMade,
    Event,
    FrameClosed,
    FrameOpened,
    PlanMade,
    PluginFinished,
    PluginStarted,
    PolicySet,
    ResultRecorded,
    SeedAdmitted,
)
from mrpvm.wire import OPTIONAL, OnWire

FOCUS_CHARS = 80
"""How much of a seed's focus its node shows."""


class GraphFrame(Struct, frozen=True, kw_only=True):
    """One frame; `intent` is what a child frame is to answer."""

    id: str
    parent_frame_id: str | None
    label: str
    purpose: str
    intent: str = ""
    status: str
    started_at_ms: int
    duration_ms: int | None
    detail_ref: str
    closure_reason: Annotated[str | None, OPTIONAL] = None

    @property
    def is_active(self) -> bool:
        """Whether the frame still runs."""
        return self.status == "active"


class GraphExecution(Struct, frozen=True, kw_only=True):
    """One call or skip of a plugin.

    `ordinal` is its place among the calls of its frame as they began: ids count tries by stage, and a stage is returned
    to. `phase` is when in its frame a planner planned, such as `post-kb`.
    """

    id: str
    frame_id: str
    plugin_id: str
    plugin_name: str
    plugin_type: str
    stage: str
    ordinal: int
    status: str
    started_at_ms: int
    duration_ms: int | None
    detail_ref: str
    phase: Annotated[str | None, OPTIONAL] = None

    @property
    def attempt(self) -> int:
        """The attempt from the id's tail, 2 of `exec-0.1~2`."""
        tail = self.id.rpartition("~")[2]
        return int(tail) if tail.isdecimal() else 1


class Edge(Struct, frozen=True, order=True):
    """One recorded edge between two nodes."""

    source: Annotated[str, OnWire("from")]
    target: Annotated[str, OnWire("to")]
    kind: str = ""


class ControlNode(Struct, frozen=True, kw_only=True):
    """A control object of a frame: a policy, seed, branch, result, candidate, comparison or challenge."""

    id: str
    type: str
    frame_id: str
    label: str
    status: str
    detail_ref: str


class Graph(Struct, frozen=True, kw_only=True):
    """The graph of a turn so far; nodes are ordered by their path ids, edges by their ends."""

    root_frame_id: str | None
    frames: tuple[GraphFrame, ...]
    plugin_executions: tuple[GraphExecution, ...]
    edges: tuple[Edge, ...]
    control_nodes: tuple[ControlNode, ...]
    control_edges: tuple[Edge, ...]


def fold_graph(events: Iterable[Event]) -> Graph:
    """Return the graph of the events so far.

    A parallel run gives the same graph as a sequential one. Frames and executions that have not ended have
    status `active` / `running` and no duration.
    """
    fold = _Fold()
    for event in events:
        handle = _HANDLERS.get(type(event.data))
        if handle is not None:
            handle(fold, event.at_ms, event.data)
    return fold.graph()


def cause_edges(data: FrameOpened | PluginStarted) -> tuple[Edge, ...]:
    """Return the recorded edge to the node that begins with this event: what opened the frame, or what was consumed."""
    if isinstance(data, FrameOpened):
        return () if data.opened_by is None else (Edge(data.opened_by, data.frame_id, "child-frame"),)
    return () if data.cause is None else (Edge(data.cause.execution_id, data.execution_id, data.cause.kind),)


@lru_cache(maxsize=4_096)
def path_key(node_id: str) -> tuple[tuple[int, ...], int, str]:
    """Return the sorting key of a path id such as `exec-0.2.1~2`."""
    kind, _, path = node_id.partition("-")
    steps, _, attempt = path.partition("~")
    return tuple(int(step) for step in steps.split(".")), int(attempt or 0), kind


class _Fold:
    def __init__(self) -> None:
        self.root_frame_id: str | None = None
        self.frames: dict[str, GraphFrame] = {}
        self.executions: dict[str, GraphExecution] = {}
        self.begun_in: Counter[str] = Counter()
        self.edges: list[Edge] = []
        self.control_nodes: dict[str, ControlNode] = {}
        self.control_edges: list[Edge] = []

    def graph(self) -> Graph:
        def ordered[Node](nodes: Mapping[str, Node]) -> tuple[Node, ...]:
            return tuple(nodes[key] for key in sorted(nodes, key=path_key))

        def by_ends(edges: Iterable[Edge]) -> tuple[Edge, ...]:
            return tuple(sorted(edges, key=lambda edge: (path_key(edge.target), path_key(edge.source), edge.kind)))

        return Graph(
            root_frame_id=self.root_frame_id,
            frames=ordered(self.frames),
            plugin_executions=ordered(self.executions),
            edges=by_ends(self.edges),
            control_nodes=ordered(self.control_nodes),
            control_edges=by_ends(self.control_edges),
        )

    def connect(self, start: str, end: str, kind: str) -> None:
        self.edges.append(Edge(start, end, kind))

    def control(self, node_id: str, kind: str, frame_id: str, label: str, status: str) -> None:
        self.control_nodes[node_id] = ControlNode(
            id=node_id, type=kind, frame_id=frame_id, label=label, status=status, detail_ref=node_id
        )

    def deliberate(self, frame_id: str, status: str) -> None:
        """Show in a frame's policy how far its deliberation is."""
        for node in list(self.control_nodes.values()):
            if node.type == "policy" and node.frame_id == frame_id:
                self.set_status(node.id, status)

    def set_status(self, node_id: str, status: str) -> None:
        self.control_nodes[node_id] = replace(self.control_nodes[node_id], status=status)

    def control_edge(self, start: str, end: str, kind: str) -> None:
        self.control_edges.append(Edge(start, end, kind))


def _frame_opened(fold: _Fold, at_ms: int, data: FrameOpened) -> None:
    fold.frames[data.frame_id] = GraphFrame(
        id=data.frame_id,
        parent_frame_id=data.parent_frame_id,
        label=data.label,
        purpose=data.purpose,
        intent=" ".join(data.intents),
        status="active",
        started_at_ms=at_ms,
        duration_ms=None,
        detail_ref=data.frame_id,
    )
    if data.parent_frame_id is None:
        fold.root_frame_id = data.frame_id
    else:
        fold.connect(data.parent_frame_id, data.frame_id, "contains")
    fold.edges += cause_edges(data)


def _frame_closed(fold: _Fold, at_ms: int, data: FrameClosed) -> None:
    frame = fold.frames[data.frame_id]
    fold.frames[data.frame_id] = replace(
        frame, status=data.status, duration_ms=at_ms - frame.started_at_ms, closure_reason=data.closure_reason
    )
    fold.deliberate(data.frame_id, "settled")


def _plugin_started(fold: _Fold, at_ms: int, data: PluginStarted) -> None:
    fold.begun_in[data.frame_id] += 1
    fold.executions[data.execution_id] = GraphExecution(
        id=data.execution_id,
        frame_id=data.frame_id,
        plugin_id=data.plugin_id,
        plugin_name=data.plugin_name,
        plugin_type=data.plugin_type,
        stage=data.stage,
        ordinal=fold.begun_in[data.frame_id],
        status="running",
        started_at_ms=at_ms,
        duration_ms=None,
        detail_ref=data.execution_id,
    )
    fold.connect(data.frame_id, data.execution_id, "contains")
    fold.edges += cause_edges(data)


def _plugin_finished(fold: _Fold, at_ms: int, data: PluginFinished) -> None:
    execution = fold.executions[data.execution_id]
    fold.executions[data.execution_id] = replace(execution, status=data.status, duration_ms=data.duration_ms)


def _plan_made(fold: _Fold, at_ms: int, data: PlanMade) -> None:
    fold.executions[data.execution_id] = replace(fold.executions[data.execution_id], phase=data.phase)


def _policy_set(fold: _Fold, at_ms: int, data: PolicySet) -> None:
    fold.control(data.policy_id, "policy", data.frame_id, f"level {data.level}", "default")
    fold.control_edge(data.frame_id, data.policy_id, "contains")


def _seed_admitted(fold: _Fold, at_ms: int, data: SeedAdmitted) -> None:
    fold.control(data.seed_id, "seed", data.frame_id, data.focus[:FOCUS_CHARS], "active")
    fold.control_edge(data.frame_id, data.seed_id, "contains")


def _branch_started(fold: _Fold, at_ms: int, data: BranchStarted) -> None:
    fold.control(data.branch_id, "branch", data.frame_id, data.plugin_id, "active")
    fold.control_edge(data.frame_id, data.branch_id, "contains")
    for seed_id in data.seed_ids:
        fold.control_edge(seed_id, data.branch_id, "spawned_from")
    fold.control_edge(data.branch_id, data.execution_id, "uses")


def _branch_finished(fold: _Fold, at_ms: int, data: BranchFinished) -> None:
    fold.set_status(data.branch_id, data.status)


def _branch_failed(fold: _Fold, at_ms: int, data: BranchFailed) -> None:
    fold.set_status(data.branch_id, "failed")
    fold.control(data.failure_id, "failure", data.frame_id, data.reason, "failed")
    fold.control_edge(data.branch_id, data.failure_id, "failed_as")


def _result_recorded(fold: _Fold, at_ms: int, data: ResultRecorded) -> None:
    fold.control(data.result_id, "result", data.frame_id, data.kind, data.validation_status)
    fold.control_edge(data.branch_id, data.result_id, "produced")


def _candidate_promoted(fold: _Fold, at_ms: int, data: CandidatePromoted) -> None:
    fold.control(data.candidate_id, "candidate", data.frame_id, data.label, data.strength)
    fold.control_edge(data.frame_id, data.candidate_id, "contains")
    fold.control_edge(data.result_id, data.candidate_id, "derived_from")
    fold.deliberate(data.frame_id, "candidate_found")


def _comparison_made(fold: _Fold, at_ms: int, data: ComparisonMade) -> None:
    fold.control(data.comparison_id, "comparison", data.frame_id, data.label, data.status)
    fold.control_edge(data.frame_id, data.comparison_id, "contains")
    for candidate_id in data.candidate_ids:
        fold.control_edge(data.comparison_id, candidate_id, "compares")
    if data.status == "open":
        fold.deliberate(data.frame_id, "comparative_open")


def _challenge_made(fold: _Fold, at_ms: int, data: ChallengeMade) -> None:
    fold.control(data.challenge_id, "challenge", data.frame_id, data.label, data.status)
    fold.control_edge(data.frame_id, data.challenge_id, "contains")
    fold.control_edge(data.challenge_id, data.target_id, "challenges")


# A handler takes the data of its kind of events.
_HANDLERS: Mapping[type, Callable[[_Fold, int, Any], None]] = {
    FrameOpened: _frame_opened,
    FrameClosed: _frame_closed,
    PluginStarted: _plugin_started,
    PluginFinished: _plugin_finished,
    PlanMade: _plan_made,
    PolicySet: _policy_set,
    SeedAdmitted: _seed_admitted,
    BranchStarted: _branch_started,
    BranchFinished: _branch_finished,
    BranchFailed: _branch_failed,
    ResultRecorded: _result_recorded,
    CandidatePromoted: _candidate_promoted,
    ComparisonMade: _comparison_made,
    ChallengeMade: _challenge_made,
}

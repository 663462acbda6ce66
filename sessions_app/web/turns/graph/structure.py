"""The graph of a turn in reading order: the items of each frame, its marks, the edges to draw."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from typing import Any

from mrpvm.trace.graph import ControlNode, Edge, Graph, GraphExecution, GraphFrame
from sessions_app.web.turns.graph.labels import clean

# Control nodes drawn as marks in their frame's header; the others are reached in the details.
MARK_TYPES = ("policy", "candidate", "comparison", "challenge")
DRAWN_EDGES = ("flow", "retry", "child-frame")
VISIBLE_BOX_LIMIT = 150
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class GraphStructure:
    """The whole graph; `frames` has parents before children, `executions` those of a frame in order of their start.

    `items` lists what a frame directly contains, in reading order; `marks` are shown small in its header;
    `hidden_counts` is the number of hidden executions inside each collapsed frame.
    """

    root_id: str
    frames: Mapping[str, GraphFrame]
    executions: Mapping[str, GraphExecution]
    edges: tuple[Edge, ...]
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[ControlNode, ...]] = field(default_factory=dict)
    hidden_counts: Mapping[str, int] = field(default_factory=dict)

    def parent_of(self, item_id: str) -> str | None:
        """Return the frame around an execution or a frame, None for the root."""
        execution = self.executions.get(item_id)
        return execution.frame_id if execution else self.frames[item_id].parent_frame_id


def read_structure(graph: Graph) -> GraphStructure:
    """Return the graph in reading order; each of its texts is on one line."""
    if graph.root_frame_id is None:
        return GraphStructure("", {}, {}, ())
    frames = {
        frame.id: _shown(_titled(frame), "label", frame.id, "purpose", "intent", "status") for frame in graph.frames
    }
    executions = {
        run.id: _shown(run, "plugin_name", run.plugin_id or run.id, "plugin_id", "stage", "status", "phase")
        for run in _as_begun(graph.plugin_executions)
    }
    marks: defaultdict[str, tuple[ControlNode, ...]] = defaultdict(tuple)
    for node in graph.control_nodes:
        if node.type in MARK_TYPES:
            marks[node.frame_id] += (_shown(node, "label", node.type, "status"),)
    openers: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        if edge.kind == "child-frame":
            openers[edge.target].add(edge.source)
    return GraphStructure(
        root_id=graph.root_frame_id,
        frames=frames,
        executions=executions,
        edges=_drawn(graph.edges),
        items=_items(frames, executions, openers),
        marks=dict(marks),
    )


def collapse(structure: GraphStructure, collapsed: Iterable[str]) -> GraphStructure:
    """Return the graph with these frames collapsed: their contents are hidden, edges to these end at the frame."""
    shut = set(collapsed) & structure.frames.keys()
    if not shut:
        return structure
    stands_for: dict[str, str] = {}
    for frame_id, frame in structure.frames.items():
        above = stands_for.get(frame.parent_frame_id or "", "")
        stands_for[frame_id] = above if above in shut else frame_id
    shown = {frame_id for frame_id in structure.frames if stands_for[frame_id] == frame_id}
    hidden: Counter[str] = Counter()
    executions: dict[str, GraphExecution] = {}
    for execution in structure.executions.values():
        box = stands_for[execution.frame_id]
        if box in shut:
            hidden[box] += 1
            stands_for[execution.id] = box
        else:
            executions[execution.id] = execution
            stands_for[execution.id] = execution.id
    moved = (Edge(stands_for[edge.source], stands_for[edge.target], edge.kind) for edge in structure.edges)
    kept = (edge for edge in moved if edge.source != edge.target)
    return replace(
        structure,
        frames={frame_id: frame for frame_id, frame in structure.frames.items() if frame_id in shown},
        executions=executions,
        edges=tuple(dict.fromkeys(kept)),
        items={
            frame_id: () if frame_id in shut else items
            for frame_id, items in structure.items.items()
            if frame_id in shown
        },
        hidden_counts=hidden,
    )


def frames_to_collapse(structure: GraphStructure, *, box_limit: int = VISIBLE_BOX_LIMIT) -> frozenset[str]:
    """Return the frames to collapse at first, deepest and last first, so that at most `box_limit` boxes are visible.

    Executions and frames both count as boxes; the items of the root frame are always visible.
    """
    depth: dict[str, int] = {}
    for frame in structure.frames.values():
        depth[frame.id] = depth.get(frame.parent_frame_id or "", -1) + 1
    shown = len(structure.executions) + len(structure.frames)
    shut: set[str] = set()
    for frame_id in sorted(structure.frames, key=lambda key: (depth[key], id_path(key)), reverse=True):
        if shown <= box_limit or frame_id == structure.root_id:
            break
        # The frames inside are collapsed already: only the direct items are still counted.
        shown -= len(structure.items[frame_id])
        shut.add(frame_id)
    return frozenset(shut)


def id_path(item_id: str) -> tuple[int, ...]:
    """Return the numbers of an id, so that `frame-0.10` sorts after `frame-0.2`."""
    return tuple(int(number) for number in _NUMBER.findall(item_id))


def _titled(frame: GraphFrame) -> GraphFrame:
    return replace(frame, label="Turn", purpose="") if frame.label == "chat-turn" else frame


def _as_begun(executions: Sequence[GraphExecution]) -> list[GraphExecution]:
    """Return the executions with those of each frame sorted by their start; each place keeps its frame."""
    by_frame: defaultdict[str, list[GraphExecution]] = defaultdict(list)
    for execution in executions:
        by_frame[execution.frame_id].append(execution)
    begun = {frame_id: iter(sorted(held, key=lambda run: run.ordinal)) for frame_id, held in by_frame.items()}
    return [next(begun[execution.frame_id]) for execution in executions]


def _items(
    frames: Mapping[str, GraphFrame], executions: Mapping[str, GraphExecution], openers: Mapping[str, set[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the items of each frame in call order: a frame comes after the first execution that opened it.

    If no opener is recorded in the parent frame, the place of the first execution inside the frame counts.
    """
    order = {execution_id: place for place, execution_id in enumerate(executions)}
    first: dict[str, int] = dict.fromkeys(frames, len(executions))
    for execution in executions.values():
        first[execution.frame_id] = min(first[execution.frame_id], order[execution.id])
    for frame in reversed(list(frames.values())):
        if frame.parent_frame_id is not None:
            first[frame.parent_frame_id] = min(first[frame.parent_frame_id], first[frame.id])
    held: dict[str, list[tuple[int, int, tuple[int, ...], str]]] = {frame_id: [] for frame_id in frames}
    for execution in executions.values():
        held[execution.frame_id].append((order[execution.id], 0, (), execution.id))
    for frame in frames.values():
        parent = frame.parent_frame_id
        if parent is not None:
            beside = [
                order[opener]
                for opener in openers.get(frame.id, ())
                if opener in executions and executions[opener].frame_id == parent
            ]
            held[parent].append((min(beside, default=first[frame.id]), 1, id_path(frame.id), frame.id))
    return {frame_id: tuple(entry[-1] for entry in sorted(entries)) for frame_id, entries in held.items()}


def _drawn(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return the edges to draw, each once and sorted, so that the picture does not depend on the stored order."""
    drawn = {edge for edge in edges if edge.kind in DRAWN_EDGES and edge.source != edge.target}
    return tuple(sorted(drawn, key=lambda edge: (id_path(edge.source), id_path(edge.target), edge)))


def _shown[Node: (GraphFrame, GraphExecution, ControlNode)](
    node: Node, title: str, fallback: str, *others: str
) -> Node:
    """Return the node with each text on one line; `fallback` replaces a title that would be empty."""
    shown = {name: clean(getattr(node, name) or "") for name in (title, *others)}
    shown[title] = shown[title] or clean(fallback)
    changed: dict[str, Any] = {name: text for name, text in shown.items() if text != (getattr(node, name) or "")}
    return replace(node, **changed) if changed else node

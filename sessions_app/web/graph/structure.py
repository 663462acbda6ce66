"""A typed reading of the stored graph: frames, executions, marks, edges, in reading order [G-8..G-12].

The stored form is trusted to be well formed [G-14], yet a running turn is read half written: what points nowhere is
hung on the root frame, an edge without both ends is left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.web.graph.labels import clean

# Control nodes drawn as marks in their frame's header [UI-6]; the others are reached in the details.
MARK_TYPES = ("policy", "candidate", "comparison", "challenge")
DRAWN_EDGES = ("flow", "retry", "child-frame")
VISIBLE_BOX_LIMIT = 150
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Execution:
    """One call or skip of a plugin [G-10]."""

    id: str
    frame_id: str
    plugin_id: str
    label: str
    stage: str
    status: str
    duration_ms: float | None
    detail_ref: str
    # Position among all executions of the turn, in the order in which those of a frame began.
    order: int
    # From the start of the turn, None where the record does not say.
    started_ms: float | None = None
    # Of a planner: when in its frame it planned, such as `post-kb`.
    phase: str = ""

    @property
    def attempt(self) -> int:
        """Give the attempt from the id's tail, `exec-0.1~2` gives 2 [O-23]."""
        tail = self.id.rpartition("~")[2]
        return int(tail) if tail.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Mark:
    """A policy, candidate, comparison or challenge, shown small in its frame's header [UI-6]."""

    id: str
    type: str
    label: str
    status: str
    detail_ref: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame with what it directly holds, in reading order [G-9]."""

    id: str
    parent_id: str | None
    label: str
    purpose: str
    status: str
    duration_ms: float | None
    detail_ref: str
    items: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    # Executions inside that a collapsed frame does not show.
    hidden_count: int = 0
    started_ms: float | None = None
    # What a child frame is to answer.
    intent: str = ""

    @property
    def active(self) -> bool:
        """Tell whether the frame still runs."""
        return self.status in ("active", "running")


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One recorded edge [G-11]."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class GraphStructure:
    """The whole graph; `frames` lists parents before their children."""

    root_id: str
    frames: Mapping[str, Frame]
    executions: Mapping[str, Execution]
    edges: tuple[Edge, ...]

    def parent_of(self, item_id: str) -> str | None:
        """Give the frame around an execution or a frame, None for the root."""
        execution = self.executions.get(item_id)
        return execution.frame_id if execution else self.frames[item_id].parent_id


def read_structure(stored: Mapping[str, Any]) -> GraphStructure:
    """Read the stored JSON of a turn's graph [G-8]."""
    raw_frames = {str(raw["id"]): raw for raw in stored.get("frames", ())}
    if not raw_frames:
        return GraphStructure("", {}, {}, ())
    root_id = _root_id(stored, raw_frames)
    parents = _parents(raw_frames, root_id)
    executions = _executions(stored.get("pluginExecutions", ()), raw_frames, root_id)
    openers: dict[str, set[str]] = {}
    for raw in stored.get("edges", ()):
        if raw["kind"] == "child-frame":
            openers.setdefault(str(raw["to"]), set()).add(str(raw["from"]))
    items = _items(parents, executions, openers)
    marks = _marks(stored.get("controlNodes", ()), raw_frames, root_id)
    frames = {
        frame_id: _frame(raw_frames[frame_id], parents[frame_id], items[frame_id], marks.get(frame_id, ()))
        for frame_id in parents
    }
    edges = _edges(stored.get("edges", ()), frames.keys() | executions.keys())
    return GraphStructure(root_id, frames, executions, edges)


def collapse(structure: GraphStructure, collapsed: Iterable[str]) -> GraphStructure:
    """Give the graph with the named frames shut: their inside is hidden, its edges end at the frame itself."""
    shut = set(collapsed) & structure.frames.keys()
    if not shut:
        return structure
    stands_for: dict[str, str] = {}
    for frame_id, frame in structure.frames.items():
        above = stands_for.get(frame.parent_id or "", "")
        stands_for[frame_id] = above if above in shut else frame_id
    shown = {frame_id for frame_id in structure.frames if stands_for[frame_id] == frame_id}
    hidden = dict.fromkeys(shown, 0)
    executions: dict[str, Execution] = {}
    for execution in structure.executions.values():
        box = stands_for[execution.frame_id]
        if box in shut:
            hidden[box] += 1
            stands_for[execution.id] = box
        else:
            executions[execution.id] = execution
            stands_for[execution.id] = execution.id
    frames = {
        frame_id: replace(frame, items=(), hidden_count=hidden[frame_id]) if frame_id in shut else frame
        for frame_id, frame in structure.frames.items()
        if frame_id in shown
    }
    moved = (Edge(stands_for[edge.source], stands_for[edge.target], edge.kind) for edge in structure.edges)
    kept = (edge for edge in moved if edge.source != edge.target)
    return GraphStructure(structure.root_id, frames, executions, tuple(dict.fromkeys(kept)))


def frames_to_collapse(structure: GraphStructure, *, box_limit: int = VISIBLE_BOX_LIMIT) -> frozenset[str]:
    """Give the frames to shut at first, deepest and last first, so that at most `box_limit` boxes show.

    Executions and frames are boxes alike; what the root frame itself holds always shows.
    """
    depth: dict[str, int] = {}
    for frame in structure.frames.values():
        depth[frame.id] = depth.get(frame.parent_id or "", -1) + 1
    shown = len(structure.executions) + len(structure.frames)
    shut: set[str] = set()
    for frame_id in sorted(structure.frames, key=lambda key: (depth[key], id_path(key)), reverse=True):
        if shown <= box_limit or frame_id == structure.root_id:
            break
        # All frames inside are shut already, so what it holds directly is all that is still counted of it.
        shown -= len(structure.frames[frame_id].items)
        shut.add(frame_id)
    return frozenset(shut)


def id_path(item_id: str) -> tuple[int, ...]:
    """Give the numbers of an id, so that `frame-0.10` sorts after `frame-0.2` [O-23]."""
    return tuple(int(number) for number in _NUMBER.findall(item_id))


def _root_id(stored: Mapping[str, Any], raw_frames: Mapping[str, Mapping[str, Any]]) -> str:
    named = str(stored.get("rootFrameId", ""))
    if named in raw_frames:
        return named
    without_parent = (frame_id for frame_id, raw in raw_frames.items() if not raw.get("parentFrameId"))
    return next(without_parent, next(iter(raw_frames)))


def _parents(raw_frames: Mapping[str, Mapping[str, Any]], root_id: str) -> dict[str, str | None]:
    """Map each frame to its parent, parents first; a frame whose parents do not lead to the root hangs on the root."""
    children: dict[str, list[str]] = {}
    for frame_id, raw in raw_frames.items():
        parent = str(raw.get("parentFrameId") or root_id)
        children.setdefault(parent if parent in raw_frames else root_id, []).append(frame_id)
    parents: dict[str, str | None] = {root_id: None}

    def descend(start: str) -> None:
        waiting = [start]
        while waiting:
            frame_id = waiting.pop()
            for child in children.get(frame_id, ()):
                if child not in parents:
                    parents[child] = frame_id
                    waiting.append(child)

    descend(root_id)
    for frame_id in raw_frames:
        if frame_id not in parents:
            parents[frame_id] = root_id
            descend(frame_id)
    return parents


def _executions(
    raw_executions: Sequence[Mapping[str, Any]], raw_frames: Mapping[str, Any], root_id: str
) -> dict[str, Execution]:
    executions: dict[str, Execution] = {}
    for order, raw in enumerate(_as_begun(raw_executions)):
        frame_id = str(raw.get("frameId"))
        execution_id = str(raw["id"])
        executions[execution_id] = Execution(
            id=execution_id,
            frame_id=frame_id if frame_id in raw_frames else root_id,
            plugin_id=_text(raw, "pluginId"),
            label=_text(raw, "pluginName") or _text(raw, "pluginId") or execution_id,
            stage=_text(raw, "stage"),
            status=_text(raw, "status"),
            duration_ms=_milliseconds(raw, "durationMs"),
            detail_ref=str(raw.get("detailRef") or execution_id),
            order=order,
            started_ms=_milliseconds(raw, "startedAtMs"),
            phase=_text(raw, "phase"),
        )
    return executions


def _as_begun(raw_executions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give the executions with those of each frame in the order in which they began, on the places the frame has."""
    by_frame: dict[str, list[Mapping[str, Any]]] = {}
    for raw in raw_executions:
        by_frame.setdefault(str(raw.get("frameId")), []).append(raw)
    begun = {frame_id: iter(sorted(held, key=lambda raw: raw.get("ordinal", 0))) for frame_id, held in by_frame.items()}
    return [next(begun[str(raw.get("frameId"))]) for raw in raw_executions]


def _items(
    parents: Mapping[str, str | None], executions: Mapping[str, Execution], openers: Mapping[str, Set[str]]
) -> dict[str, tuple[str, ...]]:
    """List what each frame holds in call order: a frame follows the execution that opened it, the first of several.

    A frame whose opener is not recorded beside it stands where the first execution inside it was called.
    """
    last = len(executions)
    first: dict[str, int] = dict.fromkeys(parents, last)
    for execution in executions.values():
        first[execution.frame_id] = min(first[execution.frame_id], execution.order)
    for frame_id in reversed(list(parents)):
        parent = parents[frame_id]
        if parent is not None:
            first[parent] = min(first[parent], first[frame_id])
    held: dict[str, list[tuple[int, int, tuple[int, ...], str]]] = {frame_id: [] for frame_id in parents}
    for execution in executions.values():
        held[execution.frame_id].append((execution.order, 0, (), execution.id))
    for frame_id, parent in parents.items():
        if parent is not None:
            beside = [
                executions[opener].order
                for opener in openers.get(frame_id, ())
                if opener in executions and executions[opener].frame_id == parent
            ]
            place = min(beside, default=first[frame_id])
            held[parent].append((place, 1, id_path(frame_id), frame_id))
    return {frame_id: tuple(entry[-1] for entry in sorted(entries)) for frame_id, entries in held.items()}


def _marks(
    raw_nodes: Sequence[Mapping[str, Any]], raw_frames: Mapping[str, Any], root_id: str
) -> dict[str, tuple[Mark, ...]]:
    marks: dict[str, tuple[Mark, ...]] = {}
    for raw in raw_nodes:
        if raw.get("type") not in MARK_TYPES:
            continue
        frame_id = str(raw.get("frameId"))
        holder = frame_id if frame_id in raw_frames else root_id
        mark_id = str(raw["id"])
        mark = Mark(
            id=mark_id,
            type=str(raw["type"]),
            label=_text(raw, "label") or str(raw["type"]),
            status=_text(raw, "status"),
            detail_ref=str(raw.get("detailRef") or mark_id),
        )
        marks[holder] = (*marks.get(holder, ()), mark)
    return marks


def _frame(raw: Mapping[str, Any], parent_id: str | None, items: tuple[str, ...], marks: tuple[Mark, ...]) -> Frame:
    frame_id = str(raw["id"])
    return Frame(
        id=frame_id,
        parent_id=parent_id,
        label=_text(raw, "label") or frame_id,
        purpose=_text(raw, "purpose"),
        status=_text(raw, "status"),
        duration_ms=_milliseconds(raw, "durationMs"),
        detail_ref=str(raw.get("detailRef") or frame_id),
        items=items,
        marks=marks,
        started_ms=_milliseconds(raw, "startedAtMs"),
        intent=_text(raw, "intent"),
    )


def _edges(raw_edges: Sequence[Mapping[str, Any]], known: Set[str]) -> tuple[Edge, ...]:
    """Give the edges to draw, each once and in an order of their own: the stored order must not move the picture."""
    edges = {Edge(str(raw["from"]), str(raw["to"]), str(raw["kind"])) for raw in raw_edges}
    drawn = (
        edge
        for edge in edges
        if edge.kind in DRAWN_EDGES and edge.source != edge.target and edge.source in known and edge.target in known
    )
    return tuple(sorted(drawn, key=lambda edge: (id_path(edge.source), id_path(edge.target), edge)))


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return "" if value is None else clean(str(value))


def _milliseconds(raw: Mapping[str, Any], key: str) -> float | None:
    value = raw.get(key)
    return float(value) if isinstance(value, int | float) else None

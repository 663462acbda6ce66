"""Stored graphs for tests of the graph: small fixed ones, and random ones by hypothesis."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from mrpvm.trace.graph import Graph
from mrpvm.wire import from_wire
from sessions_app.web.turns.graph import GraphStructure, ShownGraph, read_structure, show_structure

Json = dict[str, Any]


def structure_of(stored: Json) -> GraphStructure:
    """Return the structure of a graph in its JSON form."""
    return read_structure(from_wire(Graph, stored))


def shown_of(stored: Json, **choice: Any) -> ShownGraph:
    """Return the visible part of a stored graph."""
    return show_structure(structure_of(stored), **choice)


def frame(frame_id: str, parent_id: str | None = None, **fields: Any) -> Json:
    base = {
        "id": frame_id,
        "parentFrameId": parent_id,
        "label": frame_id,
        "purpose": "chat-turn",
        "status": "succeeded",
        "startedAtMs": 0,
        "durationMs": 120,
        "detailRef": frame_id,
    }
    return base | fields


def execution(execution_id: str, frame_id: str = "frame-0", **fields: Any) -> Json:
    base = {
        "id": execution_id,
        "frameId": frame_id,
        "pluginId": "kb-fast",
        "pluginName": "KB fast",
        "pluginType": "kb",
        "stage": "retrieve",
        "ordinal": 0,
        "status": "success",
        "durationMs": 12,
        "startedAtMs": 0,
        "detailRef": execution_id,
    }
    return base | fields


def edge(source: str, target: str, kind: str = "flow") -> Json:
    return {"from": source, "to": target, "kind": kind}


def mark(mark_id: str, frame_id: str = "frame-0", **fields: Any) -> Json:
    base = {
        "id": mark_id,
        "type": "policy",
        "frameId": frame_id,
        "label": "level 1",
        "status": "settled",
        "detailRef": mark_id,
    }
    return base | fields


def graph(
    frames: Iterable[Json], executions: Iterable[Json] = (), edges: Iterable[Json] = (), nodes: Iterable[Json] = ()
) -> Json:
    return {
        "rootFrameId": "frame-0",
        "frames": list(frames),
        "pluginExecutions": list(executions),
        "edges": list(edges),
        "controlNodes": list(nodes),
        "controlEdges": [],
    }


def fan_out(child_count: int = 3) -> Json:
    """Return a root with parallel frames of two executions each, and the validation of their results."""
    frames = [frame("frame-0")]
    executions = [execution("exec-0.1~1"), execution("exec-0.2~1")]
    edges = [edge("exec-0.1~1", "exec-0.2~1")]
    for number in range(1, child_count + 1):
        child = f"frame-0.{number}"
        frames.append(frame(child, "frame-0", purpose="parallel-intent"))
        first, second = f"exec-0.{number}.1~1", f"exec-0.{number}.2~1"
        executions += [execution(first, child), execution(second, child)]
        edges += [edge("exec-0.2~1", child, "child-frame"), edge(first, second), edge(second, "exec-0.3~1")]
    executions.append(execution("exec-0.3~1"))
    return graph(frames, executions, edges)


def chain(length: int) -> Json:
    """Return one frame with a sequence of executions."""
    ids = [f"exec-0.{number}~1" for number in range(1, length + 1)]
    edges = [edge(before, after) for before, after in pairwise(ids)]
    return graph([frame("frame-0")], [execution(each) for each in ids], edges)


@st.composite
def graphs(draw: st.DrawFn, max_frames: int = 9, max_executions: int = 28) -> Json:
    """Draw any tree of frames, with executions in any frame and call order, edges between any nodes, and marks."""
    frames = [frame("frame-0")]
    child_counts = {"frame-0": 0}
    for _ in range(draw(st.integers(0, max_frames - 1))):
        parent = draw(st.sampled_from(sorted(child_counts)))
        child_counts[parent] += 1
        child = f"{parent}.{child_counts[parent]}"
        child_counts[child] = 0
        frames.append(frame(child, parent, label=draw(st.text(max_size=40))))
    holders = draw(st.lists(st.sampled_from(sorted(child_counts)), max_size=max_executions))
    executions = []
    numbers = dict.fromkeys(child_counts, 0)
    for holder in holders:
        numbers[holder] += 1
        executions.append(execution(f"{holder.replace('frame', 'exec')}.{numbers[holder]}~1", holder))
    ends = st.sampled_from(sorted(child_counts) + [each["id"] for each in executions])
    kinds = st.sampled_from(["flow", "retry", "child-frame", "contains"])
    edges = draw(st.lists(st.builds(edge, ends, ends, kinds), max_size=40))
    mark_frames = draw(st.lists(st.sampled_from(sorted(child_counts)), max_size=20))
    types = ["policy", "candidate", "comparison", "challenge", "seed"]
    marks = [mark(f"node-{n}", holder, type=types[n % 5]) for n, holder in enumerate(mark_frames)]
    return graph(frames, executions, edges, marks)

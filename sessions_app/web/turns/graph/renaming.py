"""Rename the ids of a graph, so that corresponding items of two graphs are selected and opened together."""

from collections.abc import Mapping
from copy import replace

from mrpvm.trace.graph import Edge
from sessions_app.web.turns.graph.structure import GraphStructure


def renamed(structure: GraphStructure, names: Mapping[str, str]) -> GraphStructure:
    """Return the structure with the id of each frame and execution replaced; the new ids must be unique."""
    frames = {
        names[frame.id]: replace(
            frame,
            id=names[frame.id],
            parent_frame_id=None if frame.parent_frame_id is None else names[frame.parent_frame_id],
        )
        for frame in structure.frames.values()
    }
    executions = {
        names[run.id]: replace(run, id=names[run.id], frame_id=names[run.frame_id])
        for run in structure.executions.values()
    }
    edges = tuple(Edge(names[edge.source], names[edge.target], edge.kind) for edge in structure.edges)
    return replace(
        structure,
        root_id=names.get(structure.root_id, structure.root_id),
        frames=frames,
        executions=executions,
        edges=edges,
        items={names[frame_id]: tuple(names[item] for item in held) for frame_id, held in structure.items.items()},
        marks={names[frame_id]: marks for frame_id, marks in structure.marks.items()},
        hidden_counts={names[frame_id]: count for frame_id, count in structure.hidden_counts.items()},
    )

"""A graph under other ids: what plays the same part in two graphs is chosen, opened and shut together by one id."""

from collections.abc import Mapping
from dataclasses import replace

from sessions_app.web.graph.structure import Edge, GraphStructure


def renamed(structure: GraphStructure, names: Mapping[str, str]) -> GraphStructure:
    """Give the structure with each frame's and execution's id replaced; every id must have a name, and no two one."""
    frames = {
        names[frame.id]: replace(
            frame,
            id=names[frame.id],
            parent_id=None if frame.parent_id is None else names[frame.parent_id],
            items=tuple(names[item] for item in frame.items),
        )
        for frame in structure.frames.values()
    }
    executions = {
        names[run.id]: replace(run, id=names[run.id], frame_id=names[run.frame_id])
        for run in structure.executions.values()
    }
    edges = tuple(Edge(names[edge.source], names[edge.target], edge.kind) for edge in structure.edges)
    return GraphStructure(names.get(structure.root_id, structure.root_id), frames, executions, edges)

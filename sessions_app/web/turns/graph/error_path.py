"""The path to a turn's error: from the first call to the execution that caused the failure.

Only recorded edges are followed. If a box has several predecessors, the path takes the one called last; if it has
none, the path takes the box that opened the frame.
"""

from dataclasses import dataclass, field

from mrpvm.trace.graph import Edge
from sessions_app.web.turns.graph.status import Tone, tone_of
from sessions_app.web.turns.graph.structure import GraphStructure, id_path


@dataclass(frozen=True, slots=True)
class ErrorPath:
    """Items and edges on the path; both are empty for a turn that did not fail."""

    items: frozenset[str] = field(default_factory=frozenset)
    edges: frozenset[Edge] = field(default_factory=frozenset)


def error_path(structure: GraphStructure) -> ErrorPath:
    """Return the path to the error of a failed turn."""
    culprit = _culprit(structure)
    if culprit is None:
        return ErrorPath()
    feeding: dict[str, list[Edge]] = {}
    for edge in structure.edges:
        feeding.setdefault(edge.target, []).append(edge)
    items, edges = {culprit}, set()
    current: str | None = culprit
    while current is not None:
        fed_by = [edge for edge in feeding.get(current, ()) if edge.source not in items]
        if fed_by:
            last = max(fed_by, key=lambda edge: (id_path(edge.source), edge))
            edges.add(last)
            current = last.source
        else:
            current = structure.parent_of(current)
        if current is not None:
            items.add(current)
    return ErrorPath(frozenset(items), frozenset(edges))


def _culprit(structure: GraphStructure) -> str | None:
    """Return the last failed box in the innermost failed frame, or that frame; None if the turn did not fail."""
    current = structure.root_id
    if not current or tone_of(structure.frames[current].status) is not Tone.ERROR:
        return None
    while True:
        failed = [item for item in structure.items[current] if _has_failed(structure, item)]
        if not failed:
            return current
        current = failed[-1]
        if current not in structure.frames:
            return current


def _has_failed(structure: GraphStructure, item: str) -> bool:
    node = structure.executions.get(item) or structure.frames[item]
    return tone_of(node.status) is Tone.ERROR

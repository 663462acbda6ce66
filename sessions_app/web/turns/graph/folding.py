"""Replaces planner calls in the picture by badges on the edges between their neighbours."""

from collections.abc import Collection, Mapping
from copy import replace
from dataclasses import dataclass

from mrpvm.trace.graph import Edge, GraphExecution
from sessions_app.web.turns.graph.status import Tone, tone_of
from sessions_app.web.turns.graph.structure import GraphStructure, id_path

_PLANNER = "planner"


@dataclass(frozen=True, slots=True)
class FoldedGraph:
    """The structure without the successful planners.

    `badges` holds these planners by the edge that shows them; `ends` holds those without a successor, by predecessor.
    """

    structure: GraphStructure
    badges: Mapping[Edge, tuple[GraphExecution, ...]]
    ends: Mapping[str, tuple[GraphExecution, ...]]


def fold_planners(structure: GraphStructure, *, kept: Collection[str] = ()) -> FoldedGraph:
    """Return the graph with each successful planner drawn on the edge between the boxes before and after it.

    A planner that failed, that replaced another, or that has no predecessor stays a box.

    Args:
        kept: ids of executions that stay boxes in any case.
    """
    edges = set(structure.edges)
    badges: dict[Edge, tuple[GraphExecution, ...]] = {}
    ends: dict[str, tuple[GraphExecution, ...]] = {}
    gone: set[str] = set()
    for run in structure.executions.values():
        if run.stage != _PLANNER or run.id in kept or tone_of(run.status) is not Tone.OK:
            continue
        fed = [edge for edge in edges if edge.target == run.id]
        followed = sorted(
            (edge for edge in edges if edge.source == run.id), key=lambda edge: (id_path(edge.target), edge)
        )
        if len(fed) != 1 or fed[0].kind != "flow":
            continue
        carried = badges.pop(fed[0], ())
        if not followed:
            ends[fed[0].source] = (*ends.get(fed[0].source, ()), *carried, run)
        edges -= {fed[0], *followed}
        gone.add(run.id)
        for place, edge in enumerate(followed):
            through = Edge(fed[0].source, edge.target, edge.kind)
            edges.add(through)
            # Of several edges the first carries the badge, so that a call is drawn once.
            badges[through] = (*badges.pop(edge, ()), *badges.get(through, ()), *((*carried, run) if not place else ()))
    shown = {edge: runs for edge, runs in badges.items() if runs}
    return FoldedGraph(_without(structure, gone, edges), shown, ends)


def _without(structure: GraphStructure, gone: set[str], edges: set[Edge]) -> GraphStructure:
    if not gone:
        return structure
    return replace(
        structure,
        executions={key: run for key, run in structure.executions.items() if key not in gone},
        items={frame: tuple(item for item in items if item not in gone) for frame, items in structure.items.items()},
        edges=tuple(sorted(edges, key=lambda edge: (id_path(edge.source), id_path(edge.target), edge))),
    )

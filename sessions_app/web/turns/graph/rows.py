"""Which item of a frame is in which row: time runs downwards, items that run in parallel are in the same row.

A flow or child-frame edge leads to a lower row. A retry is beside the attempt that it replaces. Executions of
parallel branches have the same predecessor and so the same row. An item without an incoming edge is below the item
that was called before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mrpvm.trace.graph import Edge, GraphFrame
from sessions_app.web.turns.graph.structure import GraphStructure, id_path


@dataclass(frozen=True, slots=True)
class ScopedEdge:
    """An edge, as seen from the innermost frame that contains both its ends."""

    edge: Edge
    scope_id: str
    # From the item directly in this frame down to the end of the edge.
    source_path: tuple[str, ...]
    target_path: tuple[str, ...]


def scoped_edges(structure: GraphStructure) -> tuple[ScopedEdge, ...]:
    """Return every edge with its scope, without edges between an item and a frame that contains it."""
    paths: dict[str, tuple[str, ...]] = {}
    for frame_id, frame in structure.frames.items():
        around = paths.get(frame.parent_frame_id, ()) if frame.parent_frame_id else ()
        paths[frame_id] = (*around, frame_id)
    for execution in structure.executions.values():
        paths[execution.id] = (*paths[execution.frame_id], execution.id)
    links = []
    for edge in structure.edges:
        source, target = paths[edge.source], paths[edge.target]
        shared = 0
        while shared < min(len(source), len(target)) and source[shared] == target[shared]:
            shared += 1
        if 0 < shared < min(len(source), len(target)):
            links.append(ScopedEdge(edge, source[shared - 1], source[shared:], target[shared:]))
    return tuple(links)


def frame_rows(frame: GraphFrame, structure: GraphStructure, links: tuple[ScopedEdge, ...]) -> list[list[str]]:
    """Return the frame's items as rows from top to bottom, each from left to right.

    Args:
        links: the edges whose scope is this frame.
    """
    items = structure.items[frame.id]
    flows, retries = _openers(items, links)
    rank = _ranks(items, structure, flows, retries)
    rows: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for item in items:
        rows[rank[item]].append(item)
    return [_ordered(row, structure, retries) for row in rows if row]


def column_guides(rows: list[list[str]], links: tuple[ScopedEdge, ...]) -> dict[str, str]:
    """Return for each item the item above with which it should be aligned: the first attempt of its predecessor."""
    row_of = {item: index for index, row in enumerate(rows) for item in row}
    head: dict[str, str] = {}
    guide: dict[str, str] = {}
    incoming: dict[str, list[ScopedEdge]] = {}
    for link in links:
        incoming.setdefault(link.target_path[0], []).append(link)
    for row in rows:
        for item in row:
            sources = [(link.source_path[0], link.edge.kind) for link in incoming.get(item, ())]
            beside = [source for source, kind in sources if kind == "retry" and row_of[source] == row_of[item]]
            head[item] = head.get(beside[0], beside[0]) if beside else item
            above = [source for source, kind in sources if row_of[source] < row_of[item]]
            if above:
                nearest = max(above, key=lambda source: row_of[source])
                guide[item] = head[nearest]
    return guide


def _openers(items: Sequence[str], links: tuple[ScopedEdge, ...]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return for each item its earlier predecessors, and the items that it is a retry of."""
    position = {item: index for index, item in enumerate(items)}
    flows: dict[str, list[str]] = {}
    retries: dict[str, list[str]] = {}
    for link in links:
        source, target = link.source_path[0], link.target_path[0]
        # Frames with edges in both directions would be a cycle: only edges along the order of calls count.
        if position[source] < position[target]:
            (retries if link.edge.kind == "retry" else flows).setdefault(target, []).append(source)
    return flows, retries


def _ranks(
    items: Sequence[str], structure: GraphStructure, flows: Mapping[str, list[str]], retries: Mapping[str, list[str]]
) -> dict[str, int]:
    rank: dict[str, int] = {}
    below_frames = 0
    previous = ""
    for item in items:
        is_frame = item in structure.frames
        fed = max((rank[source] + 1 for source in flows.get(item, ())), default=0)
        if item in retries:
            rank[item] = max(fed, *(rank[source] for source in retries[item]))
        elif item in flows:
            rank[item] = fed
        elif not previous:
            rank[item] = 0
        else:
            beside_frame = is_frame and previous in structure.frames
            rank[item] = rank[previous] + (0 if beside_frame else 1)
        if is_frame:
            below_frames = max(below_frames, rank[item] + 1)
        else:
            # Calls that a frame makes after it opened its children run after these.
            rank[item] = max(rank[item], below_frames)
        previous = item
    return rank


def _ordered(row: list[str], structure: GraphStructure, retries: Mapping[str, list[str]]) -> list[str]:
    """Return one row with executions before frames, by id, each attempt followed by its replacements."""
    members = set(row)
    replaced_by: dict[str, list[str]] = {}
    heads = []
    for item in row:
        beside = [source for source in retries.get(item, ()) if source in members]
        if beside:
            replaced_by.setdefault(beside[-1], []).append(item)
        else:
            heads.append(item)
    heads.sort(key=lambda item: (item in structure.frames, id_path(item)))
    ordered: list[str] = []
    waiting = heads[::-1]
    while waiting:
        item = waiting.pop()
        ordered.append(item)
        waiting.extend(reversed(replaced_by.get(item, ())))
    return ordered

"""Two graphs side by side: which frames and executions correspond.

Ids are places within one turn, so nodes are aligned by stage and plugin, or by purpose, inside frames that are aligned.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence

from msgspec import Struct

from mrpvm.trace.graph import Graph, GraphExecution, GraphFrame, path_key

type _Node = GraphFrame | GraphExecution
type _Held = Mapping[str | None, list[_Node]]


class Aligned(Struct, frozen=True):
    """A frame or execution with its counterpart, by id; None where the other turn has none. The root's depth is 0."""

    left: str | None
    right: str | None
    is_frame: bool
    depth: int


def align_graphs(left: Graph, right: Graph) -> list[Aligned]:
    """Return every frame and execution of both graphs once, in reading order, frames before what they hold.

    Executions are aligned by stage and plugin, frames by purpose and label, then by purpose alone; of several that are
    alike the first with the first, the second with the second. The root frames are always aligned.
    """
    roots = left.root_frame_id, right.root_frame_id
    return list(_within(_held(left), _held(right), Aligned(*roots, True, 0))) if any(roots) else []


def _held(graph: Graph) -> dict[str | None, list[_Node]]:
    """Return what each frame directly holds, in reading order: a frame after the execution that opened it."""
    openers = {edge.target: edge.source for edge in graph.edges if edge.kind == "child-frame"}
    held: dict[str | None, list[_Node]] = defaultdict(list)
    for frame in graph.frames:
        if frame.parent_frame_id is not None:
            held[frame.parent_frame_id].append(frame)
    for execution in graph.plugin_executions:
        held[execution.frame_id].append(execution)
    for nodes in held.values():
        nodes.sort(
            key=lambda node: (path_key(openers.get(node.id, node.id)), isinstance(node, GraphFrame), path_key(node.id))
        )
    return held


def _within(left: _Held, right: _Held, roots: Aligned) -> Iterator[Aligned]:
    """Return two aligned frames, of which one may be missing, and all nodes in them."""
    waiting = [roots]
    while waiting:
        match = waiting.pop()
        yield match
        if match.is_frame:
            inside = left.get(match.left, []), right.get(match.right, [])
            waiting.extend(reversed(_merged(*inside, match.depth + 1)))


def _merged(left: Sequence[_Node], right: Sequence[_Node], depth: int) -> list[Aligned]:
    """Return the nodes of both, aligned: in the order of the left, what is alone on the right after its neighbour."""
    partners = _partners(left, right)
    place = {node.id: number for number, node in enumerate(right)}
    taken = {node.id for node in partners.values()}
    merged: list[Aligned] = []
    reached = 0

    def alone(until: int) -> None:
        nonlocal reached
        for other in right[reached:until]:
            if other.id not in taken:
                merged.append(Aligned(None, other.id, isinstance(other, GraphFrame), depth))
        reached = max(reached, until)

    for node in left:
        other = partners.get(node.id)
        if other is not None:
            alone(place[other.id])
        merged.append(Aligned(node.id, other.id if other else None, isinstance(node, GraphFrame), depth))
    alone(len(right))
    return merged


def _partners(left: Sequence[_Node], right: Sequence[_Node]) -> dict[str, _Node]:
    """Return the right node that each left node is aligned with, by the left node's id."""
    partners: dict[str, _Node] = {}
    free = list(right)
    for key_of in (_exact, _loose):
        by_key: dict[Hashable, deque[_Node]] = defaultdict(deque)
        for node in free:
            by_key[key_of(node)].append(node)
        for node in left:
            if node.id not in partners and by_key[key_of(node)]:
                partners[node.id] = by_key[key_of(node)].popleft()
        taken = {node.id for node in partners.values()}
        free = [node for node in free if node.id not in taken]
    return partners


def _exact(node: _Node) -> Hashable:
    return ("frame", node.purpose, node.label) if isinstance(node, GraphFrame) else _loose(node)


def _loose(node: _Node) -> Hashable:
    return ("frame", node.purpose) if isinstance(node, GraphFrame) else ("execution", node.stage, node.plugin_id)

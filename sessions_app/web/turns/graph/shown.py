"""What a reader sees of a graph: the whole structure, and the structure with collapsed frames."""

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.web.turns.graph.structure import GraphStructure, collapse, frames_to_collapse


@dataclass(frozen=True, slots=True)
class ShownGraph:
    """The structure as recorded, and as shown with the `collapsed` frames; `selected` is an id or empty."""

    whole: GraphStructure
    visible: GraphStructure
    collapsed: frozenset[str]
    selected: str = ""


EVERY = "all"
"""Stands for every frame in a reader's choice of what is open and shut."""
OPEN_AT_MOST = 1_500
"""Executions up to which a reader may open every frame at once."""


def show_structure(
    whole: GraphStructure, *, opened: Iterable[str] = (), shut: Iterable[str] = (), selected: str = ""
) -> ShownGraph:
    """Return what a reader sees of a graph; in a large graph inner frames are collapsed until the reader opens them.

    Args:
        opened: frames that the reader expanded, or `EVERY`.
        shut: frames that the reader collapsed, or `EVERY`; a frame in both is open.
        selected: an item that must be visible.
    """
    opened_ids, shut_ids = set(opened), set(shut)
    if EVERY in shut_ids:
        at_first = frozenset(whole.frames)
    elif EVERY in opened_ids and len(whole.executions) <= OPEN_AT_MOST:
        at_first = frozenset()
    else:
        at_first = frames_to_collapse(whole)
    around = whole.parent_of(selected) if selected in whole.frames or selected in whole.executions else None
    kept_open = _with_ancestors(whole, opened_ids | ({around} if around else set()))
    collapsed = (at_first - kept_open) | (whole.frames.keys() & shut_ids)
    collapsed -= {whole.root_id} | (_with_ancestors(whole, [around]) if around else frozenset())
    return ShownGraph(whole, collapse(whole, collapsed), collapsed, selected)


def _with_ancestors(structure: GraphStructure, frame_ids: Iterable[str]) -> frozenset[str]:
    """Return the frames and all their ancestors: an open frame is visible only inside open frames."""
    ids: set[str] = set()
    for frame_id in frame_ids:
        current: str | None = frame_id if frame_id in structure.frames else None
        while current is not None and current not in ids:
            ids.add(current)
            current = structure.frames[current].parent_frame_id
    return frozenset(ids)

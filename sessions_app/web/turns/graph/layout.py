"""Sizes and places: nested frames, rows inside them, and several stacks of rows where a frame would be too tall.

Deterministic: the same structure always gives the same picture. Boxes are placed without regard to the paths of
edges; `routes` then leads every edge through the gaps between the boxes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mrpvm.trace.graph import GraphFrame
from sessions_app.web.turns.graph.labels import text_width
from sessions_app.web.turns.graph.routes import Route, route_links
from sessions_app.web.turns.graph.rows import ScopedEdge, column_guides, frame_rows, scoped_edges
from sessions_app.web.turns.graph.shapes import Band, Box, Grid, Stack
from sessions_app.web.turns.graph.structure import GraphStructure

BOX_WIDTH, BOX_HEIGHT = 220.0, 44.0
COLUMN_GAP, ROW_GAP, STACK_GAP = 22.0, 22.0, 36.0
FRAME_PAD, FRAME_TOP_GUTTER, FRAME_BOTTOM_GUTTER = 16.0, 18.0, 16.0
HEADER_HEIGHT = 44.0
MARK_WIDTH, MARK_HEIGHT, MARK_GAP, MARK_LINES = 160.0, 20.0, 6.0, 4
EMPTY_BODY_HEIGHT = 24.0
MAX_HEADER_WIDTH = 320.0
LABEL_FONT_PX = 13.0
CANVAS_PAD = 12.0
# A row holds four boxes before it wraps (at most four parallel seeds run at a time), and more in large frames.
_ROW_BOXES = 4
_ROW_WIDTH = 1_300.0
_ASPECT = 1.6
_ROW_ASPECT = 2.1
# Below this height a single stack is easier to read than a compact block.
_STACK_HEIGHT = 760.0
_MAX_STACKS = 12
# A layout with more stacks is taken only if its cost is below this share of the best cost so far.
_STACK_GAIN = 0.85


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The place of every box and edge in one coordinate system, in px."""

    width: float
    height: float
    # Executions, frames and those marks that fit the header.
    boxes: Mapping[str, Box]
    # Marks that do not fit the header, by frame.
    unplaced_marks: Mapping[str, int]
    routes: tuple[Route, ...]


@dataclass(slots=True)
class _Placing:
    """Sizes and relative places, filled in from the innermost frames outwards."""

    structure: GraphStructure
    links: Mapping[str, tuple[ScopedEdge, ...]]
    size: dict[str, tuple[float, float]] = field(default_factory=dict)
    grid: dict[str, Grid] = field(default_factory=dict)
    place: dict[str, Box] = field(default_factory=dict)
    unplaced: dict[str, int] = field(default_factory=dict)


def layout_graph(structure: GraphStructure) -> GraphLayout:
    """Place the whole graph."""
    if not structure.frames:
        return GraphLayout(0.0, 0.0, {}, {}, ())
    links = scoped_edges(structure)
    by_scope: dict[str, tuple[ScopedEdge, ...]] = {}
    for scope_id, group in _grouped(links).items():
        by_scope[scope_id] = tuple(group)
    placing = _Placing(structure, by_scope)
    for execution_id in structure.executions:
        placing.size[execution_id] = (BOX_WIDTH, BOX_HEIGHT)
    for frame_id in reversed(list(structure.frames)):
        _place_frame(placing, structure.frames[frame_id])
    width, height = placing.size[structure.root_id]
    placing.place[structure.root_id] = Box(CANVAS_PAD, CANVAS_PAD, width, height)
    boxes, grids = _absolute(placing)
    routes = route_links(links, boxes, grids, port=BOX_WIDTH / 2)
    return GraphLayout(width + 2 * CANVAS_PAD, height + 2 * CANVAS_PAD, boxes, placing.unplaced, routes)


def _grouped(links: Sequence[ScopedEdge]) -> dict[str, list[ScopedEdge]]:
    groups: dict[str, list[ScopedEdge]] = {}
    for link in links:
        groups.setdefault(link.scope_id, []).append(link)
    return groups


def _place_frame(placing: _Placing, frame: GraphFrame) -> None:
    """Place a frame's items relative to its top left corner and set its size."""
    links = placing.links.get(frame.id, ())
    rows = frame_rows(frame, placing.structure, links)
    lines = _wrapped(placing, rows, column_guides(rows, links))
    stacks = _stacked(lines)
    inner_width = sum(_width(stack) for stack in stacks) + STACK_GAP * (len(stacks) - 1) if stacks else 0.0
    width = max(inner_width + 2 * FRAME_PAD, BOX_WIDTH + 2 * FRAME_PAD, _header_width(frame))
    top = HEADER_HEIGHT + _place_marks(placing, frame, width)
    if stacks:
        bottom = _place_stacks(placing, frame.id, stacks, top + FRAME_TOP_GUTTER)
        placing.grid[frame.id] = Grid(top, bottom, tuple(_stack_bands(placing, stacks)))
    else:
        bottom = top + EMPTY_BODY_HEIGHT
        placing.grid[frame.id] = Grid(top, bottom, ())
    placing.size[frame.id] = (width, bottom)


def _header_width(frame: GraphFrame) -> float:
    """Return the width that shows the frame's label, up to a maximum."""
    return max(
        MARK_WIDTH + 2 * FRAME_PAD, min(text_width(frame.label, LABEL_FONT_PX, bold=True) + 124, MAX_HEADER_WIDTH)
    )


def _place_marks(placing: _Placing, frame: GraphFrame, width: float) -> float:
    """Place the frame's marks below its header and return their height."""
    marks = placing.structure.marks.get(frame.id, ())
    if not marks:
        return 0.0
    per_line = max(1, int((width - 2 * FRAME_PAD + MARK_GAP) // (MARK_WIDTH + MARK_GAP)))
    room = per_line * MARK_LINES
    if len(marks) > room:
        # The last place shows how many more there are.
        room -= 1
        placing.unplaced[frame.id] = len(marks) - room
    for index, mark in enumerate(marks[:room]):
        line, column = divmod(index, per_line)
        x = FRAME_PAD + column * (MARK_WIDTH + MARK_GAP)
        placing.place[mark.id] = Box(x, HEADER_HEIGHT + 2 + line * (MARK_HEIGHT + MARK_GAP), MARK_WIDTH, MARK_HEIGHT)
    lines = min(MARK_LINES, math.ceil(len(marks) / per_line))
    return 2 + lines * (MARK_HEIGHT + MARK_GAP) - MARK_GAP


# A line is a row as drawn: items with their left edges, in order.
_Line = list[tuple[str, float, float, float]]


def _wrapped(placing: _Placing, rows: list[list[str]], guides: Mapping[str, str]) -> list[_Line]:
    """Return the rows with those that are too wide broken into lines, and the left edge of every item."""
    sizes = placing.size
    widths = [sizes[item][0] for row in rows for item in row]
    area = sum((sizes[item][0] + COLUMN_GAP) * (sizes[item][1] + ROW_GAP) for row in rows for item in row)
    limit = max([_ROW_BOXES * (BOX_WIDTH + COLUMN_GAP), math.sqrt(area * _ROW_ASPECT), *widths])
    # Few parallel frames stay side by side although they are wider than boxes.
    few = [sum(sizes[item][0] + COLUMN_GAP for item in row) for row in rows if len(row) <= _ROW_BOXES]
    limit = max([limit, *(width for width in few if width <= _ROW_WIDTH)])
    left: dict[str, float] = {}
    lines: list[_Line] = []
    for row in rows:
        line: _Line = []
        cursor = 0.0
        for item in row:
            width, height = sizes[item]
            if line and cursor + width > limit:
                lines.append(line)
                line, cursor = [], 0.0
            wanted = left.get(guides.get(item, ""), 0.0)
            x = max(cursor, min(wanted, limit - width))
            left[item] = x
            line.append((item, x, width, height))
            cursor = x + width + COLUMN_GAP
        lines.append(line)
    return lines


def _height(line: _Line) -> float:
    return max(height for _, _, _, height in line)


def _width(stack: list[_Line]) -> float:
    return max(x + width for line in stack for _, x, width, _ in line)


def _stacked(lines: list[_Line]) -> list[list[_Line]]:
    """Return a tall sequence of lines divided into stacks that stand side by side and are read in order."""
    if not lines:
        return []
    total = _stack_height(lines)
    best, best_cost = [lines], max(_width(lines) / _ASPECT, total)
    if total <= _STACK_HEIGHT:
        return best
    tallest = max(_height(line) for line in lines)
    for count in range(2, _MAX_STACKS + 1):
        stacks = _filled(lines, max(total / count, tallest))
        height = max(_stack_height(stack) for stack in stacks)
        width = sum(_width(stack) for stack in stacks) + STACK_GAP * (len(stacks) - 1)
        cost = max(width / _ASPECT, height)
        if cost < best_cost * _STACK_GAIN:
            best, best_cost = stacks, cost
    return best


def _stack_height(stack: Sequence[_Line]) -> float:
    return sum(_height(line) for line in stack) + ROW_GAP * (len(stack) - 1)


def _filled(lines: list[_Line], cap: float) -> list[list[_Line]]:
    """Return the lines divided into stacks of about the height `cap`."""
    stacks: list[list[_Line]] = [[]]
    filled = 0.0
    for line in lines:
        height = _height(line)
        if stacks[-1] and filled + height / 2 > cap:
            stacks.append([])
            filled = 0.0
        stacks[-1].append(line)
        filled += height + ROW_GAP
    return stacks


def _place_stacks(placing: _Placing, frame_id: str, stacks: list[list[_Line]], top: float) -> float:
    """Place every item of a frame; return the y of the frame's bottom border."""
    left = FRAME_PAD
    bottom = top
    for stack in stacks:
        y = top
        for line in stack:
            for item, x, width, height in line:
                placing.place[item] = Box(left + x, y, width, height)
            y += _height(line) + ROW_GAP
        bottom = max(bottom, y - ROW_GAP)
        left += _width(stack) + STACK_GAP
    return bottom + FRAME_BOTTOM_GUTTER


def _stack_bands(placing: _Placing, stacks: list[list[_Line]]) -> Iterator[Stack]:
    """Yield each stack as bands of rows, for the routes."""
    left = FRAME_PAD
    for stack in stacks:
        rows = []
        for line in stack:
            first = placing.place[line[0][0]]
            rows.append(Band(first.y, first.y + _height(line), tuple(item for item, _, _, _ in line)))
        yield Stack(left, left + _width(stack), tuple(rows))
        left += _width(stack) + STACK_GAP


def _absolute(placing: _Placing) -> tuple[dict[str, Box], dict[str, Grid]]:
    """Return every box and grid in the coordinates of the picture instead of those of its frame."""
    structure = placing.structure
    boxes: dict[str, Box] = {}
    grids: dict[str, Grid] = {}
    boxes[structure.root_id] = placing.place[structure.root_id]
    for frame_id, items in structure.items.items():
        around = boxes[frame_id]
        for item in items:
            boxes[item] = placing.place[item].moved(around.x, around.y)
        for mark in structure.marks.get(frame_id, ()):
            if mark.id in placing.place:
                boxes[mark.id] = placing.place[mark.id].moved(around.x, around.y)
        grids[frame_id] = placing.grid[frame_id].moved(around.x, around.y)
    return boxes, grids

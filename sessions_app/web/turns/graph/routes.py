"""Routes edges around boxes: horizontal segments in the gutters between rows, vertical segments beside the items.

No edge runs under a box, because every segment is in a gutter, a gap or a margin that the layout leaves free. In the
same free space each source has a lane; segments of one source share a lane, so that a fan-out is drawn as one line
that branches.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sessions_app.web.turns.graph.rows import ScopedEdge
from sessions_app.web.turns.graph.shapes import Band, Box, Grid

# Distance of a horizontal segment to the row above and, with room for the arrow head, to the row below.
_ABOVE, _BELOW = 4.0, 9.0
_CLEAR = 3.0
# Margins of a stack that its edges may use; a frame's padding is wider than this.
_MARGIN = 14.0
_BAND = 20.0
_MIN_GAP = 5.0
_GUTTER = 22.0
_Gaps = list[tuple[float, float]]
# Where a side-by-side edge leaves a box, from its top.
_SIDE = 20.0


@dataclass(frozen=True, slots=True)
class Route:
    """One edge as the points of an orthogonal line."""

    source: str
    target: str
    kind: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Track:
    """Free space for one segment of an edge: a range of y for a horizontal segment, of x for a vertical one."""

    key: Hashable
    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class _Seat:
    """The position of an item: its frame, stack and row, and its place in the row."""

    frame_id: str
    stack: int
    row: int
    place: int


@dataclass(slots=True)
class _Line:
    """An unfinished edge: alternating horizontal and vertical tracks, from below its source to above its target."""

    x: float
    tracks: list[_Track]

    def turn(self, level: _Track, column: _Track) -> None:
        """Add the track `level` and then `column`; do nothing if the line is already at that x."""
        if column.low == column.high == self.x:
            return
        self.tracks += (level, column)
        self.x = column.middle


def route_links(
    links: Sequence[ScopedEdge], boxes: Mapping[str, Box], grids: Mapping[str, Grid], *, port: float
) -> tuple[Route, ...]:
    """Return every link as a line around the boxes.

    Args:
        port: how far from a box's left side its edges begin and end, in px.
    """
    router = _Router(boxes, grids, port)
    lines: list[_Line | None] = [None if router.beside(link) else router.lead(link) for link in links]
    lanes = _Lanes()
    for link, line in zip(links, lines, strict=True):
        lanes.reserve(link.edge.source, line.tracks if line else ())
    routes = []
    for link, line in zip(links, lines, strict=True):
        source, target = boxes[link.edge.source], boxes[link.edge.target]
        if line is None:
            points = [(source.right, source.y + _SIDE), (target.x, source.y + _SIDE)]
        else:
            points = lanes.points(link.edge.source, line, (source.x + port, source.bottom), target.y)
        routes.append(Route(link.edge.source, link.edge.target, link.edge.kind, tuple(points)))
    return tuple(routes)


class _Router:
    """Finds the tracks of an edge in the free space of the layout."""

    def __init__(self, boxes: Mapping[str, Box], grids: Mapping[str, Grid], port: float) -> None:
        self._boxes = boxes
        self._grids = grids
        self._port = port
        self._known_free: dict[tuple[str, int, int, int], _Gaps] = {}
        self._seats = {
            item: _Seat(frame_id, stack_index, row_index, place)
            for frame_id, grid in grids.items()
            for stack_index, stack in enumerate(grid.stacks)
            for row_index, row in enumerate(stack.rows)
            for place, item in enumerate(row.items)
        }

    def beside(self, link: ScopedEdge) -> bool:
        """Return whether the target is the right neighbour of the source in the same row."""
        if len(link.source_path) > 1 or len(link.target_path) > 1:
            return False
        source, target = self._seats[link.edge.source], self._seats[link.edge.target]
        return (source.stack, source.row, source.place + 1) == (target.stack, target.row, target.place)

    def lead(self, link: ScopedEdge) -> _Line:
        """Return the line out of the source's frames, through the shared frame, into the target's frames."""
        line = _Line(self._boxes[link.edge.source].x + self._port, [])
        outer_target = link.target_path[0]
        goal = self._boxes[outer_target].x + (self._port if len(link.target_path) == 1 else 0.0)
        for item in link.source_path[:0:-1]:
            seat = self._seats[item]
            row_count = len(self._grids[seat.frame_id].stacks[seat.stack].rows)
            self._pass(line, seat, seat.row + 1, row_count, goal)
        self._cross(line, self._seats[link.source_path[0]], self._seats[outer_target], goal)
        for frame_id, child in zip(link.target_path, link.target_path[1:], strict=False):
            self._enter(line, frame_id, child)
        last = self._seats[link.edge.target]
        x = self._boxes[link.edge.target].x + self._port
        line.turn(self._gutter(last.frame_id, last.stack, last.row), _Track("port", x, x))
        return line

    def _cross(self, line: _Line, source: _Seat, target: _Seat, goal: float) -> None:
        """Extend the line from below the source's row to above the target's row in the same frame."""
        if source.stack == target.stack:
            self._pass(line, source, source.row + 1, target.row, goal)
            return
        step = 1 if target.stack > source.stack else -1
        leave = self._channel(source.frame_id, source.stack, source.stack + step)
        line.turn(self._gutter(source.frame_id, source.stack, source.row + 1), leave)
        if abs(target.stack - source.stack) > 1:
            arrive = self._channel(source.frame_id, target.stack - step, target.stack)
            line.turn(self._gutter(source.frame_id, source.stack, 0), arrive)

    def _enter(self, line: _Line, frame_id: str, child: str) -> None:
        """Extend the line from above a frame's row through its left side to the gutter above the child's row."""
        outside, inside = self._seats[frame_id], self._seats[child]
        line.turn(self._gutter(outside.frame_id, outside.stack, outside.row), self._left_of(frame_id))
        if inside.stack > 0:
            channel = self._channel(frame_id, inside.stack - 1, inside.stack)
            line.turn(self._gutter(frame_id, inside.stack, 0), channel)

    def _pass(self, line: _Line, seat: _Seat, start: int, end: int, goal: float) -> None:
        """Extend the line from gutter `start` to gutter `end` of a stack, beside the items of the rows between."""
        if start == end:
            return
        passed = range(start, end) if end > start else range(start - 1, end - 1, -1)
        together = self._shared_gap(seat, min(passed), max(passed), line.x, goal)
        if together is not None:
            line.turn(self._gutter(seat.frame_id, seat.stack, start), together)
            return
        for index in passed:
            gap = self._shared_gap(seat, index, index, line.x, goal)
            if gap is not None:
                level = index if end > start else index + 1
                line.turn(self._gutter(seat.frame_id, seat.stack, level), gap)

    def _shared_gap(self, seat: _Seat, first: int, last: int, x: float, goal: float) -> _Track | None:
        """Return the gap with the shortest detour that is free in every row from `first` to `last`.

        Return None if there is no such gap.
        """
        shared = self._free(seat.frame_id, seat.stack, first, last)
        if not shared:
            return None
        if any(low + _CLEAR <= x <= high - _CLEAR for low, high in shared):
            return _Track("straight", x, x)

        def detour(gap: tuple[float, float]) -> tuple[float, float]:
            near = min(max(x, gap[0]), gap[1])
            # Of two equal detours take the right one: there is more room.
            return abs(near - x) + abs(near - goal), -gap[0]

        low, high = min(shared, key=detour)
        if x <= low:
            high = min(high, low + _BAND)
        else:
            low = max(low, high - _BAND)
        return _Track((seat.frame_id, "x", round(low if x <= low else high)), low, high)

    def _free(self, frame_id: str, stack_index: int, first: int, last: int) -> _Gaps:
        """Return the ranges of x that are free in every row from `first` to `last`, from left to right."""
        # Cached, because the edges of a fan-out request the same rows.
        key = (frame_id, stack_index, first, last)
        if key not in self._known_free:
            rows = self._grids[frame_id].stacks[stack_index].rows
            free = self._gaps(frame_id, stack_index, rows[first])
            for index in range(first + 1, last + 1):
                if not free:
                    break
                free = _intersection(free, self._gaps(frame_id, stack_index, rows[index]))
            self._known_free[key] = free
        return self._known_free[key]

    def _gaps(self, frame_id: str, stack_index: int, row: Band) -> _Gaps:
        stack = self._grids[frame_id].stacks[stack_index]
        ordered = [self._boxes[item] for item in row.items]
        starts = [stack.left - _MARGIN, *(box.right + _CLEAR for box in ordered)]
        ends = [*(box.x - _CLEAR for box in ordered), stack.right + _MARGIN]
        return [(low, high) for low, high in zip(starts, ends, strict=True) if high - low >= _MIN_GAP]

    def _gutter(self, frame_id: str, stack_index: int, index: int) -> _Track:
        """Return the free band above row `index` of a stack; the band above the first rows belongs to all stacks."""
        grid = self._grids[frame_id]
        rows = grid.stacks[stack_index].rows
        top = rows[index - 1].bottom if index else grid.top
        bottom = rows[index].top if index < len(rows) else min(grid.bottom, top + _GUTTER)
        return _Track((frame_id, "y", stack_index if index else -1, index), top + _ABOVE, bottom - _BELOW)

    def _channel(self, frame_id: str, one: int, other: int) -> _Track:
        """Return the free column between two neighbouring stacks."""
        stacks = self._grids[frame_id].stacks
        first = min(one, other)
        left, right = stacks[first].right + _MARGIN, stacks[first + 1].left - _MARGIN
        return _Track((frame_id, "channel", first), left, right)

    def _left_of(self, item: str) -> _Track:
        """Return the free column to the left of an item."""
        seat = self._seats[item]
        stack = self._grids[seat.frame_id].stacks[seat.stack]
        row = stack.rows[seat.row]
        before = self._boxes[row.items[seat.place - 1]].right if seat.place else stack.left - _MARGIN
        edge = self._boxes[item].x
        low = max(before, edge - _BAND) + _CLEAR
        return _Track((seat.frame_id, "x", round(edge - _CLEAR)), low, edge - _CLEAR)


def _intersection(some: _Gaps, others: _Gaps) -> _Gaps:
    """Return the ranges that are in both lists. The lists and the result are sorted and have no overlaps."""
    shared: _Gaps = []
    mine = theirs = 0
    while mine < len(some) and theirs < len(others):
        low = max(some[mine][0], others[theirs][0])
        high = min(some[mine][1], others[theirs][1])
        if high - low >= _MIN_GAP:
            shared.append((low, high))
        if some[mine][1] < others[theirs][1]:
            mine += 1
        else:
            theirs += 1
    return shared


class _Lanes:
    """Divides each track into lanes, one for each source whose edges use it."""

    def __init__(self) -> None:
        self._users: dict[Hashable, dict[str, int]] = {}

    def reserve(self, source: str, tracks: Iterable[_Track]) -> None:
        """Record that a source's edges use the tracks."""
        for track in tracks:
            users = self._users.setdefault(track.key, {})
            users.setdefault(source, len(users))

    def points(self, source: str, line: _Line, start: tuple[float, float], end_y: float) -> list[tuple[float, float]]:
        """Return the start, the corners and the end of a line."""
        points = [start]
        for index, track in enumerate(line.tracks):
            value = self._value(source, track)
            x, y = points[-1]
            points.append((x, value) if index % 2 == 0 else (value, y))
        points.append((points[-1][0], end_y))
        return _without_straight(points)

    def _value(self, source: str, track: _Track) -> float:
        if track.low == track.high:
            return track.low
        users = self._users[track.key]
        return track.low + (track.high - track.low) * (users[source] + 1) / (len(users) + 1)


def _without_straight(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    kept = [points[0]]
    for index in range(1, len(points) - 1):
        (x0, y0), (x1, y1), (x2, y2) = kept[-1], points[index], points[index + 1]
        if not (x0 == x1 == x2 or y0 == y1 == y2):
            kept.append((x1, y1))
    kept.append(points[-1])
    return kept

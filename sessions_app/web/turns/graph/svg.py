"""The turn's graph as inline SVG for graph.js: geometry and classes only, no style attributes.

There are three layers, so that edges are above the frames that they cross and below every box: frame backgrounds,
edges, and focusable elements in reading order. Input, output and messages never appear here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.safestring import SafeString

from mrpvm.trace.graph import ControlNode, Edge, GraphExecution, GraphFrame
from sessions_app.web.turns.graph.error_path import error_path
from sessions_app.web.turns.graph.folding import FoldedGraph, fold_planners
from sessions_app.web.turns.graph.labels import clean, fit, fit_words, text_width
from sessions_app.web.turns.graph.layout import (
    BOX_WIDTH,
    FRAME_PAD,
    HEADER_HEIGHT,
    LABEL_FONT_PX,
    MARK_GAP,
    MARK_WIDTH,
    GraphLayout,
    layout_graph,
)
from sessions_app.web.turns.graph.markup import element, line_path
from sessions_app.web.turns.graph.parts import (
    NAME_PX,
    SMALL_PX,
    focusable,
    frame_words,
    hidden_words,
    rectangle,
    run_words,
    seen,
    sign,
    sign_symbols,
    spoken,
    stage_of,
    text_at,
    toggle,
)
from sessions_app.web.turns.graph.routes import Route
from sessions_app.web.turns.graph.shapes import Box
from sessions_app.web.turns.graph.shown import ShownGraph
from sessions_app.web.turns.graph.status import duration_badge, tone_of

_MARK_PX = 11.0
_BADGE_WIDTH, _BADGE_HEIGHT = 22.0, 16.0
_NAME_LEFT = 27.0
_NAME_WIDTH = BOX_WIDTH - _NAME_LEFT - 6
_SHORTEST_BAR = 4.0
_MAX_DEPTH_CLASS = 3
_EDGE_WORDS = {"flow": "feeds", "retry": "was replaced by", "child-frame": "opened"}
_ARROWS = ("flow", "retry", "child-frame", "linked", "error")


@dataclass(frozen=True, slots=True)
class Remark:
    """A further text about an item, and its CSS class."""

    words: str
    css_class: str
    is_exception: bool = True


NO_OUTPUTS: Mapping[str, str] = {}
NO_REMARKS: Mapping[str, Remark] = {}


def render_shown(
    shown: ShownGraph,
    *,
    uid: str = "graph",
    outputs: Mapping[str, str] = NO_OUTPUTS,
    remarks: Mapping[str, Remark] = NO_REMARKS,
) -> SafeString:
    """Return the picture of what a reader sees of a graph.

    Successful planners are badges on edges.

    Args:
        outputs: a short description of an execution's output, by id.
        uid: prefix of the ids inside the SVG; graphs on one page need different ones.
        remarks: further texts about items, by id.
    """
    folded = fold_planners(shown.visible, kept=[key for key, remark in remarks.items() if remark.is_exception])
    structure = folded.structure
    layout = layout_graph(structure)
    picture = _Picture(folded, layout, uid, shown.collapsed, outputs, remarks)
    run_count = len(shown.visible.executions)
    size: dict[str, str | float] = {"width": max(layout.width, 1), "height": max(layout.height, 1)}
    return element(
        "svg",
        {
            "class": "graph",
            # No id: htmx copies attributes between elements with the same id, and graph.js removes some of them.
            "data-uid": uid,
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {size['width']:g} {size['height']:g}",
            **size,
            "role": "group",
            "aria-label": f"Execution graph: frames {len(structure.frames)}, executions {run_count}",
        },
        picture.definitions(),
        element(
            "g",
            {"class": "viewport"},
            element("g", {"class": "layer-frames", "aria-hidden": "true"}, *picture.backgrounds()),
            element("g", {"class": "layer-edges"}, *(picture.edge(route) for route in layout.routes)),
            element("g", {"class": "layer-nodes"}, *picture.nodes(), *picture.badges()),
        ),
    )


class _Picture:
    """Renders the parts of one SVG."""

    def __init__(
        self,
        folded: FoldedGraph,
        layout: GraphLayout,
        uid: str,
        collapsed: frozenset[str],
        outputs: Mapping[str, str],
        remarks: Mapping[str, Remark],
    ) -> None:
        structure = folded.structure
        self._badges = folded.badges
        self._ends = folded.ends
        self._outputs = outputs
        self._structure = structure
        self._remarks = remarks
        self._layout = layout
        self._uid = uid
        self._collapsed = collapsed
        self._error = error_path(structure)
        self._longest_ms = max((run.duration_ms or 0.0 for run in structure.executions.values()), default=0.0)
        self._depth: dict[str, int] = {}
        for frame in structure.frames.values():
            self._depth[frame.id] = self._depth.get(frame.parent_frame_id or "", -1) + 1

    def definitions(self) -> SafeString:
        """Return arrow heads and status signs."""
        arrows = (
            element(
                "marker",
                {
                    "id": f"{self._uid}-arrow-{kind}",
                    "class": f"arrow arrow-{kind}",
                    "viewBox": "0 0 8 8",
                    "refX": "7",
                    "refY": "4",
                    "markerWidth": "7",
                    "markerHeight": "7",
                    "orient": "auto",
                },
                element("path", {"d": "M0 .6L7.4 4 0 7.4z"}),
            )
            for kind in _ARROWS
        )
        return element("defs", {}, *arrows, *sign_symbols(self._uid))

    def backgrounds(self) -> Iterable[SafeString]:
        """Return the background rectangles of all frames, outer frames first."""
        for frame in self._structure.frames.values():
            box = self._layout.boxes[frame.id]
            depth = min(self._depth[frame.id], _MAX_DEPTH_CLASS)
            yield element("rect", {"class": f"frame-ground depth-{depth}", **rectangle(box), "rx": 10})

    def edge(self, route: Route) -> SafeString:
        """Return one edge with its arrow, and its text as tooltip and for screen readers."""
        is_fatal = Edge(route.source, route.target, route.kind) in self._error.edges
        head = "error" if is_fatal else route.kind
        return element(
            "path",
            {
                "class": f"edge edge-{route.kind}" + (" leads-to-error" if is_fatal else ""),
                "d": line_path(route.points),
                "data-from": route.source,
                "data-to": route.target,
                "data-kind": route.kind,
                "data-head": head,
                "marker-end": f"url(#{self._uid}-arrow-{head})",
            },
            element("title", {}, f"{route.source} {_EDGE_WORDS.get(route.kind, route.kind)} {route.target}"),
        )

    def nodes(self) -> Iterable[SafeString]:
        """Return all focusable elements in reading order: a frame, its marks, then its items."""
        waiting = [self._structure.root_id] if self._structure.frames else []
        while waiting:
            item = waiting.pop()
            execution = self._structure.executions.get(item)
            if execution:
                yield self._execution(execution)
                continue
            frame = self._structure.frames[item]
            yield from self._frame(frame)
            yield from (self._mark(mark) for mark in self._placed_marks(item))
            yield from self._more_marks(frame)
            waiting.extend(reversed(self._structure.items[frame.id]))

    def _execution(self, execution: GraphExecution) -> SafeString:
        box = self._layout.boxes[execution.id]
        active = self._structure.frames[execution.frame_id].is_active
        tone = tone_of(execution.status, frame_active=active)
        time = duration_badge(execution.duration_ms)
        stage = clean(self._outputs.get(execution.id, "")) or stage_of(execution)
        name_shown = fit(execution.plugin_name, _NAME_WIDTH, NAME_PX, bold=True)
        stage_shown = fit(stage, _NAME_WIDTH - text_width(time, SMALL_PX) - 8, SMALL_PX)
        words = spoken(run_words(execution, seen(name_shown, stage_shown, time), stage), self._said(execution.id))
        return element(
            "g",
            focusable("node" + self._fate(execution.id), tone, execution.id, words),
            element("title", {}, words),
            element("rect", {"class": "node-box", **rectangle(box), "rx": 7}),
            self._time_bar(box, execution.duration_ms),
            sign(self._uid, tone, box.x + 8, box.y + 7),
            text_at("node-name", box.x + _NAME_LEFT, box.y + 18, name_shown),
            text_at("node-stage", box.x + _NAME_LEFT, box.y + 34, stage_shown),
            text_at("node-time", box.right - 9, box.y + 34, time, anchor="end"),
        )

    def badges(self) -> Iterable[SafeString]:
        """Yield a badge for each folded planner call, in the middle of its edge or at the bottom of its predecessor."""
        for route in self._layout.routes:
            runs = self._badges.get(Edge(route.source, route.target, route.kind), ())
            x, y = _middle(route.points)
            for place, run in enumerate(runs):
                yield self._badge(run, x + (place - (len(runs) - 1) / 2) * (_BADGE_WIDTH + 4), y)

        for source, runs in self._ends.items():
            box = self._layout.boxes[source]
            for place, run in enumerate(reversed(runs)):
                yield self._badge(run, box.right - 18 - place * (_BADGE_WIDTH + 2), box.bottom)

    def _badge(self, run: GraphExecution, x: float, y: float) -> SafeString:
        box = Box(x - _BADGE_WIDTH / 2, y - _BADGE_HEIGHT / 2, _BADGE_WIDTH, _BADGE_HEIGHT)
        output, time = clean(self._outputs.get(run.id, "")), duration_badge(run.duration_ms)
        words = spoken("Pl", run.plugin_name, stage_of(run), output, time, run.status, self._said(run.id))
        return element(
            "g",
            focusable("node badge-node" + self._fate(run.id), tone_of(run.status), run.id, words),
            element("title", {}, words),
            element("rect", {"class": "node-box", **rectangle(box), "rx": 8}),
            text_at("badge-label", x, y + 4, "Pl", anchor="middle"),
        )

    def _time_bar(self, box: Box, duration_ms: float | None) -> SafeString:
        """Return a bar at the bottom of the box; its length shows the duration relative to the longest execution."""
        width = (box.width - 14) * (duration_ms or 0.0) / self._longest_ms if self._longest_ms else 0.0
        if width < _SHORTEST_BAR:
            return SafeString("")
        return element(
            "rect", {"class": "node-share", "x": box.x + 7, "y": box.bottom - 3, "width": width, "height": 2}
        )

    def _frame(self, frame: GraphFrame) -> Iterable[SafeString]:
        box = self._layout.boxes[frame.id]
        tone = tone_of(frame.status, frame_active=frame.is_active)
        time = duration_badge(frame.duration_ms)
        is_root = frame.id == self._structure.root_id
        right = box.right - (14 if is_root else 36)
        label_room = right - box.x - 34 - text_width(time, SMALL_PX) - 10
        below_room = right - box.x - 34 - text_width(frame.status, SMALL_PX, bold=True) - 10
        label, below = fit(frame.label, label_room, LABEL_FONT_PX, bold=True), _below(frame, below_room)
        said = spoken(frame.label, frame.intent or frame.purpose, frame.status, time, self._said(frame.id))
        parts = [
            element("title", {}, said),
            element("rect", {"class": "frame-outline", **rectangle(box), "rx": 10}),
            element(
                "rect",
                {"class": "frame-head", "x": box.x, "y": box.y, "width": box.width, "height": HEADER_HEIGHT, "rx": 10},
            ),
            sign(self._uid, tone, box.x + 12, box.y + 9),
            text_at("frame-label", box.x + 34, box.y + 20, label),
            text_at("frame-time", right, box.y + 20, time, anchor="end"),
            text_at("frame-purpose", box.x + 34, box.y + 36, below),
            text_at("frame-status", right, box.y + 36, frame.status, anchor="end"),
            *self._ports(box),
        ]
        is_shut = frame.id in self._collapsed
        inside = hidden_words(self._structure.hidden_counts[frame.id]) if is_shut else ""
        if is_shut:
            parts.append(text_at("frame-hidden", box.x + 34, box.bottom - 9, inside))
        words = spoken(frame_words(frame, seen(label, time, below, frame.status, inside)), self._said(frame.id))
        heading = focusable("frame" + self._fate(frame.id), tone, frame.id, words)
        yield element("g", heading, *parts)
        if not is_root:
            yield toggle(frame, is_shut, box.right - 20, box.y + 16)

    def _fate(self, item_id: str) -> str:
        remark = self._remarks.get(item_id)
        return (" leads-to-error" if item_id in self._error.items else "") + (f" {remark.css_class}" if remark else "")

    def _said(self, item_id: str) -> str:
        remark = self._remarks.get(item_id)
        return remark.words if remark else ""

    def _ports(self, box: Box) -> Iterable[SafeString]:
        """Return the frame's small input and output markers."""
        x = box.x + BOX_WIDTH / 2
        yield element("circle", {"class": "port port-in", "cx": x, "cy": box.y, "r": 3})
        yield element("circle", {"class": "port port-out", "cx": x, "cy": box.bottom, "r": 3})

    def _mark(self, mark: ControlNode) -> SafeString:
        box = self._layout.boxes[mark.id]
        tone = tone_of(mark.status)
        shown = mark.label if mark.label.startswith(mark.type) else f"{mark.type}: {mark.label}"
        return element(
            "g",
            focusable(f"mark mark-{mark.type}", tone, mark.id, spoken(shown, mark.status)),
            element("title", {}, spoken(shown, mark.status)),
            element("rect", {"class": "mark-box", **rectangle(box), "rx": 9}),
            element("circle", {"class": "mark-dot", "cx": box.x + 10, "cy": box.y + 10, "r": 3}),
            text_at("mark-label", box.x + 18, box.y + 13.5, fit(shown, box.width - 26, _MARK_PX)),
        )

    def _placed_marks(self, frame_id: str) -> list[ControlNode]:
        return [mark for mark in self._structure.marks.get(frame_id, ()) if mark.id in self._layout.boxes]

    def _more_marks(self, frame: GraphFrame) -> Iterable[SafeString]:
        count = self._layout.unplaced_marks.get(frame.id, 0)
        placed = [self._layout.boxes[mark.id] for mark in self._placed_marks(frame.id)]
        if count:
            x, y = self._layout.boxes[frame.id].x + FRAME_PAD, self._layout.boxes[frame.id].y + HEADER_HEIGHT + 2
            if placed:
                last = placed[-1]
                fits = last.right + MARK_GAP + MARK_WIDTH <= self._layout.boxes[frame.id].right - FRAME_PAD
                x, y = (last.right + MARK_GAP, last.y) if fits else (x, last.bottom + MARK_GAP)
            yield text_at("mark-more", x + 4, y + 13.5, f"+{count} more")


def _below(frame: GraphFrame, room: float) -> str:
    """Return a frame's second line: its question, else its purpose, or its id if the label begins with the purpose."""
    if frame.intent:
        return fit_words(frame.intent, room, SMALL_PX)
    is_said = not frame.purpose or frame.label.startswith(frame.purpose)
    return fit(frame.detail_ref if is_said else frame.purpose, room, SMALL_PX, mono=is_said)


def _middle(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the point halfway along a line."""
    lengths = [abs(after[0] - before[0]) + abs(after[1] - before[1]) for before, after in pairwise(points)]
    left = sum(lengths) / 2
    for (before, after), length in zip(pairwise(points), lengths, strict=True):
        if left <= length and length:
            share = left / length
            return before[0] + (after[0] - before[0]) * share, before[1] + (after[1] - before[1]) * share
        left -= length
    return points[-1]

"""The turn's graph as inline SVG: geometry and classes only, no style attribute, ready for graph.js [UI-3, UI-4].

Three layers, so that edges lie above the frames that they cross and below every box: frame backgrounds, edges, then
what can be focused, in reading order. Input, output and messages never appear here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from sessions_app.web.graph.labels import fit, text_width
from sessions_app.web.graph.layout import (
    BOX_WIDTH,
    FRAME_PAD,
    HEADER_HEIGHT,
    LABEL_FONT_PX,
    MARK_GAP,
    MARK_WIDTH,
    GraphLayout,
    layout_graph,
)
from sessions_app.web.graph.markup import element, line_path
from sessions_app.web.graph.routes import Route
from sessions_app.web.graph.shapes import Box
from sessions_app.web.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.graph.structure import (
    Execution,
    Frame,
    GraphStructure,
    Mark,
    collapse,
    frames_to_collapse,
    read_structure,
)

_NAME_PX, _SMALL_PX, _MARK_PX = 12.0, 10.5, 10.0
_NAME_LEFT = 28.0
_NAME_WIDTH = BOX_WIDTH - _NAME_LEFT - 8
_ICON = 14.0
_SHORTEST_BAR = 4.0
_MAX_DEPTH_CLASS = 3
_EDGE_WORDS = {"flow": "feeds", "retry": "was replaced by", "child-frame": "opened"}
# One sign a colour, so that no status is told by colour alone. Drawn in a field of 14 by 14.
_ICON_PATHS = {
    Tone.OK: "M3.2 7.4l2.6 2.6 5-5.6",
    Tone.WARN: "M7 3v5M7 10.6v.4",
    Tone.WEAK: "M3 8c1.4-2.4 2.7-2.4 4-1s2.6 1.4 4-1",
    Tone.ERROR: "M4 4l6 6M10 4l-6 6",
    Tone.IDLE: "M3.6 7h6.8",
    Tone.ACTIVE: "M5 3.6v6.8l5.4-3.4z",
}


@dataclass(frozen=True, slots=True)
class RenderedGraph:
    """The SVG with what the page says about it."""

    svg: SafeString
    collapsed: frozenset[str]
    frame_count: int
    execution_count: int


def render_graph(
    stored: Mapping[str, Any], *, opened: Iterable[str] = (), shut: Iterable[str] = (), uid: str = "graph"
) -> RenderedGraph:
    """Give the picture of a stored graph [G-8].

    Args:
        opened: frames that the reader opened although the graph is large.
        shut: frames that the reader shut.
        uid: begins the ids inside the SVG; two graphs on one page need two.
    """
    structure = read_structure(stored)
    open_path = _with_ancestors(structure, opened)
    collapsed = (frames_to_collapse(structure) - open_path) | (frozenset(shut) & structure.frames.keys())
    visible = collapse(structure, collapsed)
    return RenderedGraph(
        svg=render_svg(visible, layout_graph(visible), uid=uid, collapsed=collapsed),
        collapsed=collapsed,
        frame_count=len(structure.frames),
        execution_count=len(structure.executions),
    )


def render_svg(
    structure: GraphStructure, layout: GraphLayout, *, uid: str = "graph", collapsed: frozenset[str] = frozenset()
) -> SafeString:
    """Give the SVG of a laid out graph; `structure` and `layout` must belong together."""
    picture = _Picture(structure, layout, uid, collapsed)
    size: dict[str, str | float] = {"width": max(layout.width, 1), "height": max(layout.height, 1)}
    return element(
        "svg",
        {
            "class": "graph",
            # No id: htmx carries attributes over between elements of one id, and graph.js takes some away.
            "data-uid": uid,
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {size['width']:g} {size['height']:g}",
            **size,
            "role": "group",
            "aria-label": f"Execution graph: {len(structure.frames)} frames, {len(structure.executions)} executions",
        },
        picture.definitions(),
        element(
            "g",
            {"class": "viewport"},
            element("g", {"class": "layer-frames", "aria-hidden": "true"}, *picture.backgrounds()),
            element("g", {"class": "layer-edges"}, *(picture.edge(route) for route in layout.routes)),
            element("g", {"class": "layer-nodes"}, *picture.nodes()),
        ),
    )


def _with_ancestors(structure: GraphStructure, frame_ids: Iterable[str]) -> frozenset[str]:
    """Give the frames and all around them: an open frame shows only inside open frames."""
    found: set[str] = set()
    for frame_id in frame_ids:
        current: str | None = frame_id if frame_id in structure.frames else None
        while current is not None and current not in found:
            found.add(current)
            current = structure.frames[current].parent_id
    return frozenset(found)


class _Picture:
    """Writes the parts of one SVG."""

    def __init__(self, structure: GraphStructure, layout: GraphLayout, uid: str, collapsed: frozenset[str]) -> None:
        self._structure = structure
        self._layout = layout
        self._uid = uid
        self._collapsed = collapsed
        self._longest_ms = max((run.duration_ms or 0.0 for run in structure.executions.values()), default=0.0)
        self._depth: dict[str, int] = {}
        for frame in structure.frames.values():
            self._depth[frame.id] = self._depth.get(frame.parent_id or "", -1) + 1

    def definitions(self) -> SafeString:
        """Give arrow heads and status signs."""
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
            for kind in ("flow", "retry", "child-frame", "linked")
        )
        signs = (
            element(
                "symbol",
                {"id": f"{self._uid}-{tone}", "viewBox": "0 0 14 14"},
                element("circle", {"class": "sign-disc", "cx": 7, "cy": 7, "r": 7}),
                element("path", {"class": "sign-line", "d": path}),
            )
            for tone, path in _ICON_PATHS.items()
        )
        return element("defs", {}, *arrows, *signs)

    def backgrounds(self) -> Iterable[SafeString]:
        """Give the plain rectangles of all frames, outer ones first."""
        for frame in self._structure.frames.values():
            box = self._layout.boxes[frame.id]
            depth = min(self._depth[frame.id], _MAX_DEPTH_CLASS)
            yield element("rect", {"class": f"frame-ground depth-{depth}", **_rectangle(box), "rx": 10})

    def edge(self, route: Route) -> SafeString:
        """Give one edge with its arrow and, for who hovers or listens, what it says."""
        return element(
            "path",
            {
                "class": f"edge edge-{route.kind}",
                "d": line_path(route.points),
                "data-from": route.source,
                "data-to": route.target,
                "data-kind": route.kind,
                "marker-end": f"url(#{self._uid}-arrow-{route.kind})",
            },
            element("title", {}, f"{route.source} {_EDGE_WORDS.get(route.kind, route.kind)} {route.target}"),
        )

    def nodes(self) -> Iterable[SafeString]:
        """Give all that can be focused, in reading order: a frame, its marks, then what it holds."""
        waiting = [self._structure.root_id] if self._structure.frames else []
        while waiting:
            item = waiting.pop()
            execution = self._structure.executions.get(item)
            if execution:
                yield self._execution(execution)
                continue
            frame = self._structure.frames[item]
            yield self._frame(frame)
            yield from (self._mark(mark) for mark in frame.marks if mark.id in self._layout.boxes)
            yield from self._more_marks(frame)
            waiting.extend(reversed(frame.items))

    def _execution(self, execution: Execution) -> SafeString:
        box = self._layout.boxes[execution.id]
        active = self._structure.frames[execution.frame_id].active
        tone = tone_of(execution.status, frame_active=active)
        time = duration_badge(execution.duration_ms)
        stage = execution.stage + (f" · try {execution.attempt}" if execution.attempt > 1 else "")
        stage_room = _NAME_WIDTH - text_width(time, _SMALL_PX) - 8
        name = f"{execution.label} ({execution.plugin_id})" if execution.plugin_id else execution.label
        return element(
            "g",
            _focusable("node", tone, execution.id, execution.detail_ref, _spoken(name, stage, execution.status, time)),
            element("title", {}, _spoken(name, stage, execution.status, time)),
            element("rect", {"class": "node-box", **_rectangle(box), "rx": 7}),
            self._time_bar(box, execution.duration_ms),
            self._sign(tone, box.x + 8, box.y + 6),
            _text("node-name", box.x + _NAME_LEFT, box.y + 17, fit(execution.label, _NAME_WIDTH, _NAME_PX, bold=True)),
            _text("node-stage", box.x + _NAME_LEFT, box.y + 31, fit(stage, stage_room, _SMALL_PX)),
            _text("node-time", box.right - 9, box.y + 31, time, anchor="end"),
        )

    def _time_bar(self, box: Box, duration_ms: float | None) -> SafeString:
        """Give a bar at the box's foot as long as its share of the longest execution."""
        width = (box.width - 14) * (duration_ms or 0.0) / self._longest_ms if self._longest_ms else 0.0
        if width < _SHORTEST_BAR:
            return SafeString("")
        return element(
            "rect", {"class": "node-share", "x": box.x + 7, "y": box.bottom - 3, "width": width, "height": 2}
        )

    def _frame(self, frame: Frame) -> SafeString:
        box = self._layout.boxes[frame.id]
        tone = tone_of(frame.status, frame_active=frame.active)
        time = duration_badge(frame.duration_ms)
        is_root = frame.id == self._structure.root_id
        right = box.right - (14 if is_root else 36)
        below = frame.id if not frame.purpose or frame.label.startswith(frame.purpose) else frame.purpose
        label_room = right - box.x - 34 - text_width(time, _SMALL_PX) - 10
        below_room = right - box.x - 34 - text_width(frame.status, _SMALL_PX, bold=True) - 10
        parts = [
            element("title", {}, _spoken(frame.label, frame.purpose, frame.status, time)),
            element("rect", {"class": "frame-outline", **_rectangle(box), "rx": 10}),
            element(
                "rect",
                {"class": "frame-head", "x": box.x, "y": box.y, "width": box.width, "height": HEADER_HEIGHT, "rx": 10},
            ),
            self._sign(tone, box.x + 12, box.y + 9),
            _text("frame-label", box.x + 34, box.y + 20, fit(frame.label, label_room, LABEL_FONT_PX, bold=True)),
            _text("frame-time", right, box.y + 20, time, anchor="end"),
            _text("frame-purpose", box.x + 34, box.y + 36, fit(below, below_room, _SMALL_PX, mono=below == frame.id)),
            _text("frame-status", right, box.y + 36, frame.status, anchor="end"),
            *self._ports(box),
        ]
        if frame.id in self._collapsed:
            words = f"{frame.hidden_count} execution{'' if frame.hidden_count == 1 else 's'} inside"
            parts.append(_text("frame-hidden", box.x + 34, box.bottom - 9, words))
        heading = _focusable(
            "frame", tone, frame.id, frame.detail_ref, "Frame " + _spoken(frame.label, frame.status, time)
        )
        group = element("g", heading, *parts)
        return group if is_root else mark_safe(group + self._toggle(frame, box))  # noqa: S308 - both are markup

    def _ports(self, box: Box) -> Iterable[SafeString]:
        """Give the frame's small input and output markers [UI-3]."""
        x = box.x + BOX_WIDTH / 2
        yield element("circle", {"class": "port port-in", "cx": x, "cy": box.y, "r": 3})
        yield element("circle", {"class": "port port-out", "cx": x, "cy": box.bottom, "r": 3})

    def _toggle(self, frame: Frame, box: Box) -> SafeString:
        shut = frame.id in self._collapsed
        x, y = box.right - 20, box.y + 16
        arrow = f"M{x - 3:g} {y - 4:g}l4 4-4 4" if shut else f"M{x - 4:g} {y - 2:g}l4 4 4-4"
        return element(
            "g",
            {
                "class": "frame-toggle",
                "tabindex": "0",
                "role": "button",
                "data-toggle": frame.id,
                "aria-expanded": "false" if shut else "true",
                "aria-label": f"{'Open' if shut else 'Collapse'} {frame.label}",
            },
            element("title", {}, "Open this frame" if shut else "Collapse this frame"),
            element("rect", {"class": "toggle-box", "x": x - 11, "y": y - 11, "width": 22, "height": 22, "rx": 5}),
            element("path", {"class": "toggle-arrow", "d": arrow}),
        )

    def _mark(self, mark: Mark) -> SafeString:
        box = self._layout.boxes[mark.id]
        tone = tone_of(mark.status)
        shown = mark.label if mark.label.startswith(mark.type) else f"{mark.type}: {mark.label}"
        return element(
            "g",
            _focusable(f"mark mark-{mark.type}", tone, mark.id, mark.detail_ref, _spoken(shown, mark.status)),
            element("title", {}, _spoken(shown, mark.status)),
            element("rect", {"class": "mark-box", **_rectangle(box), "rx": 9}),
            element("circle", {"class": "mark-dot", "cx": box.x + 10, "cy": box.y + 9, "r": 3}),
            _text("mark-label", box.x + 18, box.y + 12.5, fit(shown, box.width - 26, _MARK_PX)),
        )

    def _more_marks(self, frame: Frame) -> Iterable[SafeString]:
        count = self._layout.unplaced_marks.get(frame.id, 0)
        placed = [self._layout.boxes[mark.id] for mark in frame.marks if mark.id in self._layout.boxes]
        if count:
            x, y = self._layout.boxes[frame.id].x + FRAME_PAD, self._layout.boxes[frame.id].y + HEADER_HEIGHT + 2
            if placed:
                last = placed[-1]
                fits = last.right + MARK_GAP + MARK_WIDTH <= self._layout.boxes[frame.id].right - FRAME_PAD
                x, y = (last.right + MARK_GAP, last.y) if fits else (x, last.bottom + MARK_GAP)
            yield _text("mark-more", x + 4, y + 12.5, f"+{count} more")

    def _sign(self, tone: Tone, x: float, y: float) -> SafeString:
        attributes: dict[str, str | float] = {"class": "sign", "href": f"#{self._uid}-{tone}", "x": x, "y": y}
        return element("use", {**attributes, "width": _ICON, "height": _ICON})


def _rectangle(box: Box) -> dict[str, str | float]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}


def _text(css_class: str, x: float, y: float, text: str, *, anchor: str = "") -> SafeString:
    if not text:
        return SafeString("")
    attributes: dict[str, str | float] = {"class": css_class, "x": x, "y": y}
    return element("text", attributes | ({"text-anchor": anchor} if anchor else {}), text)


def _focusable(css_class: str, tone: Tone, item_id: str, detail_ref: str, label: str) -> dict[str, str | float]:
    return {
        "class": f"{css_class} status-{tone}",
        "tabindex": "0",
        "role": "button",
        "data-id": item_id,
        "data-ref": detail_ref,
        "aria-label": label,
    }


def _spoken(*words: str) -> str:
    return ", ".join(word for word in words if word)

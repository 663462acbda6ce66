"""The turn over time: a row for each execution, a band for each frame, a bar from start to end.

Parallel branches are one above the other over the same span of time. Widths are percentages, so the picture fills any
screen without a script and without a style attribute.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from mrpvm.trace.graph import GraphExecution, GraphFrame
from sessions_app.web.turns.graph.error_path import ErrorPath, error_path
from sessions_app.web.turns.graph.labels import beginning
from sessions_app.web.turns.graph.markup import element
from sessions_app.web.turns.graph.parts import (
    focusable,
    frame_words,
    hidden_words,
    run_words,
    seen,
    sign,
    sign_symbols,
    stage_of,
    text_at,
    toggle,
)
from sessions_app.web.turns.graph.shown import ShownGraph
from sessions_app.web.turns.graph.status import duration_badge, tone_of
from sessions_app.web.turns.graph.structure import GraphStructure

ROW, FRAME_ROW, FRAME_FOOT, AXIS = 24.0, 30.0, 6.0, 26.0
_UID = "timeline"
"""What the ids of its signs begin with, so that they are not those of the graph on the same page."""
_LEFT, _RIGHT = 1.5, 98.5
_SHORTEST_PX = 3.0
_TICKS = 6
# A label is after its bar, or before it if there is too little room, or inside if the bar takes nearly the whole width.
_AFTER_UNTIL, _BEFORE_FROM = 66.0, 40.0
_MAX_DEPTH_CLASS = 3
_INTENT_CHARS = 48


@dataclass(frozen=True, slots=True)
class _Span:
    """A span of time in ms."""

    start: float
    end: float
    is_open: bool


@dataclass(slots=True)
class _Drawing:
    structure: GraphStructure
    collapsed: frozenset[str]
    spans: dict[str, _Span]
    total_ms: float
    error: ErrorPath
    bands: list[SafeString] = field(default_factory=list)
    rows: list[SafeString] = field(default_factory=list)
    y: float = AXIS

    def at(self, ms: float) -> float:
        """Return the place of a moment, in percent of the width."""
        return _LEFT + (_RIGHT - _LEFT) * ms / self.total_ms

    def fate(self, item_id: str) -> str:
        return " leads-to-error" if item_id in self.error.items else ""


def render_timeline(shown: ShownGraph) -> SafeString:
    """Return the timeline of what the reader sees of a graph."""
    structure = shown.visible
    spans = _spans(structure)
    total = max((span.end for span in spans.values()), default=0.0) or 1.0
    drawing = _Drawing(structure, shown.collapsed, spans, total, error_path(structure))
    if structure.frames:
        _frame(drawing, structure.frames[structure.root_id], 0)
    height = drawing.y + FRAME_FOOT
    return element(
        "svg",
        {
            "class": "timeline",
            "xmlns": "http://www.w3.org/2000/svg",
            "width": "100%",
            "height": height,
            "role": "group",
            "aria-label": f"Timeline of {duration_badge(total)}",
        },
        element("defs", {}, *sign_symbols(_UID)),
        element("g", {"aria-hidden": "true"}, *drawing.bands, *_axis(drawing, height)),
        element("g", {}, *drawing.rows),
    )


def _spans(structure: GraphStructure) -> dict[str, _Span]:
    """Return the span of every item; an item that still runs ends at the last known moment."""
    runs: list[GraphExecution | GraphFrame] = [*structure.frames.values(), *structure.executions.values()]
    known = [run.started_at_ms + (run.duration_ms or 0.0) for run in runs]
    latest = max(known, default=0.0)
    return {
        run.id: _Span(
            run.started_at_ms,
            latest if run.duration_ms is None else run.started_at_ms + run.duration_ms,
            run.duration_ms is None,
        )
        for run in runs
    }


def _axis(drawing: _Drawing, height: float) -> Iterable[SafeString]:
    step = _nice(drawing.total_ms / _TICKS)
    for index in range(math.floor(drawing.total_ms / step) + 1):
        x = _percent(drawing.at(index * step))
        yield element("line", {"class": "tick", "x1": x, "x2": x, "y1": AXIS - 6, "y2": height})
        words = "0" if index == 0 else _tick_words(index * step, step)
        at_end = drawing.at(index * step) > 95
        yield text_at("tick-label", x, 14, words, dx=-3 if at_end else 3, anchor="end" if at_end else "")


def _nice(step_ms: float) -> float:
    """Return the next larger step that is 1, 2 or 5 times a power of ten, at least 1 ms."""
    magnitude = 10 ** math.floor(math.log10(max(step_ms, 1.0)))
    return float(next(magnitude * factor for factor in (1, 2, 5, 10) if magnitude * factor >= step_ms))


def _tick_words(at_ms: float, step_ms: float) -> str:
    return f"{at_ms:.0f} ms" if step_ms < 100 and at_ms < 1000 else f"{at_ms / 1000:g} s"


def _frame(drawing: _Drawing, frame: GraphFrame, depth: int) -> None:
    """Draw a frame's band and header, and its items below."""
    top, span = drawing.y, drawing.spans[frame.id]
    place = len(drawing.bands)
    drawing.rows += _frame_head(drawing, frame)
    drawing.y += FRAME_ROW
    for item in sorted(drawing.structure.items[frame.id], key=lambda each: drawing.spans[each].start):
        if item in drawing.structure.frames:
            _frame(drawing, drawing.structure.frames[item], depth + 1)
        else:
            drawing.rows.append(_run(drawing, drawing.structure.executions[item], frame.is_active))
            drawing.y += ROW
    drawing.y += FRAME_FOOT
    tone = tone_of(frame.status, frame_active=frame.is_active)
    band = {
        "class": f"band depth-{min(depth, _MAX_DEPTH_CLASS)} status-{tone}",
        **_stretch(drawing, span),
        "y": top,
        "height": drawing.y - top - 3,
        "rx": 6,
    }
    drawing.bands.insert(place, element("rect", band))


def _stretch(drawing: _Drawing, span: _Span) -> dict[str, str | float]:
    start, end = drawing.at(span.start), drawing.at(span.end)
    return {"x": _percent(start), "width": _percent(end - start)}


def _frame_head(drawing: _Drawing, frame: GraphFrame) -> Iterable[SafeString]:
    tone = tone_of(frame.status, frame_active=frame.is_active)
    span, y = drawing.spans[frame.id], drawing.y
    start = drawing.at(span.start)
    is_shut = frame.id in drawing.collapsed
    inside = hidden_words(drawing.structure.hidden_counts[frame.id]) if is_shut else ""
    intent = beginning(frame.intent, _INTENT_CHARS)
    shown = seen(frame.label, intent, duration_badge(frame.duration_ms), inside, between=" · ")
    words = frame_words(frame, shown)
    late = start > _AFTER_UNTIL
    x = _percent(drawing.at(span.end) if late else start)
    # A nested svg places elements at a fixed distance from a position in percent.
    moved = element(
        "svg",
        {"x": x, "y": y, "class": "moved"},
        sign(_UID, tone, -22 if late else 8, 6),
        text_at("frame-label", -28 if late else 28, 17, shown, anchor="end" if late else ""),
    )
    yield element(
        "g",
        focusable("frame" + drawing.fate(frame.id), tone, frame.id, words),
        element("title", {}, f"{words}, from {span.start:.0f} ms"),
        element("rect", {"class": "frame-head", **_stretch(drawing, span), "y": y, "height": FRAME_ROW - 4, "rx": 6}),
        moved,
    )
    if frame.id != drawing.structure.root_id:
        box = element(
            "svg", {"x": _percent(drawing.at(span.end)), "y": y, "class": "moved"}, toggle(frame, is_shut, -14, 12)
        )
        yield box


def _run(drawing: _Drawing, execution: GraphExecution, frame_active: bool) -> SafeString:
    tone = tone_of(execution.status, frame_active=frame_active)
    span, y = drawing.spans[execution.id], drawing.y
    shown = _run_label(execution)
    words = run_words(execution, shown)
    bar = {"y": y + 3, "height": ROW - 8, "rx": 3}
    return element(
        "g",
        focusable("run" + drawing.fate(execution.id), tone, execution.id, words),
        element("title", {}, f"{words}, from {span.start:.0f} ms"),
        element("rect", {"class": "row-ground", "x": "0", "y": y, "width": "100%", "height": ROW - 2, "rx": 3}),
        # Without a minimum width a short call would be invisible.
        element("rect", {"class": "bar", "x": _percent(drawing.at(span.start)), "width": _SHORTEST_PX, **bar}),
        element("rect", {"class": "bar" + (" is-open" if span.is_open else ""), **_stretch(drawing, span), **bar}),
        _label(drawing, shown, span, y + 15.5),
    )


def _run_label(execution: GraphExecution) -> str:
    again = stage_of(execution) if execution.attempt > 1 or execution.phase else ""
    return seen(execution.plugin_name, again, duration_badge(execution.duration_ms), between=" · ")


def _label(drawing: _Drawing, words: str, span: _Span, y: float) -> SafeString:
    start, end = drawing.at(span.start), drawing.at(span.end)
    if end < _AFTER_UNTIL:
        return text_at("run-label", _percent(end), y, words, dx=8)
    if start > _BEFORE_FROM:
        return text_at("run-label", _percent(start), y, words, dx=-6, anchor="end")
    return text_at("run-label is-inside", _percent(start), y, words, dx=8)


def _percent(value: float) -> str:
    return f"{value:.2f}%"

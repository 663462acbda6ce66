"""The picture of a turn: turns the stored structure into an SVG of nested frames.

Reading order: `structure` (reads the stored JSON), `shown` (the part that a reader sees), `rows` (which item is in
which row), `layout` (sizes and places), `routes` (edges around boxes), `error_path`, `status` and `labels` (words and
colours), `parts` and `svg` (markup); `timeline` and `outline` show the same structure in other ways.
No module here reads the database, a clock or a request.
"""

from sessions_app.web.turns.graph.layout import GraphLayout, layout_graph
from sessions_app.web.turns.graph.outline import Outline, render_outline
from sessions_app.web.turns.graph.renaming import renamed
from sessions_app.web.turns.graph.shown import ShownGraph, show_structure
from sessions_app.web.turns.graph.structure import GraphStructure, collapse, frames_to_collapse, read_structure
from sessions_app.web.turns.graph.svg import Remark, render_shown
from sessions_app.web.turns.graph.timeline import render_timeline

__all__ = [
    "GraphLayout",
    "GraphStructure",
    "Outline",
    "Remark",
    "ShownGraph",
    "collapse",
    "frames_to_collapse",
    "layout_graph",
    "read_structure",
    "renamed",
    "render_outline",
    "render_shown",
    "render_timeline",
    "show_structure",
]

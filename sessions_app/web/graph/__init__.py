"""The picture of a turn: stored structure in, nested frames laid out, SVG out [G-8, UI-2..UI-9].

Reading order: `structure` (typed reading of the JSON), `rows` (which item stands in which row), `layout` (sizes and
places), `routes` (edges around boxes), `status` and `labels` (words and colours), `svg` (markup).
Nothing here reads a row, a clock or a request.
"""

from sessions_app.web.graph.layout import GraphLayout, layout_graph
from sessions_app.web.graph.structure import GraphStructure, collapse, frames_to_collapse, read_structure
from sessions_app.web.graph.svg import render_graph, render_svg

__all__ = [
    "GraphLayout",
    "GraphStructure",
    "collapse",
    "frames_to_collapse",
    "layout_graph",
    "read_structure",
    "render_graph",
    "render_svg",
]

"""SVG elements; every attribute and every text is escaped here."""

from collections.abc import Mapping, Sequence
from html import escape

from django.utils.safestring import SafeString, mark_safe

_CORNER_PX = 6.0


def element(name: str, attributes: Mapping[str, str | float], *children: SafeString | str) -> SafeString:
    """Return one element; children that are plain strings are escaped, those that are markup are not."""
    written = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items())
    inside = "".join(child if isinstance(child, SafeString) else escape(child) for child in children)
    # Attribute values and plain children are escaped above; names come only from this package.
    return mark_safe(f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>")  # noqa: S308


def line_path(points: Sequence[tuple[float, float]]) -> str:
    """Return the path data of an orthogonal line with rounded corners."""
    path = [f"M{number(points[0][0])} {number(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter = _towards(corner, before)
        leave = _towards(corner, after)
        path.append(f"L{_pair(enter)}Q{_pair(corner)} {_pair(leave)}")
    path.append(f"L{_pair(points[-1])}")
    return "".join(path)


def number(value: float) -> str:
    """Return a coordinate as text with at most one decimal."""
    return f"{round(value, 1):g}" if abs(value) < 1e5 else str(round(value))


def _attribute(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def _pair(point: tuple[float, float]) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the point between a corner and another point where the rounding of the corner begins."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    if not length:
        return corner
    share = min(_CORNER_PX, length / 2) / length
    return corner[0] + dx * share, corner[1] + dy * share

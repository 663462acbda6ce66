"""The picture of a base's family: a line for each base, a dot for each revision, a curve for each fork."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from sessions_app.queries.base_pages import Family

if TYPE_CHECKING:
    from sessions_app.models import KBRevision, KnowledgeBase

NAME_CHARS = 24
_LANE, _STEP, _LEFT, _TOP, _MARGIN = 44, 26, 24, 30, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A revision in the picture."""

    x: int
    y: int
    kept: "KBRevision"
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A base in the picture; `fork` is the curve that comes from its parent, empty if that is not shown."""

    base: "KnowledgeBase"
    name: str
    y: int
    name_y: int
    first_x: int
    last_x: int
    dots: Sequence[Dot]
    fork: str
    is_shown_base: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LineagePicture:
    """Geometry of the whole picture, in pixels; `cuts` say what it leaves out."""

    lanes: Sequence[Lane]
    width: int
    height: int
    cuts: Sequence[str]


def lineage_picture(family: Family, base: "KnowledgeBase") -> LineagePicture:
    """Give the picture of a family: time goes from left to right, one column a revision."""
    column = {kept.pk: place for place, kept in enumerate(family.revisions)}
    lanes: list[Lane] = []
    for number, shown in enumerate(family.bases):
        y = _TOP + number * _LANE
        dots = [
            Dot(x=_LEFT + column[kept.pk] * _STEP, y=y, kept=kept, is_current=kept.revision == shown.revision)
            for kept in family.revisions
            if kept.knowledge_base_id == shown.pk
        ]
        first_x = dots[0].x if dots else _LEFT
        lanes.append(
            Lane(
                base=shown,
                name=shown.name if len(shown.name) <= NAME_CHARS else f"{shown.name[: NAME_CHARS - 1]}…",
                y=y,
                name_y=y - 12,
                first_x=first_x,
                last_x=dots[-1].x if dots else first_x,
                dots=dots,
                fork=_curve(lanes, shown, first_x, y),
                is_shown_base=shown.pk == base.pk,
            )
        )
    names = max((lane.first_x + _width(lane.name) for lane in lanes), default=0)
    return LineagePicture(
        lanes=lanes,
        width=max(names, _LEFT + len(column) * _STEP) + _MARGIN,
        height=_TOP + (len(lanes) - 1) * _LANE + _MARGIN,
        cuts=_cuts(family, lanes, base),
    )


def _width(name: str) -> int:
    """Give how wide a name is at most, near enough: its letters are drawn by the browser."""
    return sum(14 if char.isupper() or east_asian_width(char) in "WF" else 9 for char in name)


def _cuts(family: Family, lanes: Sequence[Lane], base: "KnowledgeBase") -> list[str]:
    cuts = []
    fork_count = sum(lane.base.parent_id == base.pk for lane in lanes)
    if fork_count < family.fork_count:
        cuts.append(f"Only the newest {fork_count} of {family.fork_count} forks are shown.")
    if family.goes_on_above:
        cuts.append(f"{lanes[0].base.name} was made from another base, which is not shown.")
    limit = family.revision_limit
    if any(len(lane.dots) == limit < lane.base.revision for lane in lanes):
        cuts.append(f"Of each base the newest {limit} revisions are shown.")
    return cuts


def _curve(lanes: Sequence[Lane], fork: "KnowledgeBase", x: int, y: int) -> str:
    """Give the path from the revision that the parent had when it was forked."""
    parent = next((lane for lane in lanes if lane.base.pk == fork.parent_id), None)
    if parent is None:
        return ""
    earlier = [dot for dot in parent.dots if dot.kept.created_at <= fork.created_at]
    start = earlier[-1].x if earlier else parent.first_x
    return f"M{start} {parent.y} C{start} {y} {start} {y} {x} {y}"

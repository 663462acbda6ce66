"""The picture of a base's family: a line for each base, a dot for each revision, a curve for each fork."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from sessions_app.models import KBRevision, KnowledgeBase
from sessions_app.queries.knowledge.pages import BaseFamily

NAME_CHARS = 24
type _Point = tuple[int, int]
_LANE, _STEP, _LEFT, _TOP, _MARGIN = 44, 26, 24, 30, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A revision in the picture."""

    x: int
    y: int
    kept: KBRevision
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A base in the picture."""

    base: KnowledgeBase
    name: str
    y: int
    name_y: int
    first_x: int
    last_x: int
    dots: Sequence[Dot]
    is_shown_base: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LineagePicture:
    """Geometry of the whole picture, in pixels; `curves` lead from a base into another, `cuts` say what is left out."""

    lanes: Sequence[Lane]
    curves: Sequence[str]
    width: int
    height: int
    cuts: Sequence[str]


def lineage_picture(family: BaseFamily, base: KnowledgeBase) -> LineagePicture:
    """Return the picture of a family: time goes from left to right, one column a revision."""
    column = {kept.pk: place for place, kept in enumerate(family.revisions)}
    lanes: dict[int, Lane] = {}
    for number, shown in enumerate(family.bases):
        y = _TOP + number * _LANE
        dots = [
            Dot(x=_LEFT + column[kept.pk] * _STEP, y=y, kept=kept, is_current=kept.revision == shown.revision)
            for kept in family.revisions
            if kept.knowledge_base_id == shown.pk
        ]
        first_x = dots[0].x if dots else _LEFT
        lanes[shown.pk] = Lane(
            base=shown,
            name=shown.name if len(shown.name) <= NAME_CHARS else f"{shown.name[: NAME_CHARS - 1]}…",
            y=y,
            name_y=y - 12,
            first_x=first_x,
            last_x=dots[-1].x if dots else first_x,
            dots=dots,
            is_shown_base=shown.pk == base.pk,
        )
    names = max((lane.first_x + _width(lane.name) for lane in lanes.values()), default=0)
    return LineagePicture(
        lanes=list(lanes.values()),
        curves=[curve for lane in lanes.values() for curve in _curves(lane, lanes, family)],
        width=max(names, _LEFT + len(column) * _STEP) + _MARGIN,
        height=_TOP + (len(lanes) - 1) * _LANE + _MARGIN,
        cuts=_cuts(family, lanes, base),
    )


def _width(name: str) -> int:
    """Return how wide a name is at most, near enough: its letters are drawn by the browser."""
    return sum(14 if char.isupper() or east_asian_width(char) in "WF" else 9 for char in name)


def _cuts(family: BaseFamily, lanes: Mapping[int, Lane], base: KnowledgeBase) -> list[str]:
    cuts = []
    fork_count = sum(lane.base.parent_id == base.pk for lane in lanes.values())
    if fork_count < family.fork_count:
        cuts.append(f"Only the newest {fork_count} of {family.fork_count} forks are shown.")
    if family.goes_on_above:
        cuts.append(f"{family.bases[0].name} was made from another base, which is not shown.")
    limit = family.revision_limit
    if any(len(lane.dots) == limit < lane.base.revision for lane in lanes.values()):
        cuts.append(f"Of each base the newest {limit} revisions are shown.")
    saved = [kept for kept in family.revisions if kept.revision > 1 and kept.origin_base_id is not None]
    unseen = sum(kept.origin_base_id not in lanes for kept in saved)
    if unseen:
        cuts.append(f"Of the other bases {unseen} revision{'s' * (unseen > 1)} came from bases that are not shown.")
    return cuts


def _curves(lane: Lane, lanes: Mapping[int, Lane], family: BaseFamily) -> list[str]:
    """Return the paths to a base's beginning and to what was saved into it, from the revisions before."""
    beginning = family.beginnings.get(lane.base.pk)
    start = _origin(beginning, lanes) if beginning and beginning.origin_base_id else _parent_then(lane.base, lanes)
    curves = [_path(start, (start[0], lane.y), (start[0], lane.y), (lane.first_x, lane.y))] if start else []
    for dot in lane.dots:
        start = _origin(dot.kept, lanes) if dot.kept.revision > 1 else None
        if start:  # end above the dot, because the base's own line is beside it
            middle = (start[1] + dot.y) // 2
            curves.append(_path(start, (start[0], middle), (dot.x, middle), (dot.x, dot.y)))
    return curves


def _path(start: _Point, first: _Point, second: _Point, end: _Point) -> str:
    return "M{} {} C{} {} {} {} {} {}".format(*start, *first, *second, *end)


def _origin(kept: KBRevision, lanes: Mapping[int, Lane]) -> _Point | None:
    """Return the place of the revision that another one continues from, or of the next one that is shown."""
    line = lanes.get(kept.origin_base_id or 0)
    if line is None:
        return None
    return next((dot.x for dot in line.dots if dot.kept.revision >= (kept.origin_revision or 0)), line.last_x), line.y


def _parent_then(fork: KnowledgeBase, lanes: Mapping[int, Lane]) -> _Point | None:
    """Return the place of the revision that the parent had when it was forked: the origin was not always kept."""
    line = lanes.get(fork.parent_id or 0)
    if line is None:
        return None
    earlier = [dot.x for dot in line.dots if dot.kept.created_at <= fork.created_at]
    return earlier[-1] if earlier else line.first_x, line.y

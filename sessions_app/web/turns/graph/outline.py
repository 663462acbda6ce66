"""The same structure as a tree of text, for keyboards and screen readers: a flat list of rows with their levels.

The list is flat, so that a browser can hold only the visible ones of ten thousand rows (static/js/turns/outline.js).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

from mrpvm.trace.graph import GraphExecution, GraphFrame
from sessions_app.web.turns.graph.markup import element
from sessions_app.web.turns.graph.parts import seen, spoken, stage_of
from sessions_app.web.turns.graph.shown import ShownGraph
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.turns.graph.structure import GraphStructure

ROWS_AT_FIRST = 300
"""How many rows the page includes; the rest of a large turn is loaded afterwards."""
_DEEPEST_INDENT = 8


@dataclass(frozen=True, slots=True)
class Outline:
    """The rows as markup, and the number of rows left out."""

    rows: SafeString
    row_count: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _RowPlace:
    """The position of a row in the tree."""

    item_id: str
    level: int
    position: int
    set_size: int


def render_outline(shown: ShownGraph, *, limit: int | None = None) -> Outline:
    """Return the rows of all frames and executions; rows below a collapsed frame are hidden at first."""
    structure = shown.whole
    places = list(_places(structure))
    kept = places if limit is None else places[:limit]
    rows: list[SafeString] = []
    hidden_below = 0
    for place in kept:
        if hidden_below and place.level > hidden_below:
            rows.append(_row(structure, place, shown.selected, is_hidden=True, is_shut=False))
            continue
        is_shut = place.item_id in shown.collapsed
        hidden_below = place.level if is_shut else 0
        rows.append(_row(structure, place, shown.selected, is_hidden=False, is_shut=is_shut))
    # Every row was escaped when it was made.
    return Outline(mark_safe("".join(rows)), len(places), len(places) - len(kept))  # noqa: S308


def _places(structure: GraphStructure) -> Iterator[_RowPlace]:
    waiting = [_RowPlace(structure.root_id, 1, 1, 1)] if structure.root_id else []
    while waiting:
        place = waiting.pop()
        yield place
        held = structure.items.get(place.item_id, ())
        inside = [_RowPlace(item, place.level + 1, number, len(held)) for number, item in enumerate(held, start=1)]
        waiting.extend(reversed(inside))


def _row(structure: GraphStructure, place: _RowPlace, selected: str, *, is_hidden: bool, is_shut: bool) -> SafeString:
    frame = structure.frames.get(place.item_id)
    shown = _shown_frame(frame) if frame is not None else _shown_run(structure, structure.executions[place.item_id])
    attributes: dict[str, str | float] = {
        "role": "treeitem",
        "id": f"item-{place.item_id}",
        "data-id": place.item_id,
        "tabindex": "-1",
        "aria-level": place.level,
        "aria-posinset": place.position,
        "aria-setsize": place.set_size,
        "aria-selected": "true" if place.item_id == selected else "false",
        # The same order as the visible text, so that voice control finds a row by its visible name.
        "aria-label": spoken(seen(shown.label, shown.about, shown.time), shown.status),
        "class": f"outline__item indent-{min(place.level, _DEEPEST_INDENT)}",
    }
    if frame is not None and structure.items[frame.id]:
        attributes["aria-expanded"] = "false" if is_shut else "true"
    if is_hidden:
        attributes["hidden"] = ""
    return element("li", attributes, _link(place.item_id, shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The text of a row; `about` distinguishes rows of the same name, by a planner's phase or a frame's question."""

    label: str
    about: str
    note: str
    status: str
    tone: Tone
    time: str
    is_frame: bool


def _shown_frame(frame: GraphFrame) -> _Shown:
    return _Shown(
        label=frame.label,
        about=frame.intent,
        note=frame.purpose,
        status=frame.status,
        tone=tone_of(frame.status, frame_active=frame.is_active),
        time=duration_badge(frame.duration_ms),
        is_frame=True,
    )


def _shown_run(structure: GraphStructure, run: GraphExecution) -> _Shown:
    return _Shown(
        label=run.plugin_name,
        about=run.phase or "",
        note=stage_of(run),
        status=run.status,
        tone=tone_of(run.status, frame_active=structure.frames[run.frame_id].is_active),
        time=duration_badge(run.duration_ms),
        is_frame=False,
    )


def _link(item_id: str, shown: _Shown) -> SafeString:
    fold = element("span", {"class": "outline__fold", "aria-hidden": "true"}, "\u203a") if shown.is_frame else ""
    # The number at a name's end distinguishes siblings, so it is never cut.
    name, _, number = shown.label.rpartition(" ")
    if not number.isdecimal() or not name:
        name, number = shown.label, ""
    named = seen(shown.label, shown.about, between=": " if shown.is_frame else " ")
    about_class = "outline__about truncate" if shown.is_frame else "outline__about"
    return element(
        "a",
        {
            "class": f"outline__row{' is-frame' if shown.is_frame else ''} status-{shown.tone}",
            "href": "?" + urlencode({"sel": item_id}),
            "data-select": item_id,
            "tabindex": "-1",
            "title": f"{named} ({shown.note}): {shown.status}" if shown.note else f"{named}: {shown.status}",
        },
        fold,
        # The question of a frame says more than its purpose, and there is no room for both.
        "" if shown.is_frame and shown.about else element("span", {"class": "truncate"}, name) + SafeString(" "),
        element("span", {"class": "outline__number"}, number) if number else "",
        " ",
        element("span", {"class": about_class}, shown.about) if shown.about else "",
        " ",
        element("span", {"class": "outline__time"}, shown.time) if shown.time else "",
    )

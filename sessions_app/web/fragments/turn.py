"""The turn page: its head, and the one structure in three views: graph, timeline, outline."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions_app.queries.outcomes import outcome
from sessions_app.queries.pages import neighbours
from sessions_app.queries.turns import discarded_texts
from sessions_app.web.fragments.conversation import turn_tone
from sessions_app.web.fragments.turn_structure import structure_of
from sessions_app.web.graph import ShownGraph, render_outline, render_shown, render_timeline, show_structure
from sessions_app.web.graph.outline import ROWS_AT_FIRST
from sessions_app.web.graph.shown import OPEN_AT_MOST
from sessions_app.web.graph.status import duration_badge
from sessions_app.web.words import ending, why

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn

VIEWS = ("graph", "timeline", "outline")
TABS = ("run", "context", "state", "choice")
DISCARDED_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What the address says of the reader's own choices."""

    view: str = "graph"
    tab: str = "run"
    selected: str = ""
    opened: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()


def head_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Return what stands above the graph: how the turn ended, its neighbours, what it ran with."""
    error = turn.error or {}
    discarded = discarded_texts(turn) if error else []
    return {
        "turn": turn,
        "session": turn.session,
        "ending": ending(turn.status, outcome(turn), turn.kind),
        "tone": turn_tone(turn),
        "duration": duration_badge(turn.duration_ms),
        "neighbours": neighbours(turn),
        "error": error,
        "error_words": why(str(error.get("code", ""))),
        "discarded": discarded[:DISCARDED_SHOWN],
        "discarded_left_out": max(0, len(discarded) - DISCARDED_SHOWN),
    }


def shown_graph(turn: "ExplainabilityTurn", reader: Reader) -> ShownGraph:
    """Return what the reader sees of the turn's graph."""
    return show_structure(structure_of(turn), opened=reader.opened, shut=reader.shut, selected=reader.selected)


def stage_context(turn: "ExplainabilityTurn", shown: ShownGraph, reader: Reader) -> dict[str, Any]:
    """Return the middle of the page: the graph, or the timeline in its place."""
    is_timeline = reader.view == "timeline"
    return {
        "turn": turn,
        "session": turn.session,
        "graph": render_shown(shown),
        "timeline": render_timeline(shown) if is_timeline else "",
        "execution_count": len(shown.whole.executions),
        "frame_count": len(shown.whole.frames),
        "can_open_all": len(shown.whole.executions) <= OPEN_AT_MOST,
    }


def outline_context(
    turn: "ExplainabilityTurn", shown: ShownGraph, selected: str, *, is_whole: bool = False
) -> dict[str, Any]:
    """Return the graph as a tree of words; a long one in part, unless all of it is asked for."""
    limit = None if is_whole else ROWS_AT_FIRST
    return {"turn": turn, "session": turn.session, "outline": render_outline(shown, selected, limit=limit)}


def one_of(wanted: str | None, known: Iterable[str]) -> str:
    """Return the wanted name if it is one of the known, else their first."""
    names = tuple(known)
    return wanted if wanted in names else names[0]

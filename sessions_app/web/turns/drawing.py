"""The structure of a turn in three views: graph, timeline, outline."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from mrpvm.text_cache import TextCache
from mrpvm.trace.outputs import outputs_of
from sessions_app.models import ExplainabilityTurn, UnitEvent
from sessions_app.queries.turns.registry import events_and_judgements, turn_by_key
from sessions_app.web.turns.graph import (
    GraphStructure,
    Outline,
    ShownGraph,
    render_outline,
    render_shown,
    render_timeline,
    show_structure,
)
from sessions_app.web.turns.graph.outline import ROWS_AT_FIRST
from sessions_app.web.turns.graph.shown import OPEN_AT_MOST
from sessions_app.web.turns.reader import Reader
from sessions_app.web.turns.structure import structure_of, whole_structure_of

VIEWS = ("graph", "timeline", "outline")
TABS = ("run", "context", "state", "choice")


def turn_addresses(turn: ExplainabilityTurn) -> dict[str, str]:
    """Return the addresses of the turn and of its session; addresses of the turn's parts begin with the turn's."""
    session_url = reverse("session", args=[turn.session.session_id])
    return {"session_url": session_url, "turn_url": f"{session_url}/turns/{turn.request_id}"}


def shown_graph(turn: ExplainabilityTurn, reader: Reader) -> ShownGraph:
    """Return the part of the turn's graph that the reader sees."""
    whole = whole_structure_of(turn)
    return show_structure(whole, opened=reader.opened, shut=reader.shut, selected=reader.selected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The turn as graph and outline, as markup."""

    graph: SafeString
    outline: Outline
    execution_count: int
    frame_count: int


def drawing(turn: ExplainabilityTurn, reader: Reader) -> Drawing:
    """Return the turn's graph and outline; those of an ended turn are cached."""
    if turn.is_running:
        return _drawn(turn, reader)
    return _ended_drawing(reader, *turn.record_key)


@TextCache
def _ended_drawing(reader: Reader, turn_pk: int, *version: object) -> Drawing:
    return _drawn(turn_by_key(turn_pk), reader)


def _drawn(turn: ExplainabilityTurn, reader: Reader) -> Drawing:
    shown = shown_graph(turn, reader)
    outputs = _outputs(turn) if turn.is_running else _ended_outputs(*turn.record_key)
    return Drawing(
        graph=render_shown(shown, outputs=outputs),
        outline=render_outline(shown, limit=ROWS_AT_FIRST),
        execution_count=len(shown.whole.executions),
        frame_count=len(shown.whole.frames),
    )


@TextCache
def _ended_outputs(turn_pk: int, *version: object) -> dict[str, str]:
    return _outputs(turn_by_key(turn_pk))


def _outputs(turn: ExplainabilityTurn) -> dict[str, str]:
    events, judged = events_and_judgements(turn)
    return outputs_of(events, _scores(structure_of(turn), judged))


def _scores(structure: GraphStructure, judged: Iterable[UnitEvent]) -> dict[str, list[float]]:
    """Return the scores of the units that each retrieval selected."""
    scores: dict[str, list[float]] = {}
    for event in judged:
        run = structure.executions.get(event.execution_id)
        if run is not None and run.stage == "kb":
            scores_of_run = scores.setdefault(run.id, [])
            if event.step == "selected":
                scores_of_run.append(event.score or 0.0)
    return scores


def stage_context(turn: ExplainabilityTurn, reader: Reader) -> dict[str, Any]:
    """Return the graph, or the timeline if that view is open, and the outline."""
    drawn = drawing(turn, reader)
    return {
        "turn": turn,
        "session": turn.session,
        **turn_addresses(turn),
        "graph": drawn.graph,
        "timeline": render_timeline(shown_graph(turn, reader)) if reader.view == "timeline" else "",
        "outline": drawn.outline,
        "execution_count": drawn.execution_count,
        "frame_count": drawn.frame_count,
        "can_open_all": drawn.execution_count <= OPEN_AT_MOST,
    }


def one_of(wanted: str | None, known: Iterable[str]) -> str:
    """Return the wanted name if it is one of the known names, else the first of these."""
    names = tuple(known)
    return wanted if wanted in names else names[0]

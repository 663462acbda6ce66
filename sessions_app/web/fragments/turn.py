"""The turn page: its head, the graph, and the outline of the same structure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mrpvm.trace.graph import Graph
from sessions_app.queries.pages import neighbours
from sessions_app.web.fragments.conversation import turn_tone
from sessions_app.web.graph import GraphStructure, read_structure, render_graph
from sessions_app.web.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.words import ending, why

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineItem:
    """A frame or an execution in the outline; children are in reading order."""

    id: str
    ref: str
    label: str
    note: str
    status: str
    tone: Tone
    duration: str
    children: tuple["OutlineItem", ...] = ()


def head_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Give what stands above the graph: how the turn ended, its neighbours, what it ran with."""
    error = turn.error or {}
    return {
        "turn": turn,
        "session": turn.session,
        "ending": ending(turn.status, turn.answer_status),
        "tone": turn_tone(turn),
        "duration": duration_badge(turn.duration_ms),
        "neighbours": neighbours(turn),
        "plugins": [
            ("Planner", turn.planner_plugin),
            ("Seed detector", turn.seed_detector_plugin),
            ("KB plugin", turn.kb_plugin),
            ("Goal solver", turn.goal_solver_plugin),
        ],
        "error": error,
        "error_words": why(str(error.get("code", ""))),
    }


def graph_context(
    turn: "ExplainabilityTurn", graph: Graph, opened: Iterable[str], shut: Iterable[str]
) -> dict[str, Any]:
    """Give the picture, with the frames that the reader opened and shut."""
    return {"turn": turn, "session": turn.session, "graph": render_graph(graph, opened=opened, shut=shut)}


def outline_context(turn: "ExplainabilityTurn", graph: Graph, selected: str) -> dict[str, Any]:
    """Give the graph as a tree of words, for keyboards and screen readers."""
    structure = read_structure(graph)
    root = (_frame_item(structure, structure.root_id),) if structure.root_id else ()
    return {"turn": turn, "session": turn.session, "outline": root, "selected": selected}


def _frame_item(structure: GraphStructure, frame_id: str) -> OutlineItem:
    frame = structure.frames[frame_id]
    children = tuple(
        _frame_item(structure, item) if item in structure.frames else _execution_item(structure, item, frame.active)
        for item in frame.items
    )
    return OutlineItem(
        id=frame.id,
        ref=frame.detail_ref,
        label=frame.label or frame.id,
        note=frame.purpose if frame.purpose != frame.label else "",
        status=frame.status,
        tone=tone_of(frame.status),
        duration=duration_badge(frame.duration_ms),
        children=children,
    )


def _execution_item(structure: GraphStructure, execution_id: str, frame_active: bool) -> OutlineItem:
    execution = structure.executions[execution_id]
    return OutlineItem(
        id=execution.id,
        ref=execution.detail_ref,
        label=execution.label,
        note=execution.stage,
        status=execution.status,
        tone=tone_of(execution.status, frame_active=frame_active),
        duration=duration_badge(execution.duration_ms),
    )

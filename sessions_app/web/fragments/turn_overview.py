"""What the panel beside the graph shows until a node is chosen: what the turn ran with, and what it answered."""

from typing import TYPE_CHECKING, Any

from sessions_app.queries.turns import answer_of
from sessions_app.web.prose import prose

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn


def overview_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Give the plugins and settings of the turn, and its answer with marks that lead to their units [UI-8]."""
    answer = answer_of(turn)
    return {
        "turn": turn,
        "session": turn.session,
        "plugins": [
            ("Planner", turn.planner_plugin),
            ("Seed detector", turn.seed_detector_plugin),
            ("KB plugin", turn.kb_plugin),
            ("Goal solver", turn.goal_solver_plugin),
        ],
        "answer": prose(answer) if answer else "",
    }

"""What the panel beside the graph shows until a node is chosen: what the turn ran with, and what it answered."""

from typing import TYPE_CHECKING, Any

from django.urls import reverse

from sessions_app.queries.turns.outcomes import NOTHING_ASKED, outcome
from sessions_app.queries.turns.registry import answer_of, deciding_reasons
from sessions_app.web.sessions.closest import closest
from sessions_app.web.shell.prose import prose
from sessions_app.web.shell.words import BASIS_WORDS

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn


def overview_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Return the plugins and settings of the turn, and its answer with marks that lead to their units [UI-8].

    Where something found no answer, it gives what came closest.
    """
    answer = answer_of(turn)
    is_open = outcome(turn) == turn.answer_status  # what was no question is near to no statement
    turn_url = reverse("turn", args=[turn.session.session_id, turn.request_id])
    return {
        "turn": turn,
        "session": turn.session,
        "plugins": [
            ("Planner", turn.planner_plugin),
            ("Seed detector", turn.seed_detector_plugin),
            ("KB plugin", turn.kb_plugin),
            ("Goal solver", turn.goal_solver_plugin),
        ],
        "basis": BASIS_WORDS.get(turn.answer_basis) if outcome(turn) != NOTHING_ASKED else None,
        "reasons": deciding_reasons(turn.response_document),
        "answer": prose(answer, f"{turn_url}/sources/") if answer else "",
        "closest": closest(turn.session.session_id, turn.response_document) if is_open else [],
    }

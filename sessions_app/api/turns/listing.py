"""The turns of all sessions of the project, a page at a time."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import InvalidInput
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import TurnListQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.search.filter_language import Filter, parse
from sessions_app.queries.turns.lists import turn_page


class Turns(ApiView):
    """The project's turns."""

    @schemas.turn_list
    def get(self, request: Request) -> Response:
        """List turns, the newest first."""
        query = self.parameters(TurnListQuery)
        found = turn_page(self.project, _filter(query.get("q", "")), _place(query.get("cursor")), query["limit"])
        next_cursor = str(found.next_before) if found.next_before else None
        return self.linked(
            {"turns": [_listed(turn) for turn in found.turns], "next_cursor": next_cursor}, next=next_cursor
        )


def _filter(text: str) -> Filter:
    wanted = parse(text)
    if wanted.problems:
        raise InvalidInput(" ".join(f"q: “{problem.text}”: {problem.reason}" for problem in wanted.problems))
    return wanted


def _place(cursor: str | None) -> int | None:
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and 0 < int(cursor) < 2**63):
        raise InvalidInput("The cursor is not one that this list gave.")
    return int(cursor)


def _listed(turn: ExplainabilityTurn) -> dict[str, Any]:
    rating = getattr(turn, "rating", None)
    return {
        "request_id": turn.request_id,
        "session_id": turn.session.session_id,
        "session_label": turn.session.label,
        "turn_index": turn.turn_index,
        "kind": turn.kind,
        "status": turn.status,
        "outcome": turn.outcome or None,
        "answer_basis": turn.answer_basis or None,
        "created_at": turn.created_at,
        "duration_ms": turn.duration_ms,
        "user_message": turn.user_message,
        "assistant_preview": turn.assistant_preview,
        "kb_id": turn.base_id,  # type: ignore[attr-defined]
        "kb_name": turn.base_name,  # type: ignore[attr-defined]
        "planner_plugin": turn.planner_plugin,
        "seed_detector_plugin": turn.seed_detector_plugin,
        "kb_plugin": turn.kb_plugin,
        "goal_solver_plugin": turn.goal_solver_plugin,
        "deliberation_level": turn.deliberation_level,
        "model": turn.model,
        "token_count": turn.token_count,
        "is_rewritten": turn.is_rewritten,
        "left_out_count": turn.left_out_count,
        "rating": rating.value if rating else None,
        "error": turn.error,
    }

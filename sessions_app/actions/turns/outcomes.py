"""Fill in the outcome of turns that an earlier version stored, or that came in its bundles."""

from collections.abc import Callable

from django.db import transaction

from sessions_app.actions.turns.counting import mark_outdated
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.outcomes import listed_outcome

_ROWS_A_QUERY = 500


def fill_missing_outcomes(pause: Callable[[], None] = lambda: None) -> int:
    """Fill in the outcome of ended turns that have none; return how many.

    Effects: their rows; their hours are counted again.

    Args:
        pause: called between two transactions; lets running turns go first.
    """
    filled = 0
    while turns := _without_outcome():
        with transaction.atomic():
            for turn in turns:
                turn.outcome = listed_outcome(turn)
                mark_outdated(turn.session.project_id, [turn.created_at])
            ExplainabilityTurn.objects.bulk_update(turns, ["outcome"])
        filled += len(turns)
        pause()
    return filled


def _without_outcome() -> list[ExplainabilityTurn]:
    # If no outcome is missing, only running turns match, which the index of outcomes finds.
    turns = ExplainabilityTurn.objects.filter(outcome="").exclude(status=ExplainabilityTurn.Status.RUNNING)
    columns = ("kind", "status", "answer_status", "answer_basis", "user_message", "assistant_preview", "created_at")
    return list(turns.select_related("session").only("session__project_id", *columns).order_by("pk")[:_ROWS_A_QUERY])

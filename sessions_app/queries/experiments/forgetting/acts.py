"""Acts of forgetting, and their effects on turns."""

from datetime import datetime

from mrpvm.errors import NotFound
from sessions_app.models import ExplainabilityTurn, Forgetting, Project
from sessions_app.queries.paging import Page, number, page


def forgetting(project: Project, forgetting_id: str) -> Forgetting:
    """Return one act of the project.

    Raises:
        NotFound: FORGETTING_NOT_FOUND.
    """
    row = Forgetting.objects.filter(project=project, forgetting_id=forgetting_id).first()
    if row is None:
        raise NotFound(f"There is no act of forgetting '{forgetting_id}'.", code="FORGETTING_NOT_FOUND")
    row.project = project
    return row


def forgetting_page(project: Project, limit: int, cursor: str | None = None) -> Page[Forgetting]:
    """Return a page of the project's acts, the newest first.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    return page(Forgetting.objects.filter(project=project), [("-id", number)], limit, cursor)


def took_payloads(turn: ExplainabilityTurn) -> bool:
    """Return whether an act of forgetting removed the turn's payloads."""
    removed_at = turn.payloads_removed_at
    return removed_at is not None and Forgetting.objects.filter(began_at=removed_at).exists()


def forgotten_since(turn: ExplainabilityTurn) -> datetime | None:
    """Return the time of the project's first act of forgetting after the turn, or None."""
    later = Forgetting.objects.filter(project_id=turn.session.project_id, began_at__gte=turn.created_at)
    return later.order_by("began_at").values_list("began_at", flat=True).first()

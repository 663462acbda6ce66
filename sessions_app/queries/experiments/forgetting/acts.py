"""Acts of forgetting, and their effects on turns."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Min, QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import ExplainabilityTurn, Forgetting, KnowledgeLayer, Project
from sessions_app.queries.paging import Page, cursor_number, page


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
    return page(Forgetting.objects.filter(project=project), [("-id", cursor_number)], limit, cursor)


def took_payloads(turn: ExplainabilityTurn) -> bool:
    """Return whether an act of forgetting removed the turn's payloads."""
    removed_at = turn.payloads_removed_at
    return removed_at is not None and Forgetting.objects.filter(began_at=removed_at).exists()


def last_act_began_at(project: Project) -> datetime | None:
    """Return when the project's last act of forgetting began to remove something, or None."""
    return _begun(project).values_list("began_at", flat=True).first()


def forgotten_since(turn: ExplainabilityTurn, layers: Collection[int]) -> datetime | None:
    """Return when an act of forgetting began that deleted units of these layers after the turn began, or None."""
    erased = KnowledgeLayer.objects.filter(pk__in=layers, erased_at__gte=turn.created_at)
    erased_at = erased.aggregate(first=Min("erased_at"))["first"]
    if erased_at is None:
        return None
    acts = _begun(turn.session.project).filter(began_at__lte=erased_at)
    return acts.values_list("began_at", flat=True).first() or erased_at  # a bundle brings layers without the acts


def _begun(project: Project) -> "QuerySet[Forgetting]":
    return Forgetting.objects.filter(project=project, began_at__isnull=False).order_by("-began_at")

"""The project's saved filters."""

from collections.abc import Sequence

from mrpvm.errors import NotFound
from sessions_app.models import Project, SavedFilter


def saved_filters(project: Project) -> Sequence[SavedFilter]:
    """Return all of them by name."""
    return list(SavedFilter.objects.filter(project=project))


def saved_filter(project: Project, filter_id: str) -> SavedFilter:
    """Return one.

    Raises:
        NotFound: FILTER_NOT_FOUND.
    """
    row = SavedFilter.objects.filter(project=project, filter_id=filter_id).first()
    if row is None:
        raise NotFound(f"There is no saved filter '{filter_id}'.", code="FILTER_NOT_FOUND")
    row.project = project
    return row

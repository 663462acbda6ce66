"""Filters of the list of turns: saved under a name, changed, deleted."""

from django.db import IntegrityError, transaction

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.audit import record
from sessions_app.exclusive import wait_for_turn
from sessions_app.models import AuditKind, Project, SavedFilter
from sessions_app.queries.search.filter_language import parse

MOST_FILTERS = 100
"""Saved filters of a project."""
NAME_CHARS = 80


@transaction.atomic
def save_filter(project: Project, name: str, text: str, author: Author) -> SavedFilter:
    """Return a new saved filter.

    Raises:
        InvalidInput: a bad name; a text that is empty or not understood.
        Conflict: FILTER_EXISTS; the project has too many.
    """
    wait_for_turn(f"filters-{project.pk}")
    if SavedFilter.objects.filter(project=project).count() >= MOST_FILTERS:
        raise Conflict(f"A project has at most {MOST_FILTERS} saved filters.")
    saved_filter = SavedFilter(project=project, created_by_name=author.name[:150])
    return _store(saved_filter, AuditKind.FILTER_SAVED, name, text)


def change_filter(saved: SavedFilter, *, name: str | None = None, text: str | None = None) -> SavedFilter:
    """Return the filter with another name or text.

    Raises:
        InvalidInput, Conflict: as for `save_filter`.
    """
    wanted = saved.name if name is None else name, saved.text if text is None else text
    return _store(saved, AuditKind.FILTER_CHANGED, *wanted)


def _store(saved: SavedFilter, kind: AuditKind, name: str, text: str) -> SavedFilter:
    saved.name, saved.text = " ".join(name.split()), _checked(text)
    if not saved.name or len(saved.name) > NAME_CHARS:
        raise InvalidInput(f"The name of a filter has 1 to {NAME_CHARS} characters.")
    try:
        with transaction.atomic():
            saved.save()
            record(kind, saved.project_id, _subject(saved), text=saved.text)
    except IntegrityError:
        raise Conflict(f"There is a filter '{saved.name}' already.", code="FILTER_EXISTS") from None
    return saved


def _checked(text: str) -> str:
    wanted = parse(text)
    if wanted.problems:
        raise InvalidInput(" ".join(f"“{problem.text}”: {problem.reason}" for problem in wanted.problems))
    if not wanted.terms:
        raise InvalidInput("A filter to be saved says what it looks for.")
    return wanted.text


@transaction.atomic
def delete_filter(saved: SavedFilter) -> None:
    record(AuditKind.FILTER_DELETED, saved.project_id, _subject(saved), text=saved.text)
    saved.delete()


def _subject(saved: SavedFilter) -> str:
    return f"filter “{saved.name}” ({saved.filter_id})"

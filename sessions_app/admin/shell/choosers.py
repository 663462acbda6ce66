"""Fields to choose a row among many: they search while one types."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.http import HttpRequest

from sessions_app.models import KBMount, Membership
from sessions_app.queries.knowledge.bases import all_bases
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.lookups import present_sessions
from sessions_app.queries.settings.members import active_users

PROJECT_PARAMETER = "project_id"


class _RowSelect(AutocompleteSelect):
    """Offers the rows that a field may point at, of one project if it is given."""

    def __init__(self, field: Any, project_id: int | None = None) -> None:
        super().__init__(field, admin.site)
        self.project_id = project_id

    def get_url(self) -> str:
        bound = "" if self.project_id is None else f"?{PROJECT_PARAMETER}={self.project_id}"
        return f"{super().get_url()}{bound}"

    def optgroups(self, name: str, value: Any, attr: Any = None) -> Any:
        """Show the chosen row; unlike Django's method, do not query for a key that no row can have."""
        return super().optgroups(name, [key for key in value if whole_number(str(key)) is not None], attr)


def asked_project(request: HttpRequest) -> int | None:
    """Return the project that a search by `base_of_project` or `session_of_project` is bounded to."""
    return whole_number(request.GET.get(PROJECT_PARAMETER))


def base_of_project(project_id: int, **options: Any) -> forms.ModelChoiceField:
    """Return a field for a base of the project."""
    widget = _RowSelect(KBMount._meta.get_field("knowledge_base"), project_id)
    bases = all_bases().filter(project_id=project_id, deleted_at=None)
    return forms.ModelChoiceField(bases, widget=widget, **options)


def any_base(**options: Any) -> forms.ModelChoiceField:
    """Return a field for a base of any project."""
    widget = _RowSelect(KBMount._meta.get_field("knowledge_base"))
    return forms.ModelChoiceField(all_bases(), widget=widget, **options)


def any_session(**options: Any) -> forms.ModelChoiceField:
    """Return a field for a session of any project."""
    widget = _RowSelect(KBMount._meta.get_field("session"))
    return forms.ModelChoiceField(present_sessions(), widget=widget, **options)


def session_of_project(project_id: int, **options: Any) -> forms.ModelChoiceField:
    """Return a field for a session of the project."""
    widget = _RowSelect(KBMount._meta.get_field("session"), project_id)
    sessions = present_sessions().filter(project_id=project_id)
    return forms.ModelChoiceField(sessions, widget=widget, **options)


def any_user(**options: Any) -> forms.ModelChoiceField:
    """Return a field for a user who can log in."""
    widget = _RowSelect(Membership._meta.get_field("user"))
    return forms.ModelChoiceField(active_users(), widget=widget, **options)

"""Fields to choose a row among many: they search while one types."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.models import User
from django.http import HttpRequest

from sessions_app.models import KBMount, KnowledgeBase, Membership, Session

PROJECT_PARAMETER = "project_id"


class _ProjectSelect(AutocompleteSelect):
    """Offers the rows of one project."""

    def __init__(self, field: Any, project_id: int) -> None:
        super().__init__(field, admin.site)
        self.project_id = project_id

    def get_url(self) -> str:
        return f"{super().get_url()}?{PROJECT_PARAMETER}={self.project_id}"


def asked_project(request: HttpRequest) -> int | None:
    """Give the project that a search by `base_of_project` or `session_of_project` is bounded to."""
    asked = request.GET.get(PROJECT_PARAMETER, "")
    return int(asked) if asked.isdecimal() else None


def base_of_project(project_id: int, **options: Any) -> forms.ModelChoiceField:
    """Give a field for a base of the project."""
    widget = _ProjectSelect(KBMount._meta.get_field("knowledge_base"), project_id)
    return forms.ModelChoiceField(KnowledgeBase.objects.filter(project_id=project_id), widget=widget, **options)


def any_base(**options: Any) -> forms.ModelChoiceField:
    """Give a field for a base of any project."""
    widget = AutocompleteSelect(KBMount._meta.get_field("knowledge_base"), admin.site)
    return forms.ModelChoiceField(KnowledgeBase.objects.all(), widget=widget, **options)


def any_session(**options: Any) -> forms.ModelChoiceField:
    """Give a field for a session of any project."""
    widget = AutocompleteSelect(KBMount._meta.get_field("session"), admin.site)
    return forms.ModelChoiceField(Session.objects.filter(deleted_at=None), widget=widget, **options)


def session_of_project(project_id: int, **options: Any) -> forms.ModelChoiceField:
    """Give a field for a session of the project."""
    widget = _ProjectSelect(KBMount._meta.get_field("session"), project_id)
    sessions = Session.objects.filter(project_id=project_id, deleted_at=None)
    return forms.ModelChoiceField(sessions, widget=widget, **options)


def any_user(**options: Any) -> forms.ModelChoiceField:
    """Give a field for a user who can log in."""
    widget = AutocompleteSelect(Membership._meta.get_field("user"), admin.site)
    return forms.ModelChoiceField(User.objects.filter(is_active=True), widget=widget, **options)

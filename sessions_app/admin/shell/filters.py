"""Filters with fixed choices; Django's own read the whole table to find the choices."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from sessions_app.models import Session
from sessions_app.queries.sessions.lookups import overdue
from sessions_app.queries.turns.running import runs_a_turn


def known_values(field: str, values: Iterable[str]) -> type[admin.SimpleListFilter]:
    """Return a filter of a column that holds one of `values`."""
    choices = [(value, value) for value in values]

    class KnownValuesFilter(admin.SimpleListFilter):
        title = field.replace("_", " ")
        parameter_name = field

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return choices

        def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
            return queryset.filter(**{field: self.value()}) if self.value() else queryset

    return KnownValuesFilter


class StateFilter(admin.SimpleListFilter):
    """Whether sessions are active, expired or deleted."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states."""
        return [("active", "Active"), ("running", "A turn is running"), ("expired", "Expired"), ("deleted", "Deleted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> QuerySet[Session]:
        """Return the sessions in the chosen state."""
        expired = overdue()
        present = queryset.filter(deleted_at=None)
        match self.value():
            case "active":
                return present.exclude(expired)
            case "running":
                return present.filter(runs_a_turn())
            case "expired":
                return present.filter(expired)
            case "deleted":
                return queryset.filter(deleted_at__isnull=False)
        return queryset

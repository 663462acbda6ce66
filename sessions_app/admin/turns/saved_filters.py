"""Saved filters, to look at."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import SavedFilter


@admin.register(SavedFilter)
class SavedFilterAdmin(ReadOnlyAdmin):
    """Which filters have a name."""

    list_display = ("name", "text", "project", "created_by_name", "created_at")
    list_select_related = ("project",)
    search_fields = ("name", "=filter_id")
    ordering = ("name", "id")

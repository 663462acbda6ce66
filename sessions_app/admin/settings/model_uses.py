"""What model calls took and wrote, day by day."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ModelUse


@admin.register(ModelUse)
class ModelUseAdmin(ReadOnlyAdmin):
    """Tokens of a project's model on a day."""

    list_display = ("model", "project", "day", "input_tokens", "output_tokens")
    list_select_related = ("project",)
    search_fields = ("project__name", "model")
    ordering = ("-day", "-id")
    fields = ("project", "day", "model", "input_tokens", "output_tokens")

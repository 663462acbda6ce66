"""How long projects keep what, to look at: it is chosen on the retention page."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Retention


@admin.register(Retention)
class RetentionAdmin(ReadOnlyAdmin):
    """The rules and the newest run, a project a row."""

    list_display = ("project", "is_stopped", "kind", "began_at", "finished_at")
    list_select_related = ("project",)
    search_fields = ("project__name",)
    ordering = ("project__name", "id")
    fields = ("project", "days", "is_stopped", "kind", "removed", "began_at", "finished_at", "updated_at")

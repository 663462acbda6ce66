"""What KB plugins could not do outside of turns."""

from django.contrib import admin

from sessions_app.admin.shell.cells import shortened
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import PluginFailure


@admin.register(PluginFailure)
class PluginFailureAdmin(ReadOnlyAdmin):
    """Failed notifications and source hooks, the newest first."""

    list_display = ("__str__", "short_error", "session_id", "kb_id", "source_id", "occurred_at")
    list_filter = ("plugin_id", "event")
    search_fields = ("=session_id", "=kb_id", "=source_id", "error")
    fields = ("plugin_id", "event", "error", "session_id", "kb_id", "source_id", "occurred_at")

    @admin.display(description="error")
    def short_error(self, row: PluginFailure) -> str:
        """Return how the error begins."""
        return shortened(row.error, 80)

"""What planners have learned."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import PluginStatistics


@admin.register(PluginStatistics)
class PluginStatisticsAdmin(ReadOnlyAdmin):
    """Experience with each plugin, by project."""

    list_display = (
        "id", "project", "plugin_type", "plugin_id", "learned_utility", "attempt_count", "success_count",
        "failure_count", "refusal_count",
    )  # fmt: skip
    list_filter = ("plugin_type",)
    list_select_related = ("project",)
    search_fields = ("=plugin_id", "project__name")
    ordering = ("project_id", "plugin_type", "plugin_id")
    fields = (
        "project", "plugin_type", "plugin_id", "learned_utility", "attempt_count", "success_count", "failure_count",
        "refusal_count", "success", "sufficiency", "latency_ms", "llm_calls",
    )  # fmt: skip

    @admin.display(description="utility")
    def learned_utility(self, row: PluginStatistics) -> str:
        """Return what planners rank the plugin by."""
        return f"{row.utility:.3f}"

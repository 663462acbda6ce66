"""What other applications sent of their turns."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import link, shown_json, turn_page
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ImportedSpan


@admin.register(ImportedSpan)
class ImportedSpanAdmin(ReadOnlyAdmin):
    """Spans as they were received, newest first."""

    list_display = ("id", "trace_id", "span_id", "project", "page", "received_at")
    list_filter = ("project",)
    list_select_related = ("project", "turn__session")
    deferred = (
        "span", "turn__user_message", "turn__response_document", "turn__unit_changes", "turn__error",
        "turn__session__system_prompt",
    )  # fmt: skip
    search_fields = ("=trace_id", "=span_id")
    ordering = ("-id",)
    fields = ("project", "page", "trace_id", "span_id", "received_at", "content")

    @admin.display
    def page(self, row: ImportedSpan) -> SafeString | str:
        """Return the way to the turn."""
        return link(turn_page(row.turn), "Open") if row.turn else "–"

    @admin.display(description="span")
    def content(self, row: ImportedSpan) -> SafeString:
        """Return the span as it is stored."""
        return shown_json(row.span)

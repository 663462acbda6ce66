"""What sessions have frozen, and what they were told to remember."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import row_link, shortened, shown_json
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import FrozenContent, RememberedText


@admin.register(FrozenContent)
class FrozenContentAdmin(ReadOnlyAdmin):
    """Skills, personas and agents as sessions keep them, each content once a project."""

    list_display = ("__str__", "project", "kind", "created_at", "unused_since")
    list_filter = ("kind",)
    list_select_related = ("project",)
    search_fields = ("key",)
    deferred = ("content",)
    ordering = ("-created_at", "key")
    fields = ("key", "project", "kind", "created_at", "unused_since", "held")

    @admin.display(description="content")
    def held(self, row: FrozenContent) -> SafeString:
        return shown_json(row.content)


@admin.register(RememberedText)
class RememberedTextAdmin(ReadOnlyAdmin):
    """Texts that sessions keep until they are told to forget them."""

    list_display = ("record_id", "session_link", "text", "domain", "status", "created_at")
    list_select_related = ("session",)
    search_fields = ("=record_id", "=session__session_id", "content")
    deferred = ("session__system_prompt",)
    ordering = ("-id",)
    list_filter = ("domain", "status")
    fields = (
        "record_id", "session", "content", "domain", "namespace", "status", "source", "confidence", "conflict_group",
        "created_at", "verified_at", "expires_at",
    )  # fmt: skip

    @admin.display(description="session")
    def session_link(self, row: RememberedText) -> SafeString:
        return row_link(row.session)

    @admin.display(description="text")
    def text(self, row: RememberedText) -> str:
        """Return how it begins."""
        return shortened(row.content, 60)

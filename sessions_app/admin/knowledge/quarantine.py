"""What of sources and context loads did not become knowledge, and why."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import row_link, shown_json, shown_text
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import QuarantinedChunk


@admin.register(QuarantinedChunk)
class QuarantinedChunkAdmin(ReadOnlyAdmin):
    """Parts of sources whose control text was refused; loading the source again tries them again."""

    list_display = ("__str__", "source_id", "owner", "message", "created_at")
    list_filter = (("session", admin.EmptyFieldListFilter),)
    list_select_related = ("origin", "session")
    deferred = ("text", "control_text", "diagnostics", "origin__content")
    search_fields = ("source_name", "=source_id")
    ordering = ("-id",)
    fields = (
        "origin", "session", "source_id", "source_name", "chunk_index", "message", "reasons", "part", "written",
        "created_at",
    )  # fmt: skip

    @admin.display(description="belongs to")
    def owner(self, chunk: QuarantinedChunk) -> SafeString:
        """Return the source or the session."""
        return row_link(chunk.origin or chunk.session)

    @admin.display(description="diagnostics")
    def reasons(self, chunk: QuarantinedChunk) -> SafeString:
        """Return what was wrong, where, and what was expected."""
        return shown_json(chunk.diagnostics)

    @admin.display(description="text")
    def part(self, chunk: QuarantinedChunk) -> SafeString:
        """Return the part of the source."""
        return shown_text(chunk.text)

    @admin.display(description="control text")
    def written(self, chunk: QuarantinedChunk) -> SafeString:
        """Return what the normaliser made of it."""
        return shown_text(chunk.control_text)

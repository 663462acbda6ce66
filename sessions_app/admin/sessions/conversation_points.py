"""Where conversations that clients send whole are recognised."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import link, session_page
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ConversationPoint


@admin.register(ConversationPoint)
class ConversationPointAdmin(ReadOnlyAdmin):
    """Chain hashes by session, newest first."""

    list_display = ("id", "sequence", "conversation_hash", "page")
    list_select_related = ("session",)
    deferred = ("session__system_prompt",)
    search_fields = ("=conversation_hash", "=session__session_id")
    ordering = ("-id",)
    fields = ("session", "page", "sequence", "conversation_hash")

    @admin.display
    def page(self, row: ConversationPoint) -> SafeString:
        """Return the way to the conversation."""
        return link(session_page(row.session), "Open")

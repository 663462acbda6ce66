"""What sessions remember of their turns, for a while."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import SessionMemory


@admin.register(SessionMemory)
class SessionMemoryAdmin(ReadOnlyAdmin):
    """Memories by session, the last used first; a session's page clears its own."""

    list_display = ("owner", "project", "turn_count", "last_accessed_at", "expires_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    deferred = ("record",)
    search_fields = ("=owner",)
    ordering = ("-last_accessed_at", "-id")
    fields = ("project", "owner", "turn_count", "created_at", "last_accessed_at", "expires_at", "record")

"""The audit log of all projects, and of what belongs to none: failed logins of unknown names among it."""

from django.contrib import admin

from sessions_app.admin.shell.filters import known_values
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Entries, the newest first; nobody adds, changes or deletes one here."""

    list_display = ("at", "actor_kind", "actor", "kind", "subject", "address", "project")
    list_filter = ("project", known_values("actor_kind", ("user", "key", "stranger", "server")), "at")
    list_select_related = ("project",)
    search_fields = ("actor", "subject", "=kind", "=address", "=request_id")
    ordering = ("-id",)
    fields = ("at", "project", "kind", "subject", "facts", "actor_kind", "actor", "address", "request_id")

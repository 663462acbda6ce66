"""Answers kept for `Idempotency-Key`s."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import KeptAnswer


@admin.register(KeptAnswer)
class KeptAnswerAdmin(ReadOnlyAdmin):
    """Which keys were used, the newest first; the answers themselves are given to their callers alone."""

    list_display = ("__str__", "project", "status", "created_at")
    list_select_related = ("project",)
    search_fields = ("=caller", "=key")
    fields = ("project", "caller", "key", "status", "created_at")
    deferred = ("body", "headers")
    ordering = ("-created_at",)

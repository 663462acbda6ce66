"""Alerts and their history, to look at."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Alert, AlertCrossing


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    """Which rates are watched. The address that is notified is on the page of alerts, for admins of the project."""

    list_display = ("saved_filter", "project", "limit_percent", "window_minutes", "channel", "is_over", "checked_at")
    list_select_related = ("saved_filter", "project")
    search_fields = ("=alert_id", "saved_filter__name")
    exclude = ("target",)
    ordering = ("id",)


@admin.register(AlertCrossing)
class AlertCrossingAdmin(ReadOnlyAdmin):
    """When limits were passed, and whether that was told."""

    list_display = ("alert", "crossed_at", "matched_count", "turn_count", "status", "tries")
    list_filter = ("status",)
    list_select_related = ("alert",)
    search_fields = ("=crossing_id", "=alert__alert_id")
    ordering = ("-id",)

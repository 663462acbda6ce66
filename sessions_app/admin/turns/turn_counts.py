"""Hourly counts of turns."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import CountedTurns, TurnCounts


@admin.register(TurnCounts)
class TurnCountsAdmin(ReadOnlyAdmin):
    """The rows behind the overview, the newest hour first."""

    list_display = (
        "hour",
        "project",
        "kb_id",
        "model",
        "agent",
        "asked_by",
        "turn_count",
        "unanswered_count",
        "failed_count",
    )
    list_select_related = ("project",)
    ordering = ("-hour", "-id")


@admin.register(CountedTurns)
class CountedTurnsAdmin(ReadOnlyAdmin):
    """How far turns have been counted."""

    list_display = ("newest_turn", "counted_at")

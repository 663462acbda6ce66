"""Ratings of answers."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import link, shortened, turn_page
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import TurnRating, TurnScore


@admin.register(TurnRating)
class TurnRatingAdmin(ReadOnlyAdmin):
    """Thumbs and notes, newest first."""

    list_display = ("id", "value", "short_note", "page", "rated_by", "rated_at")
    list_filter = ("value",)
    list_select_related = ("turn__session", "rated_by")
    deferred = (
        "turn__user_message", "turn__response_document", "turn__unit_changes", "turn__error",
        "turn__session__system_prompt",
    )  # fmt: skip
    search_fields = ("note", "=turn__request_id")
    ordering = ("-rated_at", "-id")
    fields = ("turn", "page", "value", "note", "rated_by", "rated_at")

    @admin.display(description="note")
    def short_note(self, row: TurnRating) -> str:
        """Return how the note begins."""
        return shortened(row.note, 60)

    @admin.display
    def page(self, row: TurnRating) -> SafeString:
        """Return the way to the turn."""
        return link(turn_page(row.turn), "Open")


@admin.register(TurnScore)
class TurnScoreAdmin(ReadOnlyAdmin):
    """What each person thought of answers, newest first."""

    list_display = ("id", "value", "person", "short_note", "page", "scored_at")
    list_filter = ("value",)
    list_select_related = ("turn__session",)
    deferred = TurnRatingAdmin.deferred
    search_fields = ("note", "person", "=turn__request_id")
    ordering = ("-id",)
    fields = ("turn", "page", "person", "user", "value", "note", "scored_at")

    @admin.display(description="note")
    def short_note(self, row: TurnScore) -> str:
        """Return how the note begins."""
        return shortened(row.note, 60)

    @admin.display
    def page(self, row: TurnScore) -> SafeString:
        """Return the way to the turn."""
        return link(turn_page(row.turn), "Open")

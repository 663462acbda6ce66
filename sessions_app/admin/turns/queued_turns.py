"""Turns that are to be reviewed."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import link, turn_page
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.admin.turns.turn_ratings import TurnRatingAdmin
from sessions_app.models import QueuedTurn


@admin.register(QueuedTurn)
class QueuedTurnAdmin(ReadOnlyAdmin):
    """The review queues of all projects, in the order in which turns were added."""

    list_display = ("id", "project", "page", "added_by_name", "added_at")
    list_select_related = ("project", "turn__session")
    deferred = TurnRatingAdmin.deferred
    search_fields = ("added_by_name", "=turn__request_id")
    ordering = ("id",)
    fields = ("project", "turn", "page", "added_by_name", "added_at")

    @admin.display
    def page(self, row: QueuedTurn) -> SafeString:
        """Return the way to the turn."""
        return link(turn_page(row.turn), "Open")

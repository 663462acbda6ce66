"""Messages of conversations."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import row_link, shortened, shown_json, shown_text
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Message


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """Messages of all sessions."""

    list_display = ("id", "session_link", "sequence", "role", "beginning", "turn_link", "created_at")
    list_filter = ("role",)
    list_select_related = ("session", "turn")
    deferred = (
        "payload", "session__system_prompt", "turn__user_message", "turn__response_document", "turn__command_result",
        "turn__unit_changes",
        "turn__error",
    )  # fmt: skip
    search_fields = ("=session__session_id", "content")
    ordering = ("-id",)
    fields = ("session", "sequence", "role", "text", "data", "turn", "created_at")

    @admin.display(description="session")
    def session_link(self, message: Message) -> SafeString:
        return row_link(message.session)

    @admin.display(description="turn")
    def turn_link(self, message: Message) -> SafeString:
        """Return the turn that stored it."""
        return row_link(message.turn)

    @admin.display(description="content")
    def beginning(self, message: Message) -> str:
        """Return how it begins."""
        return shortened(message.content)

    @admin.display(description="content")
    def text(self, message: Message) -> SafeString:
        """Return the text as written."""
        return shown_text(message.content)

    @admin.display(description="payload")
    def data(self, message: Message) -> SafeString:
        """Return what went into a tool and came out of it."""
        return shown_json(message.payload)

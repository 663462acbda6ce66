"""Turns, the events they emitted and the payloads behind those."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import link, list_links, row_link, shortened, shown_json, turn_page
from sessions_app.admin.shell.object_actions import ActionAdmin
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ContextUnit, ExplainabilityTurn, Message, TurnConditions, TurnEvents, UnitEvent
from sessions_app.models.turns.payload_frames import places

_BELONGING = tuple((model, "turn") for model in (TurnEvents, UnitEvent, ContextUnit, Message))
_LARGE = ("response_document", "command_result", "unit_changes", "error", "view")
_TURN_DEFERRED = ("turn__session__system_prompt", *(f"turn__{name}" for name in ("user_message", *_LARGE)))


@admin.register(ExplainabilityTurn)
class ExplainabilityTurnAdmin(ActionAdmin):
    """The registry of turns, whatever their end."""

    list_display = (
        "label", "page", "session_link", "status", "answer_status", "question", "duration_ms", "created_at",
    )  # fmt: skip
    list_filter = ("kind", "status", "answer_status", "created_at")
    list_select_related = ("session",)
    deferred = ("session__system_prompt", *_LARGE)
    search_fields = ("=request_id", "=session__session_id", "user_message")
    ordering = ("-created_at", "-id")
    fieldsets = (
        (None, {"fields": (("request_id", "session"), ("kind", "status", "answer_status"), "lists")}),
        ("Message and answer", {"fields": ("user_message", "assistant_preview")}),
        (
            "Choices",
            {
                "fields": (
                    ("planner_plugin", "seed_detector_plugin"),
                    ("kb_plugin", "goal_solver_plugin"),
                    ("deliberation_level", "model", "conditions"),
                )
            },
        ),
        (
            "Times",
            {
                "fields": (
                    ("created_at", "finished_at", "duration_ms"),
                    ("lease_until", "cancel_requested_at", "payloads_removed_at"),
                )
            },
        ),
        ("Outcome", {"fields": ("failure", "changes", "document", "command")}),
    )  # fmt: skip

    @admin.display(description="turn", ordering="turn_index")
    def label(self, turn: ExplainabilityTurn) -> str:
        """Return its place in the session."""
        return f"turn {turn.turn_index}"

    @admin.display(description="session")
    def session_link(self, turn: ExplainabilityTurn) -> SafeString:
        return row_link(turn.session)

    @admin.display(description="user message")
    def question(self, turn: ExplainabilityTurn) -> str:
        """Return how the message begins."""
        return shortened(turn.user_message, 60)

    @admin.display
    def page(self, turn: ExplainabilityTurn) -> SafeString:
        """Return the way to the turn's own page."""
        return link(turn_page(turn), "Open")

    @admin.display(description="belonging to it")
    def lists(self, turn: ExplainabilityTurn) -> SafeString:
        """Return the ways to its rows."""
        return list_links(_BELONGING, turn)

    @admin.display(description="command's result")
    def command(self, turn: ExplainabilityTurn) -> SafeString:
        """Return the envelope of what was typed as a command."""
        return shown_json(turn.command_result)

    @admin.display(description="error")
    def failure(self, turn: ExplainabilityTurn) -> SafeString:
        """Return why it failed."""
        return shown_json(turn.error)

    @admin.display(description="unit changes")
    def changes(self, turn: ExplainabilityTurn) -> SafeString:
        """Return the ledger steps of its units."""
        return shown_json(turn.unit_changes)

    @admin.display(description="response document")
    def document(self, turn: ExplainabilityTurn) -> SafeString:
        """Return the answer as data."""
        return shown_json(turn.response_document)

    def page_links(self, request: HttpRequest, row: ExplainabilityTurn) -> list[tuple[str, str]]:
        """Return the way to the turn's own page."""
        return [("Turn page", turn_page(row))]


class _OfTurn(ReadOnlyAdmin):
    """Rows of a turn."""

    list_select_related = ("turn__session",)
    ordering = ("-id",)

    @admin.display(description="turn")
    def turn_link(self, row: TurnEvents) -> SafeString:
        return row_link(row.turn)

    @admin.display
    def page(self, row: TurnEvents) -> SafeString:
        """Return the way to the turn's own page."""
        return link(turn_page(row.turn), "Open")


@admin.register(TurnEvents)
class TurnEventsAdmin(_OfTurn):
    """Batches of machine events, and what the nodes that ended in them were given and gave."""

    list_display = ("id", "turn_link", "first_sequence", "page")
    list_filter = ("turn__status", ("turn__payloads_removed_at", admin.EmptyFieldListFilter))
    deferred = ("events", "payload_index", "payloads", *_TURN_DEFERRED)
    search_fields = ("=turn__request_id",)
    fields = ("turn", "first_sequence", "records", "payload_sizes")

    @admin.display(description="events")
    def records(self, batch: TurnEvents) -> SafeString:
        return shown_json(batch.events)

    @admin.display(description="payloads, in bytes")
    def payload_sizes(self, batch: TurnEvents) -> SafeString:
        """Return how long each payload is; the turn's page shows them one at a time."""
        return shown_json({place.ref: place.size for place in places(batch.payload_index)})


@admin.register(TurnConditions)
class TurnConditionsAdmin(ReadOnlyAdmin):
    """What many turns of a project ran under: policies, limits, plugin versions."""

    list_display = ("__str__", "project")
    list_select_related = ("project",)
    search_fields = ("=digest",)
    deferred = ("content",)
    ordering = ("-id",)
    fields = ("digest", "project", "held")

    @admin.display(description="content")
    def held(self, row: TurnConditions) -> SafeString:
        return shown_json(row.content)

"""Sessions and their events."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.actions.sessions.session import UNDO_PERIOD, delete_session
from sessions_app.admin.sessions.forms import (
    CreateSession,
    ForkSessionBase,
    MountBase,
    RenameSession,
    RestoreSession,
    SaveSessionBase,
    UnmountBase,
)
from sessions_app.admin.shell.cells import link, list_links, row_link, session_page, shown_json
from sessions_app.admin.shell.choosers import asked_project
from sessions_app.admin.shell.filters import StateFilter, known_values
from sessions_app.admin.shell.object_actions import ActionAdmin
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.events import EVENT_KINDS
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    Message,
    Session,
    SessionEvent,
    UnitEvent,
)
from sessions_app.queries.turns.running import runs_a_turn

_UNDO_MINUTES = int(UNDO_PERIOD.total_seconds() // 60)
_BELONGING = tuple((model, "session") for model in (Message, ExplainabilityTurn, ContextUnit, UnitEvent, KBMount))


@admin.register(Session)
class SessionAdmin(ActionAdmin):
    """Sessions: mount, unmount, save and fork in them, name, delete and bring them back."""

    permitted = ("view", "delete")
    add_action = CreateSession
    object_actions = (MountBase, UnmountBase, SaveSessionBase, ForkSessionBase, RenameSession, RestoreSession)
    listed_actions = (MountBase, ForkSessionBase)
    actions = ("delete_selected",)
    list_display = ("label", "page", "state", "project", "base", "turn_counts", "unit_count", "last_activity_at")
    list_filter = (StateFilter, "project", "last_activity_at")
    list_select_related = ("project", "mounted_kb", "draft")
    deferred = ("system_prompt", "draft__ancestry")
    search_fields = ("session_id", "title", "first_message")
    ordering = ("-last_activity_at", "-id")
    fieldsets = (
        (None, {"fields": (("session_id", "project", "state"), ("title", "first_message"), "lists")}),
        (
            "Knowledge",
            {"fields": (("base", "unit_count"), ("mounted_layer", "draft", "journal"))},
        ),
        (
            "Preferences",
            {
                "fields": (
                    ("preferred_planner_plugin", "preferred_seed_detector_plugin"),
                    ("preferred_kb_plugin", "preferred_goal_solver_plugin"),
                    ("preferred_deliberation_level", "preferred_model"),
                    "system_prompt",
                )
            },
        ),
        (
            "Frozen",
            {
                "fields": (
                    ("active_agent", "active_persona", "active_style"),
                    ("skills", "snapshot_version"),
                    ("personas", "agents"),
                )
            },
        ),
        (
            "Counts",
            {"fields": (("message_sequence", "turn_sequence", "failed_turn_count", "event_sequence"),)},
        ),
        (
            "Times",
            {"fields": (("created_at", "last_activity_at"), ("expires_at", "expired_at", "deleted_at"))},
        ),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Session], search_term: str
    ) -> tuple[QuerySet[Session], bool]:
        """Return what is found, in one project and still alive when a field asks for that."""
        project_id = asked_project(request)
        bounded = queryset if project_id is None else queryset.filter(project_id=project_id, deleted_at=None)
        return super().get_search_results(request, bounded, search_term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """Return the sessions, each with whether a turn is running in it."""
        return super().get_queryset(request).annotate(is_running=runs_a_turn())

    @admin.display(description="session", ordering="title")
    def label(self, session: Session) -> str:
        """Return what pages call it."""
        return session.label

    @admin.display
    def state(self, session: Session) -> str:
        """Return how it stands."""
        if session.deleted_at is not None:
            return "deleted"
        if session.is_expired:
            return "expired"
        return "turn running" if session.is_running else "active"  # type: ignore[attr-defined]

    @admin.display(description="knowledge base", ordering="mounted_kb__name")
    def base(self, session: Session) -> SafeString:
        """Return the mounted base, and say so if the draft on it is not saved."""
        note = " with an unsaved draft" if session.is_dirty else ""
        return format_html("{}{}", row_link(session.mounted_kb), note)

    @admin.display(description="turns", ordering="turn_sequence")
    def turn_counts(self, session: Session) -> str:
        """Return how many turns there were, and how many of them failed."""
        failed = f", {session.failed_turn_count} failed" if session.failed_turn_count else ""
        return f"{session.turn_sequence}{failed}"

    @admin.display
    def page(self, session: Session) -> SafeString:
        """Return the way to the session's own page."""
        return link(session_page(session) if session.deleted_at is None else "", "Open")

    @admin.display(description="belonging to it")
    def lists(self, session: Session) -> SafeString:
        """Return the ways to its rows."""
        return list_links((*_BELONGING, (SessionEvent, "session")), session)

    def page_links(self, request: HttpRequest, row: Session) -> list[tuple[str, str]]:
        """Return the way to the session's own page."""
        return [("Session page", session_page(row) if row.deleted_at is None else "")]

    def has_delete_permission(self, request: HttpRequest, obj: Session | None = None) -> bool:  # type: ignore[override]
        """Allow what the user may, once."""
        is_there = obj is None or obj.deleted_at is None
        return is_there and super().has_delete_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[list[Any], dict[str, int], set[str], list]:
        """Return the sessions alone: what belongs to them stays until they are purged."""
        labels = [str(session) for session in objs]
        return labels, {"sessions": len(labels)}, set(), []

    @admin.action(permissions=["delete"], description="Delete selected sessions")
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[Session]) -> HttpResponse | None:
        """Ask, then delete; Django's own action, told how long it can be undone."""
        page = delete_selected(self, request, queryset)
        if page is not None:
            page.context_data = {**(page.context_data or {}), "undo_minutes": _UNDO_MINUTES}
        return page

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask, then delete."""
        return super().delete_view(request, object_id, {**(extra_context or {}), "undo_minutes": _UNDO_MINUTES})

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        """End the session; it can be brought back for a while."""
        delete_session(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        """End the sessions, each in a transaction of its own."""
        for session in queryset:
            delete_session(session)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """Add a message that says how to restore the session."""
        restore = link(reverse("admin:sessions_app_session_restore", args=[obj_id]), "Bring it back")
        text = format_html("“{}” was deleted. {}: possible for {} minutes.", obj_display, restore, _UNDO_MINUTES)
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:sessions_app_session_changelist"))


@admin.register(SessionEvent)
class SessionEventAdmin(ReadOnlyAdmin):
    """Session events, which browsers receive."""

    list_display = ("id", "session_link", "sequence", "kind", "created_at")
    list_filter = (known_values("kind", EVENT_KINDS),)
    list_select_related = ("session",)
    deferred = ("payload", "session__system_prompt")
    search_fields = ("=session__session_id", "kind")
    ordering = ("-id",)
    fields = ("session", "sequence", "kind", "created_at", "data")

    @admin.display(description="session")
    def session_link(self, event: SessionEvent) -> SafeString:
        return row_link(event.session)

    @admin.display(description="payload")
    def data(self, event: SessionEvent) -> SafeString:
        return shown_json(event.payload)

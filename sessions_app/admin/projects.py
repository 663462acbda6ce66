"""Projects, who belongs to them, and the links that log users in."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from sessions_app.actions.knowledge import ensure_default_base
from sessions_app.admin.cells import list_links
from sessions_app.admin.read_only import ReadOnlyAdmin
from sessions_app.models import ApiKey, KnowledgeBase, LoginLink, Membership, Project, Session


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    """Projects: adding and naming them is all there is to do, so the form writes the row."""

    list_display = ("name", "slug", "is_default", "created_at")
    list_filter = ("is_default",)
    search_fields = ("name", "slug")
    fields = ("name", "slug", "grounding", "is_default", "created_at", "lists")
    readonly_fields = ("is_default", "created_at", "lists")
    prepopulated_fields = {"slug": ("name",)}
    show_full_result_count = False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: it would take sessions and bases away without their actions."""
        return False

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        """Save the project; a new one gets its default base [KB-2]."""
        super().save_model(request, obj, form, change)
        ensure_default_base(obj)

    @admin.display(description="belonging to it")
    def lists(self, project: Project) -> SafeString | str:
        """Give the ways to its rows."""
        if project.pk is None:
            return "–"
        return list_links([(model, "project") for model in (Membership, Session, KnowledgeBase, ApiKey)], project)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Who may do what in a project [O-25]; nothing else depends on the row, so the form writes it."""

    list_display = ("user", "project", "role")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__name")
    autocomplete_fields = ("user", "project")
    show_full_result_count = False


@admin.register(LoginLink)
class LoginLinkAdmin(ReadOnlyAdmin):
    """When users were given a link, never the link [O-26]. Deleting one, or its user, ends it."""

    list_display = ("id", "user", "created_at", "expires_at", "used_at", "can_be_used")
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    list_select_related = ("user",)
    deferred = ("digest",)
    search_fields = ("user__username",)
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    fields = ("user", "created_at", "expires_at", "used_at", "can_be_used")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow what the user may: without it nobody with a link could be deleted."""
        return request.user.has_perm("sessions_app.delete_loginlink")

    @admin.display(boolean=True)
    def can_be_used(self, login: LoginLink) -> bool:
        """Tell whether the link still works."""
        return login.used_at is None and login.expires_at >= timezone.now()

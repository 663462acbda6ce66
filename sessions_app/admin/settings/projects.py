"""Projects, who belongs to them, and the links that log users in."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from sessions_app.actions.settings.projects import end_login_link, remove_member
from sessions_app.admin.settings.project_forms import AddMember, ChangeProject, ChangeRole, CreateProject
from sessions_app.admin.shell.cells import list_links
from sessions_app.admin.shell.object_actions import ActionAdmin
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ApiKey, KnowledgeBase, LoginLink, Membership, Project, Session


@admin.register(Project)
class ProjectAdmin(ActionAdmin):
    """Projects: make them, name them. None is deleted: its sessions and bases would go without their actions."""

    add_action = CreateProject
    object_actions = (ChangeProject,)
    list_display = ("name", "slug", "is_default", "created_at")
    list_filter = ("is_default",)
    search_fields = ("name", "slug")
    fields = (
        "name", "slug", "grounding", "flags", "session_memory_limit", "redacts_conversations", "is_default",
        "created_at", "lists",
    )  # fmt: skip

    @admin.display(description="belonging to it")
    def lists(self, project: Project) -> SafeString:
        """Return the ways to its rows."""
        return list_links([(model, "project") for model in (Membership, Session, KnowledgeBase, ApiKey)], project)


@admin.register(Membership)
class MembershipAdmin(ActionAdmin):
    """Who may do what in a project."""

    permitted = ("view", "delete")
    add_action = AddMember
    object_actions = (ChangeRole,)
    list_display = ("user", "project", "role")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__name")
    fields = ("user", "project", "role")

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        remove_member(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for membership in queryset:
            remove_member(membership)


@admin.register(LoginLink)
class LoginLinkAdmin(ReadOnlyAdmin):
    """When users were given a link, never the link. Deleting one, or its user, ends it."""

    permitted = ("view", "delete")  # a user who has a link could not be deleted otherwise
    list_display = ("id", "user", "created_at", "expires_at", "used_at", "can_be_used")
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    list_select_related = ("user",)
    deferred = ("digest",)
    search_fields = ("user__username",)
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    fields = ("user", "created_at", "expires_at", "used_at", "can_be_used")

    def delete_model(self, request: HttpRequest, obj: LoginLink) -> None:
        """End the link."""
        end_login_link(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[LoginLink]) -> None:
        """End each of the links."""
        for login in queryset:
            end_login_link(login)

    @admin.display(boolean=True)
    def can_be_used(self, login: LoginLink) -> bool:
        """Return whether the link still works."""
        return login.used_at is None and login.expires_at >= timezone.now()

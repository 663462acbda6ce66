"""Invitations to projects and who accepted them."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from sessions_app.actions.settings.invitations import withdraw_invitation
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Invitation


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    """Invitations, never their links. Deleting one makes its link useless."""

    permitted = ("view", "delete")
    list_display = ("id", "project", "role", "note", "created_by_name", "created_at", "expires_at", "used_by_name")
    list_filter = ("project", "role")
    list_select_related = ("project",)
    deferred = ("digest",)
    search_fields = ("note", "created_by_name", "used_by_name")
    fields = (
        "project", "role", "note", "created_by_name", "created_at", "expires_at", "used_by_name", "used_at",
    )  # fmt: skip

    def delete_model(self, request: HttpRequest, obj: Invitation) -> None:
        withdraw_invitation(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        """Withdraw each of the invitations."""
        for invitation in queryset:
            withdraw_invitation(invitation)

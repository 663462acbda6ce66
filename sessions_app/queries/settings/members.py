"""The people of a project, who is invited, and what users may do in the admin."""

from django.contrib.auth.models import Permission, User
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.errors import NotFound
from sessions_app.models import Invitation, Membership, Project
from sessions_app.models.settings.project import digest


def members(project: Project) -> QuerySet[Membership]:
    """Return the project's memberships with their users, by name."""
    return Membership.objects.filter(project=project).select_related("user", "project").order_by("user__username")


def member(project: Project, name: str) -> Membership:
    """Return the membership of the user of this name.

    Raises:
        NotFound: MEMBER_NOT_FOUND.
    """
    membership = members(project).filter(user__username=name).first()
    if membership is None:
        raise NotFound(f"No member '{name}'.", code="MEMBER_NOT_FOUND")
    return membership


def active_users() -> QuerySet[User]:
    """Return the users who can log in."""
    return User.objects.filter(is_active=True)


def has_anybody_logged_in() -> bool:
    """Return whether an active user has ever logged in."""
    return active_users().filter(last_login__isnull=False).exists()


def permission_name(app_label: str, codename: str) -> str:
    """Return what a permission is called; its codename if there is no such permission."""
    named = Permission.objects.filter(content_type__app_label=app_label, codename=codename)
    return named.values_list("name", flat=True).first() or codename


def open_invitations(project: Project) -> QuerySet[Invitation]:
    """Return the invitations that can still be used, the newest first."""
    return Invitation.objects.filter(project=project, used_at__isnull=True, expires_at__gte=timezone.now())


def open_invitation(project: Project, key: int) -> Invitation:
    """Return an invitation that can still be used.

    Raises:
        NotFound: INVITATION_NOT_FOUND.
    """
    invitation = open_invitations(project).filter(pk=key).first()
    if invitation is None:
        raise NotFound("No such invitation.", code="INVITATION_NOT_FOUND")
    return invitation


def invitation_of(secret: str) -> Invitation | None:
    """Return the invitation of a link while it can be used, with its project."""
    invitation = Invitation.objects.filter(digest=digest(secret), used_at__isnull=True, expires_at__gte=timezone.now())
    return invitation.select_related("project").first()

"""Who may see what."""

from django.contrib.auth.models import User
from django.db.models import QuerySet

from sessions_app.models import ApiKey, Membership, Project, Role


def membership_of(user: User, project_slug: str | None = None) -> Membership | None:
    """Give the user's membership in the named project, or in the default one, or in the first there is."""
    memberships = Membership.objects.filter(user=user).select_related("project")
    if project_slug is not None:
        return memberships.filter(project__slug=project_slug).first()
    return memberships.order_by("-project__is_default", "project_id").first()


def default_project() -> Project | None:
    """Give the project that exists from the first start."""
    return Project.objects.filter(is_default=True).first()


def api_keys(project: Project) -> QuerySet[ApiKey]:
    """Give the project's keys, newest first, revoked ones last."""
    return project.api_keys.select_related("created_by").order_by("revoked_at", "-created_at", "-id")


def role_of(user: User, project: Project) -> Role | None:
    """Give the user's role in the project."""
    membership = Membership.objects.filter(user=user, project=project).first()
    return Role(membership.role) if membership else None


def is_at_least(role: str, needed: str) -> bool:
    """Tell whether a role may all that `needed` may [O-25]."""
    return Role(role).rank >= Role(needed).rank

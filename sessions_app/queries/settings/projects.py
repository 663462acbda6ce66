"""Who may see what."""

from collections.abc import Collection, Mapping

from django.contrib.auth.models import User
from django.db.models import F, Model, QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import ApiKey, Experiment, Forgetting, KnowledgeBase, Membership, Project, Role, Session, Suite


def all_projects() -> QuerySet[Project]:
    """Return the projects of the server, for its operator."""
    return Project.objects.all()


def project_named(slug: str | None) -> Project:
    """Return the project with the slug, the default one for None.

    Raises:
        NotFound: there is none.
    """
    projects = Project.objects.filter(is_default=True) if slug is None else Project.objects.filter(slug=slug)
    project = projects.first()
    if project is None:
        raise NotFound("There is no project yet: start the server once." if slug is None else f"No project '{slug}'.")
    return project


def membership_of(user: User, project_slug: str | None = None) -> Membership | None:
    """Return the user's membership in the named project, or the one that was chosen last, in the default one, or in
    the first there is."""
    memberships = Membership.objects.filter(user_id=user.pk).select_related("project").order_by(*_SHOWN_FIRST)
    return (memberships if project_slug is None else memberships.filter(project__slug=project_slug)).first()


_SHOWN_FIRST = (F("shown_at").desc(nulls_last=True), "-project__is_default", "project_id")


def membership_beside(user: User, project: Project, ids: Mapping[str, object]) -> Membership | None:
    """Return the user's membership in another project than the given one, to which the row with one of these ids
    belongs; None where there is none.

    Args:
        ids: values by their names in addresses, such as `session_id`; names of other things are ignored.
    """
    for name, model in _OWNED.items():
        if name in ids:
            owners = model._default_manager.filter(**{name: ids[name]}).exclude(project=project).values("project")
            return Membership.objects.filter(user=user, project__in=owners).select_related("project").first()
    return None


_OWNED: Mapping[str, type[Model]] = {
    "session_id": Session,
    "kb_id": KnowledgeBase,
    "suite_id": Suite,
    "experiment_id": Experiment,
    "forgetting_id": Forgetting,
}


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the user's memberships with their projects, by the project's name."""
    return Membership.objects.filter(user=user).select_related("project").order_by("project__name", "project_id")


def shown_projects(user_pks: Collection[int]) -> dict[int, int]:
    """Return for each active user the key of the project that the pages show, as `membership_of` chooses it."""
    memberships = Membership.objects.filter(user_id__in=user_pks, user__is_active=True).order_by(*_SHOWN_FIRST)
    return dict(reversed(memberships.values_list("user_id", "project_id")))


def api_keys(project: Project) -> QuerySet[ApiKey]:
    """Return the project's keys, newest first, revoked ones last."""
    return project.api_keys.select_related("created_by").order_by("revoked_at", "-created_at", "-id")


def keys_made_by(project: Project, user_pk: int) -> QuerySet[ApiKey]:
    """Return the project's keys in force that a user made, by their names."""
    return ApiKey.objects.filter(project=project, created_by=user_pk, revoked_at__isnull=True).order_by("name")


def projects_of_keys(key_pks: Collection[int]) -> dict[int, int]:
    """Return for each of these API keys in force the key of its project."""
    return dict(ApiKey.objects.filter(pk__in=key_pks, revoked_at__isnull=True).values_list("pk", "project_id"))


def role_of(user: User, project: Project) -> Role | None:
    """Return the user's role in the project; None for a user who is no member of it, or was deactivated."""
    membership = Membership.objects.filter(user=user, user__is_active=True, project=project).first()
    return Role(membership.role) if membership else None


def is_at_least(role: str, needed: str) -> bool:
    """Return whether a role may all that `needed` may."""
    return Role(role).rank >= Role(needed).rank

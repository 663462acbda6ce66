"""Projects, their members, and login links."""

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from mrpvm.conversation.flags import ALIASES, flags_in
from mrpvm.conversation.flags import NAMES as FLAGS
from mrpvm.errors import Conflict, InvalidInput, NotFound
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.settings.audit import record, record_of_user
from sessions_app.actions.settings.invitations import withdraw_invitations_of
from sessions_app.actions.settings.users import record_failed_login
from sessions_app.models import AuditKind, LoginLink, Membership, Project, Role
from sessions_app.models.settings.project import MEMBER_ROLES, Grounding, digest

LOGIN_LINK_LIFETIME = timedelta(hours=12)
PROJECT_NAME_CHARS = 200
SLUG_CHARS = 80


@transaction.atomic
def ensure_default_project() -> Project:
    """Return the default project, created with its default base if missing."""
    project, _ = Project.objects.get_or_create(is_default=True, defaults={"name": "Default", "slug": "default"})
    ensure_default_base(project)
    return project


@transaction.atomic
def create_project(name: str, slug: str = "", grounding: str = "") -> Project:
    """Return a new project with its default base; the default slug is made from the name.

    Raises:
        InvalidInput: no name or slug, a too long one, a slug of other characters, an unknown grounding.
        Conflict: another project has the slug.
    """
    project = Project()
    _write(project, name, slug or slugify(name)[:SLUG_CHARS], grounding)
    record(AuditKind.PROJECT_CREATED, project.pk, _named(project))
    ensure_default_base(project)
    return project


def _named(project: Project) -> str:
    return f"project “{project.name}” ({project.slug})"


@transaction.atomic
def change_project(
    project: Project,
    name: str,
    slug: str,
    grounding: str,
    flags: Mapping[str, Any] | None = None,
    session_memory_limit: int | None = None,
    redacts_conversations: bool | None = None,
) -> Project:
    """Change the project's name, slug, grounding and policies.

    Args:
        flags: all policies of the project, set together with `session_memory_limit`; None changes neither.
        session_memory_limit: how many sessions at most have a memory of their turns; None for no limit.
        redacts_conversations: redact secrets in later messages and sources too; None changes nothing.

    Raises:
        InvalidInput, Conflict: as for `create_project`.
    """
    locked = Project.objects.select_for_update().get(pk=project.pk)
    before = _choices(locked)
    if flags is not None:
        if session_memory_limit is not None and session_memory_limit < 1:
            raise InvalidInput("The limit of session memories is 1 or more, or none.")
        locked.flags, locked.session_memory_limit = _checked_flags(flags), session_memory_limit
    if redacts_conversations is not None:
        locked.redacts_conversations = redacts_conversations
    _write(locked, name, slug, grounding)
    after = _choices(locked)
    changed = {name: {"from": before[name], "to": after[name]} for name in after if after[name] != before[name]}
    if changed:
        record(AuditKind.PROJECT_CHANGED, locked.pk, _named(locked), **changed)
    return locked


def _choices(project: Project) -> dict[str, Any]:
    names = ("name", "slug", "grounding", "flags", "session_memory_limit", "redacts_conversations")
    return {name: getattr(project, name) for name in names}


def _checked_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(name for name in flags if ALIASES.get(name, name) not in FLAGS)
    if unknown:
        raise InvalidInput(f"There is no flag {unknown[0]}. Known: {', '.join(FLAGS)}.")
    return flags_in(flags)


def _write(project: Project, name: str, slug: str, grounding: str) -> None:
    project.name, project.slug, project.grounding = name.strip(), slug, grounding
    if not 1 <= len(project.name) <= PROJECT_NAME_CHARS:
        raise InvalidInput(f"The name of a project has 1 to {PROJECT_NAME_CHARS} characters.")
    if not re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{SLUG_CHARS}}}", slug):
        raise InvalidInput(f"The slug has 1 to {SLUG_CHARS} letters, digits, hyphens and underscores.")
    if grounding not in ("", *Grounding.values):
        raise InvalidInput(f"There is no grounding '{grounding}'. Known: {', '.join(Grounding.values)}.")
    try:
        with transaction.atomic():
            project.save()
    except IntegrityError:
        raise Conflict(f"Another project has the slug '{slug}'.") from None


@transaction.atomic
def set_member(project: Project, user: User, role: str) -> Membership:
    """Set the role of a user in the project and return the membership.

    Raises:
        InvalidInput: an unknown role.
    """
    if role not in MEMBER_ROLES:
        raise InvalidInput(f"There is no role '{role}'. Known: {', '.join(MEMBER_ROLES)}.")
    earlier = Membership.objects.select_for_update().filter(project=project, user=user).first()
    if earlier is None:
        return _create_member(project, user, role)
    if earlier.role != role:
        before, earlier.role = earlier.role, role
        earlier.save(update_fields=["role"])
        record(AuditKind.MEMBER_CHANGED, project.pk, f"member {user.get_username()}", **{"from": before, "to": role})
        if before == Role.ADMIN:
            withdraw_invitations_of(user.get_username(), project.pk)
    return earlier


def _create_member(project: Project, user: User, role: str) -> Membership:
    membership = Membership.objects.create(project=project, user=user, role=role)
    record(AuditKind.MEMBER_ADDED, project.pk, f"member {user.get_username()}", role=role)
    return membership


@transaction.atomic
def add_member(project: Project, name: str, role: str | None = None) -> Membership:
    """Return the membership of the user with this name; user and membership are created if missing.

    Args:
        role: None leaves the role that the user has; a new member becomes an editor.

    Raises:
        InvalidInput: a name that no user can have, an unknown role.
    """
    try:
        User._meta.get_field("username").clean(name, None)
    except ValidationError as error:
        raise InvalidInput(f"'{name}' cannot name a user: {' '.join(error.messages)}") from None
    user, _ = User.objects.get_or_create(username=name)
    if role is not None:
        return set_member(project, user, role)
    membership = Membership.objects.filter(project=project, user=user).first()
    return membership or _create_member(project, user, Role.EDITOR)


def show_project(user: User, slug: str) -> Project:
    """Store which project the pages show the user, and return it.

    Raises:
        NotFound: the user is no member of such a project.
    """
    membership = Membership.objects.filter(user=user, project__slug=slug).select_related("project").first()
    if membership is None:
        raise NotFound(f"No project '{slug}'.")
    membership.shown_at = timezone.now()
    membership.save(update_fields=["shown_at"])
    return membership.project


@transaction.atomic
def remove_member(membership: Membership) -> None:
    """Remove the user from the project; idempotent.

    Effects: sockets of the user close with their next event; the user's invitations are withdrawn.
    """
    gone, _ = Membership.objects.filter(pk=membership.pk).delete()
    if gone:
        subject = f"member {membership.user.get_username()}"
        record(AuditKind.MEMBER_REMOVED, membership.project_id, subject, role=membership.role)
        withdraw_invitations_of(membership.user.get_username(), membership.project_id)


@transaction.atomic
def ensure_first_admin(project: Project) -> User:
    """Return an admin user, created on the first start without a password, to log in by a login link."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is None:
        admin = User.objects.create_superuser("admin")
    if not Membership.objects.filter(project=project, user=admin).exists():
        _create_member(project, admin, Role.ADMIN)
    return admin


@transaction.atomic
def create_login_link(user: User) -> str:
    """Return the secret of a new link; earlier unused ones stop working."""
    secret = secrets.token_urlsafe(32)
    LoginLink.objects.filter(user=user, used_at__isnull=True).delete()
    LoginLink.objects.create(user=user, digest=digest(secret), expires_at=timezone.now() + LOGIN_LINK_LIFETIME)
    record_of_user(AuditKind.LINK_CREATED, user)
    return secret


@transaction.atomic
def end_login_link(link: LoginLink) -> None:
    """Delete a link, so that it stops working; doing so again changes nothing."""
    gone, _ = LoginLink.objects.filter(pk=link.pk).delete()
    if gone:
        record_of_user(AuditKind.LINK_ENDED, link.user)


def use_login_link(secret: str) -> User:
    """Use up the link and return its user.

    Raises:
        InvalidInput: LOGIN_LINK_INVALID, the link is unknown, used or too old.
    """
    now = timezone.now()
    used = LoginLink.objects.filter(digest=digest(secret), used_at__isnull=True, expires_at__gte=now)
    link = used.select_related("user").first()
    if link is None or not used.update(used_at=now):
        record_failed_login("", "a login link that is unknown, used or too old")
        raise InvalidInput(
            "This login link was used already or is too old. The command mrpvm user NAME makes a new one.",
            code="LOGIN_LINK_INVALID",
        )
    return link.user

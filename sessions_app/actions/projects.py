"""Projects, their members, and logging in by a printed link."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app.actions.knowledge import ensure_default_base
from sessions_app.models import LoginLink, Membership, Project, Role
from sessions_app.models.project import digest

LOGIN_LINK_LIFETIME = timedelta(hours=12)


@transaction.atomic
def ensure_default_project() -> Project:
    """Give the project that a single user never has to know about, with its default base [KB-2]."""
    project, _ = Project.objects.get_or_create(is_default=True, defaults={"name": "Default", "slug": "default"})
    ensure_default_base(project)
    return project


@transaction.atomic
def ensure_first_admin(project: Project) -> User:
    """Give an admin user, made on the first start without a password: it signs in by a printed link [O-26]."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is None:
        admin = User.objects.create_superuser("admin")
    Membership.objects.get_or_create(project=project, user=admin, defaults={"role": Role.ADMIN})
    return admin


@transaction.atomic
def create_login_link(user: User) -> str:
    """Give the secret of a new link; earlier unused ones stop working."""
    secret = secrets.token_urlsafe(32)
    LoginLink.objects.filter(user=user, used_at__isnull=True).delete()
    LoginLink.objects.create(user=user, digest=digest(secret), expires_at=timezone.now() + LOGIN_LINK_LIFETIME)
    return secret


@transaction.atomic
def use_login_link(secret: str) -> User:
    """Give the user whom the link logs in, once.

    Raises:
        InvalidInput: LOGIN_LINK_INVALID, the link is unknown, used or too old.
    """
    now = timezone.now()
    used = LoginLink.objects.filter(digest=digest(secret), used_at__isnull=True, expires_at__gte=now)
    link = used.select_related("user").first()
    if link is None or not used.update(used_at=now):
        raise InvalidInput(
            "This login link was used already or is too old. Restart the server for a new one.",
            code="LOGIN_LINK_INVALID",
        )
    return link.user

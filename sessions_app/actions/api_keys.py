"""API keys: made once, shown once, kept as a digest [O-25]."""

import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app.models import ApiKey, Project, Role
from sessions_app.models.plain_sql import get_row, read_related
from sessions_app.models.project import digest

KEY_START = "mrp_"
KEY_RANDOM_CHARS = 32
PREFIX_CHARS = 12
NAME_CHARS = 120
USE_NOTED_EVERY = timedelta(minutes=1)
"""How exact `last_used_at` is: a write for every request would cost more than it tells."""


def create_key(project: Project, name: str, role: str = Role.EDITOR, actor: User | None = None) -> tuple[ApiKey, str]:
    """Give a new key's row and the key itself, which can never be read again.

    Raises:
        InvalidInput: no name or a too long one, or an unknown role.
    """
    plain = KEY_START + secrets.token_urlsafe(32)
    return ApiKey.objects.create(digest=digest(plain), **_columns(project, name, plain, role, actor)), plain


def ensure_key(project: Project, name: str, plain: str, role: str = Role.EDITOR) -> ApiKey:
    """Give the row of a key that somebody else chose, making it if it is new [O-26].

    A key that was revoked stays so.

    Raises:
        InvalidInput: as for `create_key`, and for a key that is not `mrp_` and 32 characters.
    """
    if not plain.startswith(KEY_START) or len(plain) < len(KEY_START) + KEY_RANDOM_CHARS:
        raise InvalidInput(f"An API key is {KEY_START} and {KEY_RANDOM_CHARS} or more characters.")
    columns = _columns(project, name, plain, role, None)
    return ApiKey.objects.get_or_create(digest=digest(plain), defaults=columns)[0]


def _columns(project: Project, name: str, plain: str, role: str, actor: User | None) -> dict[str, Any]:
    name = name.strip()
    if not 1 <= len(name) <= NAME_CHARS:
        raise InvalidInput(f"The name of an API key has 1 to {NAME_CHARS} characters; this one has {len(name)}.")
    if role not in Role.values:
        raise InvalidInput(f"There is no role '{role}'. Known: {', '.join(Role.values)}.")
    return {"project": project, "name": name, "role": role, "prefix": plain[:PREFIX_CHARS], "created_by": actor}


def revoke_key(key: ApiKey) -> None:
    """End the key for good; revoking again changes nothing."""
    ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
    key.refresh_from_db()


def find_key(plain: str) -> ApiKey | None:
    """Give the key that is in force, with its project; notes its use, at most once a minute."""
    if not plain.startswith(KEY_START):
        return None
    key = get_row(ApiKey, digest=digest(plain), revoked_at=None)
    if key is None:
        return None
    read_related(key, "project")
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at >= USE_NOTED_EVERY:
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        ApiKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=now)
        key.last_used_at = now
    return key

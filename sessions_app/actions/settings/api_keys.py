"""API keys: shown once when they are created, and stored as a digest."""

import logging
import secrets
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.db.models import Q
from django.db.models.signals import post_delete, post_save
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.audit import record
from sessions_app.actions.settings.invitations import withdraw_invitations_of
from sessions_app.database import as_unavailable
from sessions_app.models import ApiKey, AuditKind, Project, Role
from sessions_app.models.settings.project import digest

KEY_START = "mrp_"
NAME_OF_SETTING = "From MRPVM_API_KEY"
KEY_RANDOM_CHARS = 32
PREFIX_CHARS = 12
NAME_CHARS = 120
USE_NOTED_EVERY = timedelta(minutes=1)
"""How exact `last_used_at` is; a write for every request would be too expensive."""

logger = logging.getLogger(__name__)


@transaction.atomic
def create_key(project: Project, name: str, role: str = Role.EDITOR, actor: User | None = None) -> tuple[ApiKey, str]:
    """Return a new key's row and the key itself, which can never be read again.

    Raises:
        InvalidInput: no name or a too long one, or an unknown role.
    """
    plain = KEY_START + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(digest=digest(plain), **_columns(project, name, plain, role, actor))
    _record(AuditKind.KEY_CREATED, key)
    return key, plain


def _record(kind: AuditKind, key: ApiKey) -> None:
    record(kind, key.project_id, f"key {named(key)}", role=key.role)


def named(key: ApiKey) -> str:
    """Return a key's name and its first characters after "mrp_", which nothing accepts as a key."""
    return f"{key.name} ({key.prefix.removeprefix('mrp_')}…)"


@transaction.atomic
def ensure_key(project: Project, name: str, plain: str, role: str = Role.EDITOR) -> ApiKey:
    """Return the row of a key that the caller chose, created if it is new.

    A key that was revoked stays so.

    Raises:
        InvalidInput: as for `create_key`, and for a key that is not `mrp_` and 32 characters.
    """
    if not plain.startswith(KEY_START) or len(plain) < len(KEY_START) + KEY_RANDOM_CHARS:
        raise InvalidInput(f"An API key is {KEY_START} and {KEY_RANDOM_CHARS} or more characters.")
    columns = _columns(project, name, plain, role, None)
    key, is_new = ApiKey.objects.get_or_create(digest=digest(plain), defaults=columns)
    if is_new:
        _record(AuditKind.KEY_CREATED, key)
    return key


@transaction.atomic
def accept_key_of_setting(project: Project, plain: str) -> ApiKey:
    """Return the row of the admin's key that `MRPVM_API_KEY` names; those that it named before are revoked."""
    key = ensure_key(project, NAME_OF_SETTING, plain, Role.ADMIN)
    before = ApiKey.objects.filter(name=NAME_OF_SETTING, created_by=None, revoked_at=None)
    for replaced in before.exclude(pk=key.pk):
        revoke_key(replaced)
    return key


def _columns(project: Project, name: str, plain: str, role: str, actor: User | None) -> dict[str, Any]:
    name = name.strip()
    if not 1 <= len(name) <= NAME_CHARS:
        raise InvalidInput(f"The name of an API key has 1 to {NAME_CHARS} characters; this one has {len(name)}.")
    if role not in Role.values:
        raise InvalidInput(f"There is no role '{role}'. Known: {', '.join(Role.values)}.")
    return {"project": project, "name": name, "role": role, "prefix": plain[:PREFIX_CHARS], "created_by": actor}


@transaction.atomic
def revoke_key(key: ApiKey) -> None:
    """Revoke the key and the invitations made with it; revoking again changes nothing.

    Other processes notice within `MRPVM_KEY_CACHE_SECONDS`.
    """
    if ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
        _record(AuditKind.KEY_REVOKED, key)
        withdraw_invitations_of(f"API key {key.name}", key.project_id)
    forget_keys()
    key.refresh_from_db()


@dataclass(frozen=True, slots=True)
class _CachedKey:
    """A valid key, and until when it is cached, by the monotonic clock."""

    key: ApiKey
    until: float


_known: dict[str, _CachedKey] = {}
"""By digest; only valid keys, so that strangers cannot fill it."""


def bearer_token(header: str) -> str | None:
    """Return the token of an `Authorization` header; None if it is empty or of another scheme."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def find_key(plain: str) -> ApiKey | None:
    """Return the valid key with its project, or None; store the time of use at most once a minute.

    It is read at most once in `MRPVM_KEY_CACHE_SECONDS`; changes by other processes are seen afterwards.
    """
    if not plain.startswith(KEY_START):
        return None
    found_digest, known = digest(plain), _known  # if the cache is cleared while the key is read, the key is not cached
    if (kept := known.get(found_digest)) is not None and time.monotonic() < kept.until:
        return kept.key
    key = ApiKey.objects.select_related("project").filter(digest=found_digest, revoked_at__isnull=True).first()
    if key is None:
        known.pop(found_digest, None)
        return None
    _note_use(key)
    known[found_digest] = _CachedKey(key, time.monotonic() + settings.MRPVM_KEY_CACHE_SECONDS)
    return key


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at >= USE_NOTED_EVERY:
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        try:
            ApiKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=now)
        except OperationalError as error:  # requests that only read continue to work when the disk is full
            logger.warning("the use of key %s was not noted: %s", key.prefix, as_unavailable(error))
            return
        key.last_used_at = now


def forget_keys(**_: object) -> None:
    """Empty the cache of keys, now and again after the running transaction is committed."""
    _forget()
    transaction.on_commit(_forget)


def _forget() -> None:
    global _known
    _known = {}


for _model in (ApiKey, Project):
    for _signal in (post_save, post_delete):
        _signal.connect(forget_keys, sender=_model, dispatch_uid="forget-keys")

"""Records in the audit log what Django itself does with users: login, logout, the admin, its commands.

An invitation names its author by the user's name, so a user who gets another, is deactivated or deleted loses theirs.
"""

from typing import Any

from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from sessions_app.actions.settings.audit import current_actor, record, record_of_user
from sessions_app.actions.settings.invitations import withdraw_invitations_of
from sessions_app.call_rates import is_allowed, network_of
from sessions_app.models import AuditKind

FAILED_LOGINS_A_MINUTE = 30
"""Limit per address; for further ones in that minute there is a single entry."""

_WATCHED = ("username", "email", "first_name", "last_name", "is_active", "is_staff", "is_superuser")


def record_failed_login(name: str, reason: str) -> None:
    """Record a failed login with this name; there may be no such user."""
    network = network_of(current_actor().address)
    if not is_allowed(f"failed-logins:{network}", FAILED_LOGINS_A_MINUTE):
        if not is_allowed(f"failed-logins-left-out:{network}", 1):
            return
        name, reason = "", "further attempts from this address within the minute are not recorded"
    user = User.objects.filter(username=name).first() if name else None
    if user is not None:
        record_of_user(AuditKind.LOGIN_FAILED, user, reason=reason)
    else:
        record(AuditKind.LOGIN_FAILED, None, f"user {name}" if name else "", reason=reason)


def _record_login(user: User, **_: Any) -> None:
    record_of_user(AuditKind.LOGIN_SUCCEEDED, user)


def _record_logout(user: User | None, **_: Any) -> None:
    if user is not None:
        record_of_user(AuditKind.LOGOUT, user)


def _record_refused_login(credentials: dict[str, Any], **_: Any) -> None:
    if "remote_user" in credentials:
        record_failed_login(credentials["remote_user"], "the proxy may not log in this user")
    else:
        record_failed_login(str(credentials.get("username") or "")[:150], "wrong name or password")


def _about_to_save(instance: User, update_fields: Any = None, **_: Any) -> None:
    """Remember the stored values of a user, unless only the time of the login changes."""
    if update_fields is not None and set(update_fields) <= {"last_login"}:
        instance._stored = None  # type: ignore[attr-defined]
    else:
        stored = User.objects.filter(pk=instance.pk).values(*_WATCHED, "password").first()
        instance._stored = stored  # type: ignore[attr-defined]


def _record_change(instance: User, created: bool, **_: Any) -> None:
    if created:
        record_of_user(AuditKind.USER_CREATED, instance, is_superuser=instance.is_superuser)
        return
    stored = getattr(instance, "_stored", None)
    if stored is None:
        return
    changed: dict[str, Any] = {
        name: {"from": stored[name], "to": getattr(instance, name)}
        for name in _WATCHED
        if stored[name] != getattr(instance, name)
    }
    if stored["password"] != instance.password:
        changed["password"] = True
    if changed:
        record_of_user(AuditKind.USER_CHANGED, instance, **changed)
    if "username" in changed or not instance.is_active:
        withdraw_invitations_of(stored["username"])


def _record_deletion(instance: User, **_: Any) -> None:
    withdraw_invitations_of(instance.get_username())
    record(AuditKind.USER_DELETED, None, f"user {instance.get_username()}")


def _record_rights(instance: Any, action: str, pk_set: set[int] | None, model: type[Any], **_: Any) -> None:
    if action in ("post_add", "post_remove", "post_clear"):
        named = sorted(map(str, model.objects.filter(pk__in=pk_set or ())))[:50]
        facts = {"what": str(model._meta.verbose_name_plural), "how": action.removeprefix("post_"), "named": named}
        if isinstance(instance, User):
            record_of_user(AuditKind.USER_CHANGED, instance, **facts)
        else:
            record(AuditKind.USER_CHANGED, None, f"group {instance}", **facts)


def watch_users() -> None:
    """Connect to Django's signals; calling this again changes nothing."""
    user_logged_in.connect(_record_login, dispatch_uid="audit-login")
    user_logged_out.connect(_record_logout, dispatch_uid="audit-logout")
    user_login_failed.connect(_record_refused_login, dispatch_uid="audit-failed-login")
    pre_save.connect(_about_to_save, sender=User, dispatch_uid="audit-user-before")
    post_save.connect(_record_change, sender=User, dispatch_uid="audit-user")
    post_delete.connect(_record_deletion, sender=User, dispatch_uid="audit-user-deleted")
    for rights in (User.groups.through, User.user_permissions.through, Group.permissions.through):
        m2m_changed.connect(_record_rights, sender=rights, dispatch_uid=f"audit-{rights.__name__}")

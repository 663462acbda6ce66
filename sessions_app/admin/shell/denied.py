"""The 403 page of the admin names the missing permission, never the object."""

from collections.abc import Sequence

from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.views import defaults

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.queries.settings.members import permission_name

_VERBS = {
    "changelist_view": "view", "change_view": "view", "history_view": "view",
    "add_view": "add", "delete_view": "delete", "user_change_password": "change",
}  # fmt: skip
"""The permissions of Django's own pages, which do not say why they refuse."""


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403 with the reason that was given, else with the permission that a page of the admin needs."""
    reason = str(exception) or missing(request, _needed_by_page(request))
    return defaults.permission_denied(request, PermissionDenied(reason) if reason else PermissionDenied())


def permission_to(verb: str, model: type[Model]) -> str:
    """Return the permission to view, add, change or delete rows of a model."""
    return f"{model._meta.app_label}.{get_permission_codename(verb, model._meta)}"


def missing(request: HttpRequest, permissions: Sequence[str]) -> str:
    """Name those permissions that the user lacks; empty if that is none."""
    lacked = [permission.partition(".") for permission in permissions if not request.user.has_perm(permission)]
    if not lacked:
        return ""
    names = " and ".join(f"“{permission_name(app_label, codename)}”" for app_label, _, codename in lacked)
    many, them = ("s", "them") if len(lacked) > 1 else ("", "it")
    return f"This needs the permission{many} {names}. A superuser can give you {them}, under Users in the admin."


def _needed_by_page(request: HttpRequest) -> tuple[str, ...]:
    """Return the permissions that the page needs, empty if no permission would suffice."""
    view = getattr(request.resolver_match, "func", None)
    model_admin, verb = getattr(view, "model_admin", None), _VERBS.get(getattr(view, "__name__", ""))
    if model_admin is None or verb is None:
        return ()
    if isinstance(model_admin, ReadOnlyAdmin) and verb not in model_admin.permitted:
        return ()
    return (permission_to(verb, model_admin.model),)

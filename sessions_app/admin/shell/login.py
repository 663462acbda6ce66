"""The admin's login is the server's own, which throttles attempts."""

from typing import Any

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


@login_not_required
def go_to_login(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
    """Redirect to the login page, and from there back to the admin.

    Raises:
        PermissionDenied: the user is logged in and is no operator: to log in again would not help.
    """
    if request.user.is_authenticated:
        raise PermissionDenied("This account may not use the administration: it needs the “staff status”.")
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure()):
        target = reverse("admin:index")
    return redirect_to_login(target)

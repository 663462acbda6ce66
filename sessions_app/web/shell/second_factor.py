"""Whether a browser's login is enough where everybody must have a second factor, asked at every request."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseBase

_PASSED = "second_factor_passed"
_PROXY_BACKEND = "sessions_app.web.shell.proxy_users.ProxyUserBackend"


def note_passed(request: HttpRequest) -> None:
    """Mark the browser's login as confirmed by a second factor: a code, or a login link."""
    request.session[_PASSED] = True


def is_asked_for(user: Any, session: Any) -> bool:
    """Return whether this browser's login, made by a password alone, now needs a second factor."""
    if settings.MRPVM_SECOND_FACTOR != "required" or not user.is_authenticated or session.get(_PASSED):
        return False
    return bool(user.has_usable_password()) and not is_by_proxy(session)


def is_by_proxy(session: Any) -> bool:
    """Return whether the proxy of single sign-on has logged in this browser."""
    return bool(session.get(BACKEND_SESSION_KEY) == _PROXY_BACKEND)


class SecondFactorRequired:
    """Treats a login by password alone as anonymous if a second factor is required."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_asked_for(request.user, request.session):
            request.user = AnonymousUser()
        return self._get_response(request)

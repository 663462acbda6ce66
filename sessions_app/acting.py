"""Who acts in a request: its user, or the holder of its API key."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from sessions_app.actions.settings.api_keys import named
from sessions_app.actions.settings.audit import Actor, acting_as
from sessions_app.logs import logged_request_id
from sessions_app.models import ApiKey


def holder_of(key: ApiKey, address: str) -> Actor:
    """Return the holder of a key who calls from an address."""
    return Actor(kind="key", name=named(key), address=address, request_id=logged_request_id(), key_pk=key.pk)


def user_at(user: Any, address: str) -> Actor:
    """Return a user who calls from an address; a stranger for one who has not logged in."""
    if not user.is_authenticated:
        return Actor(kind="stranger", name="", address=address, request_id=logged_request_id())
    return Actor(kind="user", name=user.get_username(), address=address, request_id=logged_request_id())


class ActingUser:
    """Middleware: names who acts in a request, its user or the holder of its API key.

    The user is read when a change is recorded: a request that changes nothing costs no query.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        address = request.META.get("REMOTE_ADDR") or ""
        with acting_as(lambda: user_at(request.user, address)):
            return self._get_response(request)

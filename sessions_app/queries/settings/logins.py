"""Logins in browsers and with API keys, for what outlives the request that it came with: sockets and streams."""

from collections.abc import Collection
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredLogin
from django.utils import timezone

from sessions_app.queries.settings.members import active_users


class BrowserLogin(NamedTuple):
    """One login of a user; with another password it has another `proof`."""

    user_pk: int
    key: str | None
    proof: str


class KeyLogin(NamedTuple):
    """A client with an API key."""

    key_pk: int


def login_of(user: User, session: Any) -> BrowserLogin:
    """Return the login that a request or a socket came with."""
    return BrowserLogin(user.pk, session.session_key, user.get_session_auth_hash())


def lasting_logins(logins: Collection[BrowserLogin]) -> set[BrowserLogin]:
    """Return those whose user has not logged out, was not deactivated and has the same password."""
    keys = {login.key for login in logins if login.key is not None}
    stored = StoredLogin.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    stored_keys = set(stored.values_list("session_key", flat=True))
    users = active_users().filter(pk__in={login.user_pk for login in logins if login.key in stored_keys})
    proofs = {user.pk: user.get_session_auth_hash() for user in users.only("password")}
    return {login for login in logins if login.key in stored_keys and proofs.get(login.user_pk) == login.proof}

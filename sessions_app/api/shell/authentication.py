"""Who calls: a project's API key, or a member of a project with a login session."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from sessions_app.acting import holder_of
from sessions_app.actions.settings.api_keys import bearer_token, find_key
from sessions_app.actions.settings.audit import act_as
from sessions_app.models import Project, Role, Session
from sessions_app.queries.settings.logins import BrowserLogin, lasting_logins, login_of
from sessions_app.queries.settings.projects import membership_of, projects_of_keys, role_of

PROJECT_HEADER = "X-Project"
"""Which of their projects a logged-in member means, by its slug; without it the one that the pages show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the caller may do, resolved once a request: everything it sees is in `project`.

    `caller` counts calls: one for each key or user; `actor` is the person and `login` theirs, None for a key.
    """

    project: Project
    role: str
    caller: str
    actor: User | None = None
    login: BrowserLogin | None = None
    key_pk: int | None = None

    @property
    def takes_commands(self) -> bool:
        """Return whether a message of the caller may be a command."""
        return self.role != Role.CHAT

    def may_talk_in(self, session: Session) -> bool:
        """Return whether the caller may continue a session of the project: with the role chat, only one of its own."""
        return self.role != Role.CHAT or session.started_with_id == self.key_pk

    def lasts(self) -> bool:
        """Return whether the caller still has access, as it is stored now; for streams, which outlive their request."""
        if self.actor is None or self.login is None:
            return self.key_pk is not None and self.key_pk in projects_of_keys([self.key_pk])
        return role_of(self.actor, self.project) is not None and bool(lasting_logins([self.login]))


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The user behind an API key, as far as the REST framework asks for one."""

    name: str
    pk: None = None
    is_authenticated: bool = True
    is_active: bool = True


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer mrp_...`."""

    def authenticate(self, request: Request) -> tuple[KeyHolder, Access] | None:
        """Return the key's access, None when the header names no bearer.

        Raises:
            AuthenticationFailed: the key is unknown or revoked.
        """
        token = bearer_token(get_authorization_header(request).decode("latin-1"))
        if token is None:
            return None
        key = find_key(token)
        if key is None:
            raise AuthenticationFailed("The API key is unknown or was revoked.")
        act_as(holder_of(key, request.META.get("REMOTE_ADDR") or ""))
        return KeyHolder(key.name), Access(project=key.project, role=key.role, caller=f"key-{key.pk}", key_pk=key.pk)

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 asks for."""
        return 'Bearer realm="mrpvm"'


class MemberAuthentication(SessionAuthentication):
    """A browser's login session; writes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[User, Access] | None:
        """Return the member's access, None without a login.

        Raises:
            PermissionDenied: the CSRF token is missing, or the user belongs to no such project.
        """
        authenticated = super().authenticate(request)
        if authenticated is None:
            return None
        user = authenticated[0]
        membership = membership_of(user, request.headers.get(PROJECT_HEADER))
        if membership is None:
            raise PermissionDenied("You are not a member of this project.")
        access = Access(
            project=membership.project,
            role=membership.role,
            caller=f"user-{user.pk}",
            actor=user,
            login=login_of(user, request.session),
        )
        return user, access

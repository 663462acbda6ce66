"""Who looks at a page: the user's membership, found once a request, and what its role allows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, cast

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from mrpvm.errors import NotFound
from sessions_app.models import Project
from sessions_app.queries.settings.projects import is_at_least, membership_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user in the project that the pages show."""

    user: User
    project: Project
    role: str

    @property
    def can_write(self) -> bool:
        """Return whether the member may run turns and change things."""
        return is_at_least(self.role, "editor")

    @property
    def is_admin(self) -> bool:
        """Return whether the member may manage keys and members."""
        return is_at_least(self.role, "admin")

    def check(self, needed: str) -> None:
        """Refuse a lower role than `needed`.

        Raises:
            PermissionDenied: with the reason, for the page that shows it.
        """
        if not is_at_least(self.role, needed):
            raise PermissionDenied(f"Your role here is {self.role}; this needs the role {needed}.")


def _without_nul(parameters: QueryDict) -> QueryDict:
    """Return parameters without the character that no text of PostgreSQL can hold."""
    kept = QueryDict(mutable=True)
    for name, values in parameters.lists():
        kept.setlist(name.replace("\0", ""), [value.replace("\0", "") for value in values])
    return kept


type MemberView[**P] = Callable[Concatenate[HttpRequest, Member, P], HttpResponse]


def member_view[**P](
    needed: str = "viewer",
) -> Callable[[MemberView[P]], Callable[Concatenate[HttpRequest, P], HttpResponse]]:
    """Return a decorator that calls the view with the member, or answers what keeps the user out.

    No membership: a page that says so. A lower role than `needed`: 403. What is not there for this project, and what
    belongs to another one, alike: 404.
    """

    def decorate(view: MemberView[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
        @never_cache
        @wraps(view)
        def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            member = _member(request.user)
            if member is None:
                return render(request, "shell/no_project.html", status=403)
            member.check(needed)
            if "%00" in request.META["QUERY_STRING"]:
                request.GET = _without_nul(request.GET)  # type: ignore[assignment]
            if request.method == "POST":
                request.POST = _without_nul(request.POST)  # type: ignore[assignment]
            try:
                return view(request, member, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.message) from error

        return cast(Callable[Concatenate[HttpRequest, P], HttpResponse], answer)

    return decorate


def _member(user: Any) -> Member | None:
    membership = membership_of(user)
    if membership is None:
        return None
    return Member(user=user, project=membership.project, role=membership.role)

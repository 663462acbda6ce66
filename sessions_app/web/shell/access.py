"""Who looks at a page: the user's membership, found once a request, and what its role allows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from mrpvm.errors import NotFound
from sessions_app.models import Membership, Project
from sessions_app.queries.settings.projects import is_at_least, membership_beside, membership_of

PAGE_PROJECT = "page_project"
"""The field in which a form names the project of its page, by the slug (static/js/shell/page.js)."""


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
    needed: str = "viewer", *, of_any_project: bool = False
) -> Callable[[MemberView[P]], Callable[Concatenate[HttpRequest, P], HttpResponse]]:
    """Return a decorator that calls the view with the member, or answers what keeps the user out.

    No membership: a page that says so. A form of a page of another project, and what belongs to another project of the
    user's: 403 and a way to show that project. A lower role than `needed`: 403. What is not there for this project, and
    what belongs to somebody else's, alike: 404.

    Args:
        needed: the least role that may call the view.
        of_any_project: accept forms of pages of the user's other projects too.
    """

    def decorate(view: MemberView[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
        @never_cache
        @wraps(view)
        def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            member = _member(request.user)
            if member is None:
                return render(request, "shell/no_project.html", status=403)
            sent_from = request.POST.get(PAGE_PROJECT, member.project.slug)
            if sent_from != member.project.slug and not of_any_project:
                return _refuse_form(request, member, membership_of(member.user, sent_from))
            member.check(needed)
            if "%00" in request.META["QUERY_STRING"]:
                request.GET = _without_nul(request.GET)  # type: ignore[assignment]
            if request.method == "POST":
                request.POST = _without_nul(request.POST)  # type: ignore[assignment]
            try:
                return view(request, member, *args, **kwargs)
            except (NotFound, Http404) as error:
                elsewhere = membership_beside(member.user, member.project, kwargs)
                if elsewhere is not None:
                    return _of_another_project(request, member, elsewhere, request.get_full_path())
                raise Http404(str(error)) from error

        return cast(Callable[Concatenate[HttpRequest, P], HttpResponse], answer)

    return decorate


def _refuse_form(request: HttpRequest, member: Member, sent_from: Membership | None) -> HttpResponse:
    """Refuse a form of a page that was opened while another project was shown."""
    if "HX-Request" not in request.headers:
        return _of_another_project(request, member, sent_from, request.headers.get("Referer", ""))
    text = f"Nothing was done: this page is of another project than “{member.project.name}”, which is shown now."
    messages.error(request, text, extra_tags="CONFLICT")
    shown = {"messages": messages.get_messages(request)}
    return render(request, "shell/messages.html", shown, status=422)


def _of_another_project(
    request: HttpRequest, member: Member, elsewhere: Membership | None, address: str
) -> HttpResponse:
    context = {"shown": member.project, "elsewhere": elsewhere and elsewhere.project, "address": address}
    return render(request, "shell/other_project.html", context, status=403)


def _member(user: Any) -> Member | None:
    membership = membership_of(user)
    if membership is None:
        return None
    return Member(user=user, project=membership.project, role=membership.role)

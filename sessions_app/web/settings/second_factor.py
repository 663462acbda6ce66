"""The page on which people look after the second factor of their own login."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.settings.second_factor import (
    begin_enrolment,
    confirm_enrolment,
    remove_second_factor,
    renew_recovery_codes,
)
from sessions_app.queries.settings.second_factor import enrolment_of, second_factor_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.login import qr_context
from sessions_app.web.shell.pages import page, tell
from sessions_app.web.shell.second_factor import note_passed


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the second factor or how to set one up; a POST does what its `act` says."""
    if request.method != "POST":
        return _show(request, member, {})
    act = _ACTS.get(request.POST.get("act", ""))
    if act is None:
        return _show(request, member, {"error": "There is no such act."}, status=400)
    try:
        return act(request, member)
    except (InvalidInput, Conflict) as refused:
        return _show(request, member, {"error": refused.message}, status=400)


def _begin(request: HttpRequest, member: Member) -> HttpResponse:
    begin_enrolment(member.user)
    return HttpResponseRedirect(reverse("second-factor"))


def _confirm(request: HttpRequest, member: Member) -> HttpResponse:
    codes = confirm_enrolment(member.user, request.POST.get("code", ""))
    note_passed(request)
    return _show(request, member, {"codes": codes})


def _renew(request: HttpRequest, member: Member) -> HttpResponse:
    return _show(request, member, {"codes": renew_recovery_codes(member.user, request.POST.get("code", ""))})


def _remove(request: HttpRequest, member: Member) -> HttpResponse:
    remove_second_factor(member.user, request.POST.get("code", ""))
    tell(request, "Removed. Your password alone logs you in.")
    return HttpResponseRedirect(reverse("second-factor"))


_ACTS: dict[str, Callable[[HttpRequest, Member], HttpResponse]] = {
    "begin": _begin,
    "confirm": _confirm,
    "renew": _renew,
    "remove": _remove,
}


def _show(request: HttpRequest, member: Member, context: dict[str, object], status: int = 200) -> HttpResponse:
    factor = second_factor_of(member.user)
    waiting = None if factor else enrolment_of(member.user)
    shown = {
        "second_factor": factor,
        "is_required": settings.MRPVM_SECOND_FACTOR == "required",
        "has_password": member.user.has_usable_password(),
        **(qr_context(waiting) if waiting else {}),
        **context,
    }
    return page(request, "settings/second_factor.html", member, shown, status=status)

"""Rendering of pages and fragments, redirects after forms, and messages."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from mrpvm.errors import MRPError
from sessions_app.web.rail import navigation
from sessions_app.web.shell.access import Member


def page(
    request: HttpRequest,
    template: str,
    member: Member,
    context: Mapping[str, Any],
    *,
    section: str = "",
    status: int = 200,
) -> HttpResponse:
    """Return a page, or one fragment of it by `template#fragment`.

    Args:
        section: which entry of the main navigation is the current one.
    """
    shared = {
        "project": member.project,
        "role": member.role,
        "can_write": member.can_write,
        "is_admin": member.is_admin,
        "navigation": navigation(section, is_admin=member.is_admin, is_staff=member.user.is_staff),
        "version": settings.MRPVM_VERSION,
    }
    return render(request, template, {**shared, **context}, status=status)


def back_to(request: HttpRequest, default: str) -> HttpResponseRedirect:
    """Redirect to the form's `next` if that is an address of this server, else to `default`."""
    return HttpResponseRedirect(leads_back(request) or default)


def answer_form(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect to `address`; where htmx sent the form, return what was told as a fragment, with 422 for a refusal."""
    if "HX-Request" not in request.headers:
        return HttpResponseRedirect(address)
    shown = list(messages.get_messages(request))
    is_refused = any(message.level == messages.ERROR for message in shown)
    return render(request, "shell/messages.html", {"messages": shown}, status=422 if is_refused else 200)


def leads_back(request: HttpRequest) -> str:
    """Return the form's `next` if that is an address of this server, else nothing."""
    target = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if is_ours else ""


def tell(request: HttpRequest, text: str, *, undo_url: str = "", link_url: str = "") -> None:
    """Show a short message on the next page, with a button that takes the act back if `undo_url` is given.

    A message with `link_url` leads to what it describes instead; the two are told apart by their level.
    """
    if link_url:
        messages.info(request, text, extra_tags=link_url)
    else:
        messages.success(request, text, extra_tags=undo_url)


def tell_error(request: HttpRequest, error: MRPError) -> None:
    """Show why something was refused on the next page; the code is after the sentence, to be searched for."""
    messages.error(request, error.message, extra_tags=error.code)

"""Saved filters of the list of turns."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from sessions_app.actions.turns.saved_filters import NAME_CHARS, change_filter, delete_filter, save_filter
from sessions_app.queries.turns.saved_filters import saved_filter, saved_filters
from sessions_app.web.experiments.views import author_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the project's saved filters, each with the address to share."""
    filters = [
        (saved, request.build_absolute_uri(reverse("turn-filter", args=[saved.filter_id])))
        for saved in saved_filters(member.project)
    ]
    context = {"filters": filters, "name_chars": NAME_CHARS}
    return page(request, "turns/filters.html", member, context, section="turns")


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, filter_id: str) -> HttpResponse:
    """Redirect to the turns that a saved filter finds now; this is the address to share."""
    return HttpResponseRedirect(turns_address(saved_filter(member.project, filter_id).text))


@form_of("turns")
@member_view("editor")
def save(request: HttpRequest, member: Member) -> HttpResponse:
    """Save the current filter of the list under a name."""
    name, text = (request.POST.get(field, "") for field in ("name", "q"))
    try:
        saved = save_filter(member.project, name, text, author_of(member))
    except MRPError as refused:
        tell_error(request, refused)
    else:
        tell(request, f"The filter is saved as “{saved.name}”.")
    return HttpResponseRedirect(turns_address(text))


@form_of("turn-filters")
@member_view("editor")
def change(request: HttpRequest, member: Member, filter_id: str) -> HttpResponse:
    """Change the name and the conditions of a filter."""
    saved = saved_filter(member.project, filter_id)
    name, text = (request.POST.get(field, "") for field in ("name", "q"))
    try:
        change_filter(saved, name=name, text=text)
    except MRPError as refused:
        tell_error(request, refused)
    else:
        tell(request, f"The filter “{saved.name}” is changed.")
    return HttpResponseRedirect(reverse("turn-filters"))


@form_of("turn-filters")
@member_view("editor")
def delete(request: HttpRequest, member: Member, filter_id: str) -> HttpResponse:
    """Delete a filter; the turns stay."""
    saved = saved_filter(member.project, filter_id)
    delete_filter(saved)
    tell(request, f"The filter “{saved.name}” is deleted.")
    return HttpResponseRedirect(reverse("turn-filters"))


def turns_address(text: str) -> str:
    """Return the address of the turns that a filter finds."""
    return f"{reverse('turns')}?{urlencode({'q': text})}" if text else reverse("turns")

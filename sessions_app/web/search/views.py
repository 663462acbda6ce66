"""The search over sessions, turns, units and errors, and the completion of its language."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.queries.knowledge.pages import listed_bases
from sessions_app.queries.search.reach import stretch_of
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.web.search.results import completions, search_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page

TEMPLATE = "search/index.html"
BASES_IN_PALETTE = 5


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the search with what it finds; for HTMX the results alone."""
    stretch = stretch_of(whole_number(request.GET.get("back")))
    context = search_context(member.project, request.GET.get("q", ""), stretch)
    part = "#results" if "HX-Request" in request.headers else ""
    return page(request, f"{TEMPLATE}{part}", member, context, section="search")


@require_safe
@member_view()
def palette(request: HttpRequest, member: Member) -> HttpResponse:
    """Return knowledge bases, sessions and turns as the command palette lists them."""
    words = request.GET.get("q", "")
    named = words.strip()
    bases = listed_bases(member.project, named, BASES_IN_PALETTE) if named else []
    return page(request, f"{TEMPLATE}#palette", member, {**search_context(member.project, words), "bases": bases})


@require_safe
@member_view()
def complete(request: HttpRequest, member: Member) -> HttpResponse:
    """Return completions of the part of a text that is being written."""
    written = request.GET.get("written", "")[:200]
    completed = completions(member.project, written)
    return page(request, f"{TEMPLATE}#completions", member, {"completions": completed})

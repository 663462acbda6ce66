"""The list of turns of all sessions."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions_app.queries.experiments.suites import suites_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page
from sessions_app.web.turns.lists.listing import turn_list_context

TEMPLATE = "turns/index.html"


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the newest turns that match the filter; for HTMX the list, or with `before` only the next rows."""
    context = turn_list_context(member.project, request.GET.dict()) | {"suites": suites_of(member.project)}
    if "HX-Request" not in request.headers:
        return page(request, TEMPLATE, member, context, section="turns")
    if not context["is_first"]:
        return page(request, f"{TEMPLATE}#rows", member, context)
    response = page(request, f"{TEMPLATE}#list", member, context)
    response["HX-Replace-Url"] = reverse("turns") + (f"?{context['here']}" if context["here"] else "")
    return response

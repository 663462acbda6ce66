"""The overview of a project's turns."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page
from sessions_app.web.turns.lists.overview import overview_context


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show figures and charts of a time span, optionally of one base, model or agent."""
    context = overview_context(member.project, request.GET.dict())
    return page(request, "turns/overview.html", member, context, section="overview")

"""The list of a user's projects, and the choice of the one that the pages show."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from sessions_app.actions.settings.projects import show_project
from sessions_app.queries.settings.projects import memberships_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import back_to, page, tell

TEMPLATE = "settings/projects.html"


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """List the user's projects; for HTMX the list alone."""
    template = f"{TEMPLATE}#list" if "HX-Request" in request.headers else TEMPLATE
    return page(request, template, member, {"memberships": memberships_of(member.user)})


@form_of("projects")
@member_view(of_any_project=True)
def choose(request: HttpRequest, member: Member, slug: str) -> HttpResponse:
    """Show another project of the user's from now on, in every tab."""
    project = show_project(member.user, slug)
    tell(request, f"The pages show “{project.name}” now.")
    return back_to(request, reverse("sessions"))

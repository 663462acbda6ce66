"""The plugins page: what is installed, by family, and how each has done in this project."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.web.settings.plugins import catalogue_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the descriptors in the order of one turn."""
    return page(request, "settings/plugins.html", member, catalogue_context(member.project), section="plugins")

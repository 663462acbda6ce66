"""The storage page, for admins: how large the database is, by what it holds, and how fast it grows."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.queries.settings.storage import storage
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page


@require_safe
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the newest sample."""
    return page(request, "settings/storage.html", member, {"storage": storage()}, section="storage")

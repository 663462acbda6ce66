"""One unit of knowledge, and the way from an answer's citation to it."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import NotFound
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.turns import registry as turns
from sessions_app.web.knowledge.unit import unit_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Show the unit that the address names with `id`: ids hold whatever their source's name held."""
    session = sessions.session(member.project, session_id)
    unit_id = request.GET.get("id", "").replace("\0", "")
    context = unit_context(session, unit_id, whole_number(request.GET.get("before")))
    return page(request, "unit/show.html", member, context, section="sessions")


@require_safe
@member_view()
def cited(request: HttpRequest, member: Member, session_id: str, request_id: str, number: int) -> HttpResponse:
    """Go to the unit that an answer's source mark stands for.

    Raises:
        NotFound: SOURCE_NOT_FOUND, the answer has no such mark.
    """
    turn = turns.turn(member.project, session_id, request_id)
    unit_ids = turns.cited_unit_ids(turn)
    if not 1 <= number <= len(unit_ids):
        raise NotFound(f"The answer cites no source {number}.", code="SOURCE_NOT_FOUND")
    return HttpResponseRedirect(f"{reverse('unit', args=[session_id])}?{urlencode({'id': unit_ids[number - 1]})}")

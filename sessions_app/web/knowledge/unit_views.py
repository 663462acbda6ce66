"""One unit of knowledge, and the way from an answer's citation to it."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError, NotFound
from sessions_app.actions.sessions.retractions import restore_unit, retract_unit
from sessions_app.ingest.load import correct_unit
from sessions_app.queries.knowledge.pages import root_of_staged
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.turns import registry as turns
from sessions_app.web.knowledge.unit import unit_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of, keep, take
from sessions_app.web.shell.pages import back_to, page, tell, tell_error


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Show the unit of the query parameter `id`, or the highest one of `source`, a source of the draft.

    They are parameters, because ids may contain any character.
    """
    session = sessions.session(member.project, session_id)
    source_id = request.GET.get("source", "")
    unit_id = root_of_staged(session, source_id) if source_id else _unit_id(request)
    context = unit_context(session, unit_id, whole_number(request.GET.get("before")))
    context |= take(request, f"correction:{session_id}")
    return page(request, "knowledge/unit.html", member, context, section="sessions")


@require_safe
@member_view()
def cited(request: HttpRequest, member: Member, session_id: str, request_id: str, number: int) -> HttpResponse:
    """Redirect to the unit of a source mark in an answer.

    Raises:
        NotFound: SOURCE_NOT_FOUND, the answer has no such mark.
    """
    turn = turns.turn(member.project, session_id, request_id)
    unit_ids = turns.cited_unit_ids(turn)
    if not 1 <= number <= len(unit_ids):
        raise NotFound(f"The answer cites no source {number}.", code="SOURCE_NOT_FOUND")
    return HttpResponseRedirect(_address(session_id, unit_ids[number - 1]))


@form_of("session", "session_id")
@member_view("editor")
def retract(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Retract the unit with the form's `id` from the session; this can be undone."""
    session, unit_id = sessions.session(member.project, session_id), _unit_id(request)
    address = _address(session_id, unit_id)
    try:
        retract_unit(session, unit_id, member.user)
    except MRPError as refused:
        tell_error(request, refused)
    else:
        undo_url = f"{reverse('unit-restore', args=[session_id])}?{urlencode({'id': unit_id})}"
        tell(request, "Retracted: this session does not use it any more.", undo_url=undo_url)
    return back_to(request, address)


@form_of("session", "session_id")
@member_view("editor")
def restore(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Undo a retraction."""
    session, unit_id = sessions.session(member.project, session_id), _unit_id(request)
    try:
        restore_unit(session, unit_id, member.user)
    except MRPError as refused:
        tell_error(request, refused)
    else:
        tell(request, "Restored: this session uses it again.")
    return back_to(request, _address(session_id, unit_id))


@form_of("session", "session_id")
@member_view("editor")
def correct(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Replace the unit by what the field `text` states; a refused text is in the field again."""
    session, unit_id = sessions.session(member.project, session_id), _unit_id(request)
    text = request.POST.get("text", "")
    address = _address(session_id, unit_id)
    try:
        correct_unit(session, unit_id, text, member.user)
    except MRPError as refused:
        tell_error(request, refused)
        keep(request, f"correction:{session_id}", {"correction": text})
        return HttpResponseRedirect(f"{address}#change-title")
    tell(request, "Corrected: from the next turn on this session uses the new words.")
    return back_to(request, address)


def _unit_id(request: HttpRequest) -> str:
    return request.POST.get("id") or request.GET.get("id", "")


def _address(session_id: str, unit_id: str) -> str:
    return f"{reverse('unit', args=[session_id])}?{urlencode({'id': unit_id})}"

"""What a session remembers of its turns: cleared from its page."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from mrpvm.errors import MRPError
from sessions_app.actions.sessions.memory import clear_memory
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import back_to, tell, tell_error


@form_of("session", "session_id")
@member_view("editor")
def clear(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    session = session_of(member.project, session_id)
    try:
        clear_memory(session)
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, "The session's memory is empty now; its messages and units are as they were.")
    return back_to(request, reverse("session", args=[session.session_id]) + "?panel=settings")

"""The page of a session's skills, the reload, and the composer's completion."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from sessions_app.actions.sessions.frozen_content import reload_skills
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.web.sessions.skills import completion_context, skills_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Show the snapshot, what was shadowed or excluded and why, and what a reload would change."""
    template = "sessions/skills.html#skills" if request.GET.get("part") == "skills" else "sessions/skills.html"
    context = skills_context(session_of(member.project, session_id))
    return page(request, template, member, context, section="sessions")


@form_of("session-skills", "session_id")
@member_view("editor")
def reload(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Read the files again for this session."""
    session = session_of(member.project, session_id)
    try:
        made = reload_skills(session)
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, f"Reloaded: this session has snapshot {made.snapshot_version} now.")
    return HttpResponseRedirect(reverse("session-skills", args=[session.session_id]))


@require_safe
@member_view()
def completion(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return what can be typed after a slash in this session."""
    context = completion_context(session_of(member.project, session_id))
    return page(request, "sessions/conversation/completion.html", member, context)

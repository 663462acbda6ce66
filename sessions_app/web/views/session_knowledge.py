"""What a session's page does with knowledge bases: mount the newest revision, save, fork, discard a draft [KB-8].

Scripts ask the API for the same, without leaving the page.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from mrpvm.errors import MRPError
from sessions_app.actions.forks import fork_session_kb, save_session_kb
from sessions_app.actions.kb_mounts import mount_base
from sessions_app.queries.sessions import session as session_of
from sessions_app.web.access import Member, member_view
from sessions_app.web.form_addresses import form_of
from sessions_app.web.pages import tell, tell_error


@form_of("session", "session_id")
@member_view("editor")
def mount(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Mount the newest revision of the mounted base; over an unsaved draft only with `discard_draft`."""
    session, discards = session_of(member.project, session_id), "discard_draft" in request.POST

    def act() -> str:
        mounted = mount_base(
            session, session.mounted_kb, reason="mount-page", actor=member.user, discard_draft=discards
        )
        gone = "The draft was discarded. " if discards else ""
        return f"{gone}The session sees revision {mounted.revision} of “{mounted.knowledge_base.name}” now."

    return _told(request, session_id, act)


@form_of("session", "session_id")
@member_view("editor")
def save(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Save the draft and what the conversation told into the mounted base."""
    session = session_of(member.project, session_id)
    return _told(request, session_id, lambda: f"Saved into “{save_session_kb(session, actor=member.user).name}”.")


@form_of("session", "session_id")
@member_view("editor")
def fork(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Make a base of what the session sees and mount it."""
    session = session_of(member.project, session_id)
    return _told(request, session_id, lambda: f"Made “{fork_session_kb(session, actor=member.user).name}”.")


def _told(request: HttpRequest, session_id: str, act: Callable[[], str]) -> HttpResponse:
    try:
        tell(request, act())
    except MRPError as error:
        tell_error(request, error)
    return HttpResponseRedirect(reverse("session", args=[session_id]))

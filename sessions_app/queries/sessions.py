"""Sessions and what they hold."""

from django.contrib.sessions.models import Session as Login
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.errors import NotFound
from sessions_app.models import ContextUnit, KBMount, Message, Project, Session, SessionEvent


def sessions(project: Project) -> QuerySet[Session]:
    """Give the project's sessions that are not deleted, with base and draft, latest activity first."""
    return (
        Session.objects.filter(project=project, deleted_at__isnull=True)
        .select_related("mounted_kb", "draft")
        .order_by("-last_activity_at", "-id")
    )


def session(project: Project, session_id: str) -> Session:
    """Give one session of the project.

    Raises:
        NotFound: SESSION_NOT_FOUND, also for another project's session [O-8].
    """
    found = sessions(project).filter(session_id=session_id).first()
    if found is None:
        raise NotFound(f"There is no session '{session_id}'.", code="SESSION_NOT_FOUND")
    return found


def messages(session: Session) -> QuerySet[Message]:
    """Give the conversation in order, each message with its turn's id."""
    return session.messages.select_related("turn").order_by("sequence")


def units(session: Session, state: str | None = None) -> QuerySet[ContextUnit]:
    """Give the session's units, oldest first, each with the turn that brought it in."""
    found = session.context_units.select_related("turn").order_by("id")
    return found if state is None else found.filter(state=state)


def mounts(session: Session) -> QuerySet[KBMount]:
    """Give the history of mounts, newest first."""
    return session.mounts.select_related("knowledge_base", "mounted_by").order_by("-id")


def events_since(session_pk: int, sequence: int) -> QuerySet[SessionEvent]:
    """Give the session's events after `sequence`, in order."""
    return SessionEvent.objects.filter(session_id=session_pk, sequence__gt=sequence).order_by("sequence")


def visible_session(user_pk: int, login_key: str | None, session_id: str) -> Session | None:
    """Give the session if this user, under this login, may see it now; for sockets, which outlive their request.

    None once the user has logged out, was deactivated or left the project, or the session was deleted.
    """
    if login_key is None or not Login.objects.filter(session_key=login_key, expire_date__gt=timezone.now()).exists():
        return None
    return Session.objects.filter(
        session_id=session_id,
        deleted_at__isnull=True,
        project__memberships__user_id=user_pk,
        project__memberships__user__is_active=True,
    ).first()

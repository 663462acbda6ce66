"""Sessions and what they hold."""

from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from mrpvm.errors import NotFound
from sessions_app.identifiers import OWN_SESSIONS
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    Message,
    Project,
    Session,
    SessionEvent,
)
from sessions_app.models.named_sql import select_counted_session
from sessions_app.queries.settings.logins import BrowserLogin, KeyLogin, lasting_logins
from sessions_app.queries.settings.projects import projects_of_keys, shown_projects


def sessions(project: Project) -> QuerySet[Session]:
    """Return the project's sessions that are not deleted, with base and draft, latest activity first."""
    return (
        Session.objects.filter(project=project, deleted_at__isnull=True)
        .select_related("mounted_kb", "draft")
        .order_by("-last_activity_at", "-id")
    )


def present_sessions() -> QuerySet[Session]:
    """Return the sessions of all projects that are not deleted, for the server's operator."""
    return Session.objects.filter(deleted_at=None)


def listed_sessions(project: Project) -> QuerySet[Session]:
    """Return the project's sessions without those in which suites ask."""
    return sessions(project).filter(suite=None)


def session(project: Project, session_id: str) -> Session:
    """Return one session of the project, with its journal too.

    Raises:
        NotFound: SESSION_NOT_FOUND, also for another project's session.
    """
    try:
        row = sessions(project).select_related("journal").get(session_id=session_id)
    except Session.DoesNotExist:
        raise unknown_session(session_id) from None
    row.project = project
    return row


def session_reference(project: Project, session_id: str) -> Session:
    """Return one session of the project, without its base and draft, to a caller that reads it again under a lock.

    Raises:
        NotFound: as for `session`.
    """
    row = Session.objects.filter(project=project, deleted_at__isnull=True, session_id=session_id).first()
    if row is None:
        raise unknown_session(session_id)
    row.project = project
    return row


def known_session(project: Project, session_id: str) -> Session:
    """Return one session of the project for a caller that locks it next, which fails if it was deleted meanwhile.

    A session with an id of the server's own is cached in the process, because such an id is never used twice. Columns
    other than names and keys are deferred.

    Raises:
        NotFound: as for `session`.
    """
    if not session_id.startswith(OWN_SESSIONS):
        return session_reference(project, session_id)
    values = (_own_key(project.pk, session_id), session_id, project.pk, False)
    row = Session.from_db(DEFAULT_DB_ALIAS, ("id", "session_id", "project_id", "is_client_named"), values)
    row.project = project
    return row


@lru_cache(maxsize=4_096)
def _own_key(project_pk: int, session_id: str) -> int:
    keys = Session.objects.filter(project_id=project_pk, session_id=session_id, deleted_at__isnull=True)
    key = keys.values_list("pk", flat=True).first()
    if key is None:
        raise unknown_session(session_id)
    return key


def reread_session(session: Session) -> Session:
    """Return the session as it is now, with base, draft and journal, all read by one statement."""
    return Session.objects.select_related("mounted_kb", "draft", "journal").get(pk=session.pk)


def is_open(session_pk: int) -> bool:
    """Return whether the session was neither deleted nor closed as expired."""
    return Session.objects.filter(pk=session_pk, deleted_at=None, expired_at=None).exists()


def unknown_session(session_id: str) -> NotFound:
    """Return the refusal of an id that names no session of the caller's."""
    return NotFound(f"There is no session '{session_id}'.", code="SESSION_NOT_FOUND")


def with_counts(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Annotate sessions with `pending_unit_count`, `turn_count`, `latest_turn_status` and `saved_at`."""
    turns = ExplainabilityTurn.objects.filter(session=OuterRef("pk"))
    pending = ContextUnit.objects.filter(session=OuterRef("pk"), state=ContextUnit.State.PENDING)
    return sessions.annotate(
        pending_unit_count=_count(pending),
        turn_count=_count(turns),
        latest_turn_status=Subquery(turns.order_by("-turn_index").values("status")[:1]),
        saved_at=Subquery(_saves(OuterRef("pk"))),
    )


def counted_session(project: Project, session_id: str) -> Session:
    """Return one session of the project with base, draft and journal, and with what `with_counts` adds.

    Raises:
        NotFound: as for `session`.
    """
    row = select_counted_session(project.pk, session_id, _SAVE_REASONS)
    if row is None:
        raise unknown_session(session_id)
    row.project = project
    return row


def last_saved_at(session: Session) -> datetime | None:
    """Return when the session was last saved into a base or a fork, or None."""
    return _saves(session.pk).first()


_SAVE_REASONS = ("save", "save-fork", "fork")


def _saves(session_pk: int | OuterRef) -> QuerySet[KBMount, datetime]:
    """Return the times of the session's saves, latest first; each save mounts the saved base."""
    saves = KBMount.objects.filter(session=session_pk, reason__in=_SAVE_REASONS).order_by("-pk")
    return saves.values_list("mounted_at", flat=True)[:1]


def _count(rows: QuerySet) -> Coalesce:
    """Return how many rows a correlated query finds."""
    counted = rows.order_by().values("session").annotate(row_count=Count("pk")).values("row_count")
    return Coalesce(Subquery(counted), Value(0))


def filtered_sessions(
    project: Project, *, words: str | None = None, status: str | None = None, kb_id: str | None = None
) -> QuerySet[Session]:
    """Return the project's sessions that match, with their counts.

    Args:
        words: part of the title, of the first message, or the beginning of the id.
        status: active, running, failed (how its latest turn ended), or expired.
        kb_id: the mounted knowledge base; `default` is an alias.
    """
    sessions = with_counts(listed_sessions(project))
    if words:
        sessions = sessions.filter(
            Q(title__icontains=words) | Q(first_message__icontains=words) | Q(session_id__startswith=words)
        )
    if kb_id == "default":
        sessions = sessions.filter(mounted_kb__is_default=True)
    elif kb_id:
        sessions = sessions.filter(mounted_kb__kb_id=kb_id)
    if status is None:
        return sessions
    # `isnull` first: a session without turns has a null status, and NOT of null matches nothing.
    ended_badly = Q(latest_turn_status__isnull=False, latest_turn_status__in=_FAILED)
    running = Q(latest_turn_status__isnull=False, latest_turn_status=ExplainabilityTurn.Status.RUNNING)
    if status == "running":
        return sessions.filter(running)
    sessions = sessions.exclude(running)
    if status == "expired":
        return sessions.filter(overdue())
    return sessions.exclude(overdue()).filter(ended_badly if status == "failed" else ~ended_badly)


def overdue(prefix: str = "") -> Q:
    """Return the condition that a session has expired, swept or not; `prefix` is the lookup path to the session."""
    return Q(**{f"{prefix}expired_at__isnull": False}) | Q(**{f"{prefix}expires_at__lt": timezone.now()})


_FAILED = (ExplainabilityTurn.Status.FAILED, ExplainabilityTurn.Status.INTERRUPTED)


def session_status(session: Session) -> str:
    """Return the state of a session that has its counts: running, expired, failed or active."""
    latest = session.latest_turn_status  # type: ignore[attr-defined]  # by `with_counts`
    if latest == ExplainabilityTurn.Status.RUNNING:
        return "running"
    if session.is_expired:
        return "expired"
    return "failed" if latest in _FAILED else "active"


def newest_of_user(session: Session, limit: int) -> list[str]:
    """Return the user's newest messages, the oldest of them first."""
    said = session.messages.filter(role=Message.Speaker.USER).order_by("-sequence")
    return list(said.values_list("content", flat=True)[:limit])[::-1]


def messages(session: Session) -> QuerySet[Message]:
    """Return the conversation in order, each message with its turn's id."""
    return session.messages.select_related("turn").order_by("sequence")


def units(session: Session, state: str | None = None) -> QuerySet[ContextUnit]:
    """Return the session's units, oldest first, each with the turn that brought it in."""
    rows = session.context_units.select_related("turn").order_by("id")
    return rows if state is None else rows.filter(state=state)


def mounts(session: Session) -> QuerySet[KBMount]:
    """Return the history of mounts, newest first."""
    return session.mounts.select_related("knowledge_base", "mounted_by").order_by("-id")


def events_since(session_pk: int, sequence: int) -> QuerySet[SessionEvent]:
    """Return the session's events after `sequence`, in order."""
    return SessionEvent.objects.filter(session_id=session_pk, sequence__gt=sequence).order_by("sequence")


class SessionReader(NamedTuple):
    """A user with one login, or a client with a key, who reads the session with this id."""

    login: BrowserLogin | KeyLogin
    session_id: str


class SeenSession(NamedTuple):
    """A session's key, and the present state of its mounted base; the session may see an earlier revision."""

    pk: int
    base_pk: int
    kb_id: str
    revision: int


def visible_sessions(readers: Collection[SessionReader]) -> dict[SessionReader, SeenSession]:
    """Return the session to each reader who may see it now; for sockets, which outlive their request.

    A reader is left out if the user has logged out, has a new password, was deactivated or left the project, if the key
    was revoked, or if the session was deleted.
    """
    projects = _projects_of({reader.login for reader in readers})
    sessions = Session.objects.filter(
        session_id__in={reader.session_id for reader in readers},
        deleted_at__isnull=True,
        project_id__in=set(projects.values()),
    )
    # An id chosen by a client is unique only in its project.
    columns = ("pk", "mounted_kb_id", "mounted_kb__kb_id", "mounted_kb__revision")
    seen = {
        (project, name): SeenSession(*rest)
        for project, name, *rest in sessions.values_list("project_id", "session_id", *columns)
    }
    visible = {
        reader: seen.get((projects[reader.login], reader.session_id)) for reader in readers if reader.login in projects
    }
    return {reader: session for reader, session in visible.items() if session is not None}


def is_deleted(reader: SessionReader) -> bool:
    """Return whether the reader would see the session if it was not deleted."""
    project_pk = _projects_of({reader.login}).get(reader.login)
    deleted = Session.objects.filter(session_id=reader.session_id, deleted_at__isnull=False)
    return project_pk is not None and deleted.filter(project_id=project_pk).exists()


def _projects_of(logins: Collection[BrowserLogin | KeyLogin]) -> dict[BrowserLogin | KeyLogin, int]:
    """Return the key of the project that each login shows; a login that has ended is left out."""
    keys = [login for login in logins if isinstance(login, KeyLogin)]
    browsers = lasting_logins([login for login in logins if isinstance(login, BrowserLogin)])
    by_key = projects_of_keys({login.key_pk for login in keys})
    by_user = shown_projects({login.user_pk for login in browsers})
    return {
        **{login: by_key[login.key_pk] for login in keys if login.key_pk in by_key},
        **{login: by_user[login.user_pk] for login in browsers if login.user_pk in by_user},
    }

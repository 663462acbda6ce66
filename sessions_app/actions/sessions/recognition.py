"""Find the session of a conversation that a client sends in full, and the one that continues after an expiry."""

from collections.abc import Callable
from copy import replace
from dataclasses import dataclass

from django.db import transaction

from mrpvm.errors import Conflict
from sessions_app.actions.sessions.forks import fork_session, forking
from sessions_app.actions.sessions.histories import History, begin_session
from sessions_app.actions.sessions.memory import carry_memory
from sessions_app.actions.sessions.session import Choices
from sessions_app.models import ExplainabilityTurn, KnowledgeBase, Project, Session
from sessions_app.models.sessions.session import ForkReason
from sessions_app.queries.sessions.conversations import continuation, recognised_point

AMBIGUOUS = "conversation_ambiguous"
EXPIRED = "session_expired_restarted"
UNREAD = "history_partly_read"
"""Only the newest messages of a history were searched for facts, up to `MRPVM_MAX_HISTORY_CHARS`; of those that a
continued answer brings along, only the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedSession:
    """The session to talk in, how it was found, and what the client should know about that.

    `continues_at` is the sequence number of the message that the request continues from, if it names one. Another turn
    may be added after that message before the request's own turn.
    """

    session: Session
    how: str
    continues_at: int | None = None
    warnings: tuple[str, ...] = ()


def recognise_session(
    project: Project,
    conversation_hash: str | None,
    read: Callable[[], History],
    choices: Choices | None = None,
    base: KnowledgeBase | None = None,
) -> RecognisedSession:
    """Return the session whose conversation so far has a hash; a fork where it branches off an older turn.

    An unknown conversation becomes a new session with that history. So does one that matches several sessions, because
    two people may begin in the same way. An empty conversation is never recognised.

    Args:
        conversation_hash: None for an empty conversation.
        read: returns the conversation so far; called if it is not recognised.

    Raises:
        whatever `begin_session` raises.
    """
    point, is_ambiguous = recognised_point(conversation_hash) if conversation_hash else (None, False)
    if point is None:
        history = read()
        session = begin_session(project, history, choices, base=base, conversation_hash=conversation_hash)
        ambiguous = (AMBIGUOUS,) if is_ambiguous else ()
        unread = (UNREAD,) if history.unread_count else ()
        how = "imported" if conversation_hash else "new"
        return RecognisedSession(session=session, how=how, warnings=(*ambiguous, *unread))
    if point.session.message_sequence != point.sequence:
        return RecognisedSession(session=fork_session(point.session, point.sequence, ForkReason.EDITED), how="forked")
    resumed = resume_session(point.session)
    return resumed if resumed.warnings else replace(resumed, how="recognised", continues_at=point.sequence)


def resume_session(session: Session) -> RecognisedSession:
    """Return the session, or if it has expired the session that continues it, created if there is none."""
    latest = continuation(session)
    if latest.is_expired:
        return RecognisedSession(session=_restart(latest), how="restarted", warnings=(EXPIRED,))
    return RecognisedSession(session=latest, how="named", warnings=() if latest.pk == session.pk else (EXPIRED,))


def _restart(expired: Session) -> Session:
    """Return the session that continues an expired one; concurrent requests wait for the lock on its row."""
    with forking(expired, expired.message_sequence) as fork, transaction.atomic():
        Session.objects.select_for_update().get(pk=expired.pk)
        latest = continuation(expired)
        if latest.pk != expired.pk:
            return resume_session(latest).session
        fork_session = fork(ForkReason.EXPIRED)
        carry_memory(expired, fork_session)
        return fork_session


def continue_after(turn: ExplainabilityTurn) -> RecognisedSession:
    """Return the session to continue from a succeeded turn: its own for the latest turn, a fork for an older one."""
    answered_at = turn.messages.order_by("-sequence").values_list("sequence", flat=True).first()
    if answered_at is None:
        raise Conflict("What this response said was taken out of its conversation.")
    if turn.session.message_sequence != answered_at:
        return RecognisedSession(session=fork_session(turn.session, answered_at, ForkReason.EDITED), how="forked")
    resumed = resume_session(turn.session)
    return resumed if resumed.warnings else replace(resumed, continues_at=answered_at)

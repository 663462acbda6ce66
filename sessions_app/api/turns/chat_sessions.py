"""Which session a chat request means: the named one, a new one, or one under the client's own name."""

from collections.abc import Mapping, Sequence
from copy import replace
from typing import Any

from django.db import IntegrityError

from mrpvm.errors import InvalidInput, NotFound
from sessions_app.actions.sessions.histories import begin_session
from sessions_app.actions.sessions.recognition import UNREAD, RecognisedSession, continue_after, resume_session
from sessions_app.actions.sessions.session import Choices
from sessions_app.api.shell.authentication import Access
from sessions_app.api.turns.response_ids import request_id_of
from sessions_app.identifiers import OWN_SESSIONS
from sessions_app.ingest.histories import read_history
from sessions_app.models import KnowledgeBase, Session
from sessions_app.queries.sessions.conversations import response_turn
from sessions_app.queries.sessions.lookups import known_session, session_reference, unknown_session

SESSION_HEADER = "X-Session-Id"
NAME_CHARS = 128
_NO_ID = {"", "null", "undefined"}
_HISTORY_KEYS = ("conversation_history", "conversation_context", "conversationHistory")
"""The names of an explicit history, the one that counts first."""


def find_or_begin_session(
    access: Access,
    body: Mapping[str, Any],
    header_id: str | None,
    choices: Choices,
    base: KnowledgeBase | None,
) -> RecognisedSession:
    """Return the session that a validated chat request talks to, creating it with its history if the request may.

    Raises:
        NotFound: SESSION_NOT_FOUND: ours and unknown, or a foreign name without a sign that the client names sessions;
            the caller may not talk in it.
        InvalidInput: the client's name cannot be one.
    """
    project, history = access.project, explicit_history(body)
    session_id = usable_id(body.get("session_id")) or usable_id(header_id)
    if session_id is not None:
        try:
            found = known_session(project, session_id) if base is None else session_reference(project, session_id)
            return _named_session(access, found)
        except NotFound:
            if session_id.startswith(OWN_SESSIONS) or (usable_id(header_id) is None and history is None):
                raise
            check_client_name(session_id)
    told = read_history(project, history or ())
    try:
        session = begin_session(project, told, choices, base=base, client_name=session_id)
        how = "named" if session_id else "new"
        return RecognisedSession(session=session, how=how, warnings=(UNREAD,) if told.unread_count else ())
    except IntegrityError:
        if session_id is None:
            raise
        # Another request used the name first, or the name belongs to a session that was deleted.
        return _named_session(access, session_reference(project, session_id))


def _named_session(access: Access, session: Session) -> RecognisedSession:
    # Where the session is another caller's, the answer is that for an id that nobody uses.
    if not access.may_talk_in(session):
        raise unknown_session(session.session_id)
    return RecognisedSession(session=session, how="named")


def resolve_chat_session(
    access: Access,
    body: Mapping[str, Any],
    header_id: str | None,
    choices: Choices,
    base: KnowledgeBase | None,
) -> RecognisedSession:
    """Return the session that a validated request talks in: after the answer that it names, else the one of its id.

    Raises:
        whatever `continue_session` and `find_or_begin_session` raise.
    """
    previous = usable_id(body.get("previous_response_id"))
    if previous is not None:
        return continue_session(access, previous, body.get("session_id") or header_id)
    found = find_or_begin_session(access, body, header_id, choices, base)
    # The client cannot know that a session under its own name has expired.
    return resume(found) if found.session.is_client_named else found


def resume(found: RecognisedSession) -> RecognisedSession:
    """Return a named session, or the one that continues it if it has expired."""
    resumed = resume_session(found.session)
    return replace(resumed, warnings=(*found.warnings, *resumed.warnings))


def continue_session(access: Access, previous: str, named: str | None) -> RecognisedSession:
    """Return the session that continues from an earlier answer: a fork unless that was the latest one.

    Args:
        named: the session that the request names too, if it does.

    Raises:
        NotFound: RESPONSE_NOT_FOUND, no turn of the project has answered under this id, or none of a session that the
            caller may talk in.
        InvalidInput: the answer is of another session than the named one.
        Conflict: what it said was taken out of its conversation.
    """
    turn = response_turn(access.project, request_id_of(previous))
    if turn is None or turn.status != "succeeded" or not access.may_talk_in(turn.session):
        raise NotFound(f"There is no response '{previous}' to go on from.", code="RESPONSE_NOT_FOUND")
    if usable_id(named) not in (None, turn.session.session_id):
        raise InvalidInput("previous_response_id is of another session than session_id.")
    if turn.session.is_expired and not turn.session.is_client_named:
        return RecognisedSession(session=turn.session, how="named")  # which refuses the turn, as under its own id
    return continue_after(turn)


def explicit_history(body: Mapping[str, Any]) -> Sequence[Mapping[str, str]] | None:
    """Return the history that a validated request brings along, None if it brings none.

    Of several names the first with anything in it counts.
    """
    histories = [body[key] for key in _HISTORY_KEYS if body.get(key) is not None]
    return next((history for history in histories if history), histories[0] if histories else None)


def check_client_name(name: str) -> None:
    """Refuse what cannot be in an address.

    Raises:
        InvalidInput: not 1 to 128 printable characters, or with a slash, or dots alone.
    """
    if len(name) > NAME_CHARS or not name.isprintable() or "/" in name or not name.strip("."):
        raise InvalidInput(f"A session's name has 1 to {NAME_CHARS} printable characters, none of them a slash.")


def usable_id(session_id: str | None) -> str | None:
    """Return the id without blanks around it, None for what represents no id."""
    trimmed = (session_id or "").strip()
    return None if trimmed in _NO_ID else trimmed

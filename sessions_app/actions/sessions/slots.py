"""The turn slot, which every change of a session's state has to hold."""

import time
from collections.abc import Callable

from django.db import transaction

from mrpvm.errors import Conflict, Expired, NotFound
from sessions_app.models import ExplainabilityTurn, Session

_POLL_SECONDS = 0.05


def lock_session(session_pk: int) -> Session:
    """Return the session with its row locked until the end of the running transaction.

    Raises:
        NotFound: SESSION_NOT_FOUND, it was deleted.
        Expired: SESSION_EXPIRED.
        Conflict: SESSION_READ_ONLY, it was imported.
    """
    # Lock this row alone: a joined query that waits would return the base, draft and journal from before the wait.
    if not Session.objects.select_for_update().filter(pk=session_pk).values_list("pk"):
        raise _not_found()
    session = Session.objects.select_related("mounted_kb", "draft", "journal").get(pk=session_pk)
    if session.deleted_at is not None:
        raise _not_found()
    if session.is_expired:
        raise _expired(session)
    return session


def refusal_of(session_pk: int) -> NotFound | Expired | Conflict:
    """Return the error that says why a session takes no turn: it was deleted, has expired, or was imported."""
    session = Session.objects.filter(pk=session_pk).first()
    return _not_found() if session is None or session.deleted_at is not None else _expired(session)


def _not_found() -> NotFound:
    return NotFound("There is no such session.", code="SESSION_NOT_FOUND")


def _expired(session: Session) -> Expired | Conflict:
    if session.imported_at is not None:
        return Conflict(
            "The session was imported from a bundle: it can be read, and its turns run again, but it takes no more.",
            code="SESSION_READ_ONLY",
            details={"imported_at": session.imported_at.isoformat()},
        )
    return Expired(
        "The session has expired. It can still be read; start a new one to go on.",
        details={"expires_at": session.expires_at.isoformat() if session.expires_at else None},
    )


def lock_idle_session(session_pk: int) -> Session:
    """Return the locked session if no turn is running in it.

    Raises:
        Conflict: TURN_IN_PROGRESS with the running turn's id.
    """
    session = lock_session(session_pk)
    running = ExplainabilityTurn.running_in(session)
    if running is not None:
        raise turn_in_progress(running)
    return session


def change_idle_session[Result](session_pk: int, change: Callable[[Session], Result], wait_ms: int = 0) -> Result:
    """Call `change` with the locked session in a transaction of its own, and return its result.

    Raises: as for `lock_idle_session`, once a turn has been running for `wait_ms`.
    """

    @transaction.atomic
    def attempt() -> Result:
        return change(lock_idle_session(session_pk))

    return waiting_for_slot(wait_ms, attempt)


def turn_in_progress(running: ExplainabilityTurn | None) -> Conflict:
    """Return the error for a busy session, with the running turn's id if it still runs."""
    return Conflict(
        "Another turn is running in this session.",
        code="TURN_IN_PROGRESS",
        details={"running_request_id": running.request_id if running else None},
    )


def waiting_for_slot[Result](wait_ms: int, attempt: Callable[[], Result]) -> Result:
    """Return the result of `attempt`, repeated for up to `wait_ms` while another turn holds the slot."""
    deadline = time.monotonic() + wait_ms / 1000
    while True:
        try:
            return attempt()
        except Conflict as error:
            if error.code != "TURN_IN_PROGRESS" or time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)

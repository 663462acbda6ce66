"""The turn slot: whatever changes a session's state holds it [O-47, T-3]."""

import time
from collections.abc import Callable

from django.utils import timezone

from mrpvm.errors import Conflict, Expired, NotFound
from sessions_app.models import ExplainabilityTurn, Session

_POLL_SECONDS = 0.05


def lock_session(session_pk: int) -> Session:
    """Give the session with its row locked until the end of the running transaction.

    Raises:
        NotFound: SESSION_NOT_FOUND, it was deleted.
        Expired: SESSION_EXPIRED; an expired session is an archive [O-15].
    """
    session = (
        Session.objects.select_for_update(of=("self",))
        .select_related("mounted_kb", "draft", "journal")
        .filter(pk=session_pk, deleted_at__isnull=True)
        .first()
    )
    if session is None:
        raise NotFound("There is no such session.", code="SESSION_NOT_FOUND")
    if session.is_expired:
        raise Expired(
            "The session has expired. It can still be read; start a new one to go on.",
            details={"expires_at": session.expires_at.isoformat() if session.expires_at else None},
        )
    return session


def lock_idle_session(session_pk: int) -> Session:
    """Give the locked session if no turn is running in it.

    Raises:
        Conflict: TURN_IN_PROGRESS with the running turn's id [O-19].
    """
    session = lock_session(session_pk)
    running = running_turn(session)
    if running is not None:
        raise Conflict(
            "Another turn is running in this session.",
            code="TURN_IN_PROGRESS",
            details={"running_request_id": running.request_id},
        )
    return session


def running_turn(session: Session) -> ExplainabilityTurn | None:
    """Give the session's running turn whose lease is still good."""
    return session.turns.filter(status=ExplainabilityTurn.Status.RUNNING, lease_until__gte=timezone.now()).first()


def waiting_for_slot[Result](wait_ms: int, attempt: Callable[[], Result]) -> Result:
    """Give what `attempt` gives, trying again for up to `wait_ms` while another turn holds the slot [O-19]."""
    deadline = time.monotonic() + wait_ms / 1000
    while True:
        try:
            return attempt()
        except Conflict as error:
            if error.code != "TURN_IN_PROGRESS" or time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)

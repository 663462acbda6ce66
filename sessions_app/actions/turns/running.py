"""Lock running turns, and request their cancellation."""

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict
from sessions_app.models import ExplainabilityTurn, Session

_RUNNING = ExplainabilityTurn.Status.RUNNING


def lock_running_turn(turn_pk: int) -> ExplainabilityTurn | None:
    """Return a running turn with its session, both rows locked until the end of the running transaction.

    Return None if there is no such turn or it has ended.
    """
    turn = ExplainabilityTurn.objects.filter(pk=turn_pk).only("session_id").first()
    if turn is None:
        return None
    session = Session.objects.select_for_update().get(pk=turn.session_id)
    turn = ExplainabilityTurn.objects.select_for_update().filter(pk=turn_pk, status=_RUNNING).first()
    if turn is not None:
        turn.session = session
    return turn


def reload_locked(turn: ExplainabilityTurn) -> None:
    """Lock the rows of the turn and its session until the end of the running transaction, and read both again.

    The turn may have ended meanwhile.
    """
    session = Session.objects.select_for_update().get(pk=turn.session_id)
    turn.refresh_from_db(from_queryset=ExplainabilityTurn.objects.select_for_update())
    turn.session = session


@transaction.atomic
def request_cancel(turn: ExplainabilityTurn) -> None:
    """Ask the turn to end, in whichever process it runs; it ends as cancelled within about 100 ms of its next wait.

    Raises:
        Conflict: the turn has ended already.
    """
    stored = ExplainabilityTurn.objects.filter(pk=turn.pk)
    if not stored.filter(status=_RUNNING).update(cancel_requested_at=timezone.now()):
        status = stored.values_list("status", flat=True).first()  # the caller may have read the turn before its end
        raise Conflict("The turn has ended already.", code="TURN_NOT_RUNNING", details={"status": status})

"""The start of a turn: it takes its session's slot, which one running turn holds at a time."""

from collections.abc import Callable
from copy import replace
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from mrpvm.errors import Conflict
from sessions_app import events, shutdown
from sessions_app.actions.knowledge import mounts as kb_mounts
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import beginning_of
from sessions_app.actions.sessions.slots import refusal_of, turn_in_progress, waiting_for_slot
from sessions_app.actions.settings.audit import asking_name
from sessions_app.exclusive import process_key
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session
from sessions_app.models.durability import durable_later
from sessions_app.models.named_sql import advance_session, insert_rows, read_related
from sessions_app.models.sessions.session import ForkReason, expiry_after
from sessions_app.tracing import trace_id_of
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import TurnEnd, unclosed
from sessions_app.turns.machine import machine, turn_limits
from sessions_app.turns.recovery import INTERRUPTED, recover_abandoned


class SessionMovedOn(Conflict):
    """Another turn has added to the conversation that the call continues from."""


def start_turn(
    session: Session, call: TurnCall, take_place: Callable[[], None] = lambda: None, wait_ms: int = 0
) -> ExplainabilityTurn:
    """Take the session's slot and return the running turn; in a fork if the session has changed meanwhile.

    Args:
        take_place: called once the slot is free; what it raises leaves no turn behind.
        wait_ms: how long to wait for a slot that another turn holds.

    Raises:
        NotFound, Expired, Conflict: there is no such session any more, or it is busy, or its draft is dirty.
        Unavailable: the server ends.

    Effects: an abandoned turn is recovered; then in one transaction: another base is mounted if asked for, the
    running row, leftovers gone, activity, `turn.started`.
    """

    def start() -> ExplainabilityTurn:
        try:
            return _mount_and_take_slot(session, call, take_place)
        except SessionMovedOn:
            fork = fork_session(session, call.continues_at or 0, ForkReason.EDITED)
            return _mount_and_take_slot(fork, replace(call, continues_at=None), take_place)

    return in_slot(wait_ms, start)


def in_slot[Result](wait_ms: int, attempt: Callable[[], Result]) -> Result:
    """Return what `attempt` returns once the slot is free; a shutdown of the server refuses those who wait."""

    def unless_over() -> Result:
        shutdown.refuse_new_turns()
        return attempt()

    return waiting_for_slot(wait_ms, unless_over)


def _mount_and_take_slot(session: Session, call: TurnCall, take_place: Callable[[], None]) -> ExplainabilityTurn:
    """Store the running row and return it; another base that is asked for is mounted in the same transaction."""
    if call.base is None or call.base.pk == session.mounted_kb_id:
        return _take_slot(session, call, take_place)
    running = ExplainabilityTurn.running_in(session)
    if running is not None:  # a waiting caller tries again, and copies units once the turn is over
        raise turn_in_progress(running)
    clock, time_ms = machine().clock, turn_limits().request_timeout_ms
    with kb_mounts.mounting(session, call.base) as mount:
        ends_at_ms = clock.monotonic_ms() + time_ms
        return _take_slot(
            session, call, take_place, lambda: mount("chat", patience=lambda: ends_at_ms - clock.monotonic_ms())
        )


def _take_slot(
    session: Session,
    call: TurnCall,
    take_place: Callable[[], None],
    mount: Callable[[], object] = lambda: None,
) -> ExplainabilityTurn:
    """Store the running row and return it; the database's constraint says whether the slot was free."""
    while True:
        try:
            return _commit_start(session, call, take_place, mount)
        except IntegrityError as error:
            if not _is_slot_taken(error):
                raise
            if recover_abandoned(session):
                continue
            running = ExplainabilityTurn.running_in(session)
            if running is not None:  # else the slot has become free meanwhile
                raise turn_in_progress(running) from error


def _is_slot_taken(error: IntegrityError) -> bool:
    """Return whether the constraint of one running turn a session failed: PostgreSQL names it, SQLite its column."""
    text = str(error)
    return "turn_one_running_a_session" in text or text.endswith("explainabilityturn.session_id")


def _commit_start(
    session: Session, call: TurnCall, take_place: Callable[[], None], mount: Callable[[], object]
) -> ExplainabilityTurn:
    turn = None
    try:
        with durable_later(), transaction.atomic():  # until its end nobody was told an answer
            turn = _insert_turn(session, call, take_place, mount)
    except OperationalError:
        if turn is not None:  # the commit may have been carried out, and only its answer lost
            unclosed.note(turn.request_id, TurnEnd(INTERRUPTED))
        raise
    return turn


def _insert_turn(
    named: Session, call: TurnCall, take_place: Callable[[], None], mount: Callable[[], object]
) -> ExplainabilityTurn:
    limits = turn_limits()
    mount()
    now = timezone.now()
    advanced = advance_session(named.pk, beginning_of(call.message), now, expiry_after(now))
    if advanced is None:
        raise refusal_of(named.pk)
    session, has_leftovers = advanced
    read_related(session, "mounted_kb", "draft", "journal")
    if "project" in named._state.fields_cache:
        session.project = named.project  # the caller has read it
    if call.continues_at is not None and session.message_sequence != call.continues_at:
        raise SessionMovedOn("The conversation has gone on since.")
    level = call.choices.deliberation_level
    turn = ExplainabilityTurn(
        session=session,
        turn_index=session.turn_sequence,
        user_message=call.typed or call.message,
        asked_by=asking_name(),
        lease_until=now + timedelta(milliseconds=limits.request_timeout_ms + settings.MRPVM_LEASE_EXTRA_MS),
        process=process_key(),
        deliberation_level=session.preferred_deliberation_level if level is None else level,
        model=call.choices.model or session.preferred_model,
        client_request=call.client_request,
    )
    turn.trace_id = trace_id_of(turn.request_id)
    started = events.TurnFacts(request_id=turn.request_id, turn_index=turn.turn_index)
    insert_rows([turn], with_keys=True, along=events.event_writes(session, [("turn.started", started)]))
    take_place()
    if has_leftovers:
        session.context_units.filter(state=ContextUnit.State.PENDING).delete()
    return turn

"""Prepare: take the slot, read the session, freeze what the turn may look at [T-2 to T-6]."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone
from django.utils.text import Truncator

from mrpvm.conversation.context import ContextReport
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.guarded_model import GuardedModels
from mrpvm.conversation.guardrails import denial
from mrpvm.conversation.preparation import prepare_turn
from mrpvm.conversation.session_memory import Memory
from mrpvm.conversation.summary import Summary
from mrpvm.errors import Conflict, InvalidInput, TooLarge
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.chain import Chain
from mrpvm.llm.port import ModelSource
from mrpvm.values import TurnRequest
from sessions_app import events
from sessions_app.actions import kb_mounts
from sessions_app.actions.activity import ACTIVITY_FIELDS, touch
from sessions_app.actions.artifacts import keep_artifacts
from sessions_app.actions.sessions import check_choices
from sessions_app.actions.slots import lock_session, running_turn, turn_in_progress
from sessions_app.language_model import model_source
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session
from sessions_app.models.plain_sql import delete_rows, insert_keyed_rows, save_columns
from sessions_app.queries.flags import flags_of
from sessions_app.search.knowledge import SessionKnowledge
from sessions_app.turns.call import TurnCall
from sessions_app.turns.chains import chain_of
from sessions_app.turns.close import undone
from sessions_app.turns.machine import machine, turn_limits
from sessions_app.turns.preparation_model import PreparationModel
from sessions_app.turns.recovery import INTERRUPTED, recover_abandoned
from sessions_app.turns.skill_choice import with_chosen_skill
from sessions_app.turns.state import read_state
from sessions_app.turns.unclosed import TurnEnd, unclosed

FIRST_MESSAGE_CHARS = 60


class SessionMovedOn(Conflict):
    """Another turn has added to the conversation that the call goes on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A turn that holds its session's slot, with everything that running and committing it needs.

    `call` is what was asked, with the skill that a model chose for it. `memory` is what earlier turns left.
    """

    turn: ExplainabilityTurn
    call: TurnCall
    flags: Flags
    request: TurnRequest
    report: ContextReport
    new_summary: Summary | None
    knowledge: TurnKnowledge
    models: ModelSource
    memory: Memory | None
    chain: Chain | None = None


def check_call(call: TurnCall) -> None:
    """Refuse what can be refused before any turn exists [T-1].

    Raises:
        InvalidInput: an empty message, one that policy denies [L-117], an unknown plugin, a bad level.
        TooLarge: NORMALIZER_INPUT_TOO_LARGE [S-31].
    """
    if not call.message.strip():
        raise InvalidInput("The message is empty.", code="INVALID_CONTENT")
    limit = settings.MRPVM_MAX_MESSAGE_CHARS
    if len(call.message) > limit:
        raise TooLarge(
            f"The message has {len(call.message)} characters; {limit} are allowed. Longer material belongs into the"
            " session's context or a knowledge base.",
            code="NORMALIZER_INPUT_TOO_LARGE",
            details={"limit_chars": limit, "size_chars": len(call.message)},
        )
    reason = denial(call.message) if settings.MRPVM_GUARDRAILS else None
    if reason is not None:
        raise InvalidInput(f"The message {reason}; it was not read.", code="POLICY_DENIED")
    check_choices(call.choices)


def prepare(session: Session, call: TurnCall, take_place: Callable[[], None] = lambda: None) -> Prepared:
    """Take the session's slot and return the turn with everything it may look at.

    Args:
        take_place: called once the slot is free; what it raises leaves no turn behind.

    Raises:
        NotFound, Expired, Conflict: there is no such session any more, or it is busy, or its draft is dirty.
        SessionMovedOn: it holds more than what the call goes on from.
        TurnError: what it may look at could not be read; the turn is closed [T-32].

    Effects: an abandoned turn is recovered; then in one transaction: another base is mounted if asked for, the
    running row, leftovers gone, activity, `turn.started`.
    """
    turn = _start_turn(session, call, take_place)
    model = PreparationModel(turn)
    chain = chain_of(turn.session, call)
    try:
        flags = flags_of(turn.session, call.flags)
        call = with_chosen_skill(turn.session, call, flags, model)
        knowledge = SessionKnowledge.of(turn.session, keep_artifacts)
        state = read_state(turn, call, flags, index_is_outdated=knowledge.view.is_outdated)
        prepared = prepare_turn(state, model)
        models = model_source(turn.session.model_config, call.sampling, chain)
        return Prepared(
            turn=turn,
            call=call,
            flags=flags,
            request=prepared.request,
            report=prepared.report,
            new_summary=prepared.new_summary,
            knowledge=knowledge,
            models=GuardedModels(models) if settings.MRPVM_GUARDRAILS else models,
            memory=state.memory,
            chain=chain,
        )
    except Exception as defect:
        raise undone(turn, call, defect, "context-pack") from defect


def _start_turn(session: Session, call: TurnCall, take_place: Callable[[], None]) -> ExplainabilityTurn:
    """Store the running row and return it; another base that is asked for is mounted in the same transaction."""
    if call.base is None or call.base.pk == session.mounted_kb_id:
        return _take_slot(session, call, take_place)
    running = running_turn(session)
    if running is not None:  # who waits for it comes back, and brings units along once it is over
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
    """Store the running row and return it; the database's constraint says whether the slot was free [T-3]."""
    while True:
        try:
            return _insert_turn(session, call, take_place, mount)
        except IntegrityError as error:
            if not _is_slot_taken(error):
                raise
            if not recover_abandoned(session):
                raise turn_in_progress(running_turn(session)) from error


def _is_slot_taken(error: IntegrityError) -> bool:
    """Return whether the constraint of one running turn a session failed: PostgreSQL names it, SQLite its column."""
    text = str(error)
    return "turn_one_running_a_session" in text or text.endswith("explainabilityturn.session_id")


def _insert_turn(
    session: Session, call: TurnCall, take_place: Callable[[], None], mount: Callable[[], object]
) -> ExplainabilityTurn:
    turn = None
    try:
        with transaction.atomic():
            turn = _inserted_turn(session, call, take_place, mount)
    except OperationalError:
        if turn is not None:  # the commit may have been carried out, and only its answer lost
            unclosed.note(turn.request_id, TurnEnd(INTERRUPTED))
        raise
    return turn


def _inserted_turn(
    named: Session, call: TurnCall, take_place: Callable[[], None], mount: Callable[[], object]
) -> ExplainabilityTurn:
    limits = turn_limits()
    mount()
    session = lock_session(named.pk)
    if "project" in named._state.fields_cache:
        session.project = named.project  # whoever called has read it
    if call.continues_at is not None and session.message_sequence != call.continues_at:
        raise SessionMovedOn("The conversation has gone on since.")
    session.turn_sequence += 1
    level = call.choices.deliberation_level
    turn = ExplainabilityTurn(
        session=session,
        turn_index=session.turn_sequence,
        user_message=call.typed or call.message,
        lease_until=timezone.now() + timedelta(milliseconds=limits.request_timeout_ms + settings.MRPVM_LEASE_EXTRA_MS),
        deliberation_level=session.preferred_deliberation_level if level is None else level,
        model=call.choices.model or session.preferred_model,
        client_request=call.client_request,
    )
    insert_keyed_rows([turn])
    take_place()
    delete_rows(ContextUnit, session_id=session.pk, state=ContextUnit.State.PENDING)
    if not session.first_message:
        session.first_message = Truncator(" ".join(call.message.split())).chars(FIRST_MESSAGE_CHARS)
    touch(session)
    news = {"request_id": turn.request_id, "turn_index": turn.turn_index}
    events.append_to_locked(session, [("turn.started", news)])
    save_columns(session, "turn_sequence", "event_sequence", "first_message", *ACTIVITY_FIELDS)
    return turn

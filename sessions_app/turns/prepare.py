"""Prepare: take the slot, clear leftovers, resolve selections, freeze what the turn may see [T-2 to T-6]."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import Truncator

from mrpvm.conversation.commands.skill_envelope import skill_use
from mrpvm.conversation.guardrails import denial
from mrpvm.conversation.session_memory import Memory
from mrpvm.conversation.system_prompt import system_prompt
from mrpvm.errors import Conflict, InvalidInput, TooLarge
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.chain import Chain
from mrpvm.llm.port import ModelSource
from mrpvm.values import Selection, SessionState, TurnRequest
from sessions_app import events
from sessions_app.actions import kb_mounts
from sessions_app.actions.activity import ACTIVITY_FIELDS, touch
from sessions_app.actions.artifacts import keep_artifacts
from sessions_app.actions.sessions import check_choices
from sessions_app.actions.slots import lock_session, running_turn, turn_in_progress
from sessions_app.language_model import grounding_of, model_source
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session
from sessions_app.models.plain_sql import delete_rows, insert_keyed_rows, save_columns
from sessions_app.queries.flags import flags_of
from sessions_app.queries.plugin_statistics import utilities_for
from sessions_app.search.knowledge import SessionKnowledge
from sessions_app.turns.call import TurnCall
from sessions_app.turns.chains import chain_of
from sessions_app.turns.close import undone
from sessions_app.turns.context import conversation_context
from sessions_app.turns.guarded_model import GuardedModels
from sessions_app.turns.machine import machine, turn_limits
from sessions_app.turns.preparation_model import PreparationModel
from sessions_app.turns.recall import earlier_memory, recall_of, report_of
from sessions_app.turns.recovery import recover_abandoned
from sessions_app.turns.skill_choice import consider_skills
from sessions_app.turns.skills import told_before

FIRST_MESSAGE_CHARS = 60
INDEX_OUTDATED = "index_outdated"
"""A warning: another version has indexed some of what the turn searches, so words may be missed [O-35]."""


class SessionMovedOn(Conflict):
    """Another turn has added to the conversation that the call goes on from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A turn that holds its session's slot; `call` is what was asked, with the skill that a model chose for it."""

    turn: ExplainabilityTurn
    call: TurnCall
    request: TurnRequest
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
    """Give the turn with everything it may look at.

    Args:
        take_place: called once the slot is free; what it raises leaves no turn behind.

    Raises:
        NotFound, Expired, Conflict: there is no such session any more, or it is busy, or its draft is dirty.
        SessionMovedOn: it holds more than what the call goes on from.
        TurnError: what it may look at could not be read; the turn is closed [T-32].

    Effects: an abandoned turn is recovered; then in one transaction: another base is mounted if asked for, the
    running row, leftovers gone, activity, `turn.started`.
    """
    turn = _mounted(session, call, take_place)
    model = PreparationModel(turn)
    chain = chain_of(turn.session, call)
    try:
        call, asked_for_skill = consider_skills(turn, call, model)
        memory = earlier_memory(turn, call)
        request = freeze_request(turn, call, memory, model)
        if model.ended is not None:
            raise model.ended
        if asked_for_skill and turn.context_report is not None:
            turn.context_report["requests"] = [*asked_for_skill, *turn.context_report.get("requests", ())]
            if call.skill is not None:
                turn.context_report["skill"] = call.skill.skill.skill_name
        knowledge = SessionKnowledge.of(turn.session, keep_artifacts)
        if knowledge.view.is_outdated:
            report_of(turn)["warnings"].append(INDEX_OUTDATED)
        models = model_source(turn.session.model_config, call.sampling, chain)
        return Prepared(
            turn=turn,
            call=call,
            request=request,
            knowledge=knowledge,
            models=GuardedModels(models) if settings.MRPVM_GUARDRAILS else models,
            memory=memory,
            chain=chain,
        )
    except Exception as defect:
        raise undone(turn, call, defect, "context-pack") from defect


def _mounted(session: Session, call: TurnCall, take_place: Callable[[], None]) -> ExplainabilityTurn:
    """Give the running row; another base that is asked for is mounted in the transaction that stores it."""
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
    """Give the running row; the database's constraint on it says whether the slot was free [T-3]."""
    while True:
        try:
            return _insert_turn(session, call, take_place, mount)
        except IntegrityError as error:
            if not _is_slot_taken(error):
                raise
            if not recover_abandoned(session):
                raise turn_in_progress(running_turn(session)) from error


def _is_slot_taken(error: IntegrityError) -> bool:
    """Tell whether the constraint of one running turn a session was hurt: PostgreSQL names it, SQLite its column."""
    text = str(error)
    return "turn_one_running_a_session" in text or text.endswith("explainabilityturn.session_id")


@transaction.atomic
def _insert_turn(
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


def freeze_request(
    turn: ExplainabilityTurn, call: TurnCall, memory: Memory | None, model: PreparationModel | None = None
) -> TurnRequest:
    """Give everything a turn may look at, as it stands now [T-2]; reads only.

    Args:
        memory: what earlier turns left.
        model: None for a turn that is only imagined, which asks none.
    """
    session, choices = turn.session, call.choices
    instructions = told_before(session, call.message, call.system_prompt, call.skill)
    flags = flags_of(session, call.flags)
    context = conversation_context(turn, call, flags, instructions, memory, model)
    recall = recall_of(turn, call, flags, context.history, memory, model)
    return TurnRequest(
        request_id=turn.request_id,
        message=call.message,
        system_prompt=system_prompt(instructions),
        skill=skill_use(call.skill),
        skill_choice=call.skill_choice.as_record() if call.skill_choice else None,
        history=context.history,
        recall=recall,
        pins=Selection(
            planner=choices.planner, seed_detector=choices.seed_detector, kb=choices.kb, goal_solver=choices.goal_solver
        ),
        preferences=Selection(
            planner=session.preferred_planner_plugin,
            seed_detector=session.preferred_seed_detector_plugin,
            kb=session.preferred_kb_plugin,
            goal_solver=session.preferred_goal_solver_plugin,
        ),
        deliberation_level=turn.deliberation_level,
        requested_model=choices.model,
        session_model=session.preferred_model,
        grounding=grounding_of(session, choices.grounding),
        is_streamed=call.is_streamed,
        session=SessionState(
            session_id=session.session_id,
            mounted_kb_id=session.mounted_kb.kb_id,
            mounted_kb_name=session.mounted_kb.name,
            message_count=session.message_count,
            session_context_unit_count=session.unit_count,
            deliberation_level=session.preferred_deliberation_level,
        ),
        limits=turn_limits(),
        spent_ms=model.spent_ms if model else 0,
        spent_llm_calls=model.call_count if model else 0,
        utilities=utilities_for(session),
    )

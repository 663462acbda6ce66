"""How a turn ends: committed as a whole, or failed with nothing kept but its entry."""

import logging
from collections.abc import Sequence
from copy import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from mrpvm.commands.orchestration import skill_answer, skill_failure
from mrpvm.conversation.context import ContextReport, MemoryReport
from mrpvm.conversation.rewriting import term_of
from mrpvm.conversation.session_memory import Memory, ResolvedTerm, after_turn
from mrpvm.errors import ErrorRecord, MRPError, TurnCancelled, TurnInterrupted
from mrpvm.llm.redaction import without_secrets
from mrpvm.values import Answer, Selection, TurnOutcome
from sessions_app import events
from sessions_app.actions.sessions.context_units import (
    NO_PROMOTION,
    Promotion,
    announce_promotion,
    judge_units,
    promote_units,
    stage_units,
)
from sessions_app.actions.sessions.conversation_points import mark_conversation
from sessions_app.actions.sessions.memory import insert_memory, memory_write
from sessions_app.actions.sessions.removal import trim_registry
from sessions_app.actions.sessions.session import set_preferences
from sessions_app.actions.sessions.slots import refusal_of
from sessions_app.actions.settings.quotas import count_model_use
from sessions_app.actions.turns.running import reload_locked
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.models.named_sql import Write, store_committed, turn_end, value_insertions, write_all
from sessions_app.provider_threads import CHAIN_BROKEN
from sessions_app.queries.sessions.lookups import is_open
from sessions_app.queries.turns.running import is_running
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import end_failed
from sessions_app.turns.entry import fill_answer, fill_end, fill_usage
from sessions_app.turns.prepare import Prepared
from sessions_app.turns.trace_writer import TraceWriter

logger = logging.getLogger(__name__)

MEMORY_FAILED = "memory_failed"
"""A warning: the turn is not in the session's memory."""
Status = ExplainabilityTurn.Status


def final_report(prepared: Prepared, outcome: TurnOutcome) -> ContextReport:
    """Return the turn's report with what running it added: evidence, model calls, a broken thread of responses."""
    is_broken = prepared.provider_thread is not None and prepared.provider_thread.is_broken
    return report_after(prepared.report.with_warning(CHAIN_BROKEN) if is_broken else prepared.report, outcome)


def report_after(report: ContextReport, outcome: TurnOutcome) -> ContextReport:
    """Return a preparation's report with evidence and model calls of the run that followed it."""
    if outcome.answer is None:
        return report
    lengths = {entry.unit.id: len(entry.unit.text) for group in outcome.answer.groups for entry in group.evidence}
    report = report.with_reading(outcome.read_as).with_evidence(tuple(lengths), sum(lengths.values()))
    return replace(report, model_call_count=sum(stage.llm_calls for stage in outcome.stages))


def commit_turn(
    prepared: Prepared, outcome: TurnOutcome, report: ContextReport, finish_reason: str, trace: TraceWriter
) -> None:
    """Store everything a successful turn leaves, at once.

    Raises:
        TurnInterrupted: the slot is no longer this turn's.
        TurnCancelled: somebody stopped it before this moment.

    Effects: messages, promoted units with their index, preferences, system prompt, ledger, trace, memory, the finished
    entry, activity; `turn.committed`, `units.promoted`, `units.evicted`, `preferences.changed`.
    """
    try:
        _store_success(prepared, outcome, report, finish_reason, trace)
    except IntegrityError as error:
        # After the wait for a session's row PostgreSQL reads that row again, but not the turn's: the former holder may
        # have closed the turn and written its last events.
        if is_running(prepared.turn.pk):
            raise
        raise _refusal(prepared.turn) from error


@transaction.atomic
def _store_success(
    prepared: Prepared, outcome: TurnOutcome, report: ContextReport, finish_reason: str, trace: TraceWriter
) -> None:
    turn, call = prepared.turn, prepared.call
    session = turn.session
    if outcome.answer is None:
        raise ValueError("a successful outcome holds an answer")
    said = _said(session, call, outcome)
    session.message_sequence += len(said)
    staged = outcome.staged_units
    promotion = judge_units(session, staged, call.message) if staged else NO_PROMOTION
    changed = set_preferences(session, _chosen(call, outcome, turn.deliberation_level))
    if call.system_prompt is not None:
        session.system_prompt = call.system_prompt
    if prepared.new_summary is not None:
        session.summary = prepared.new_summary.as_record()
    session.touch()
    news = _news_of_success(turn, outcome, promotion, changed)
    # The session is locked first, as by all code that changes its rows, so that no two transactions deadlock.
    if not store_committed(turn, (*_SESSION_FIELDS, *changed), len(news)):
        raise _refusal(turn)
    promoted = promote_units(turn, session, promotion, len(staged), trace.stagings)
    turn.unit_changes = promotion.as_record()
    fill_answer(turn, outcome.answer, outcome.answer_text)
    turn.command_result = skill_answer(call.commanded_skill, outcome.answer_text)
    fill_usage(turn, trace.events)
    memory, report = _remember(prepared, outcome.answer, report)
    turn.context_report = report.as_record()
    if finish_reason != "stop" and turn.client_request is not None:
        turn.client_request = {**turn.client_request, "finish_reason": finish_reason}
    fill_end(turn, Status.SUCCEEDED, outcome.answer_status, outcome.used, outcome.answer.basis)
    remembered = [memory_write(session, memory, prepared.flags.session_memory_ttl_hours)] if memory else []
    ended, *kept = write_all(
        [
            turn_end(turn, _ENTRY_FIELDS),
            *remembered,
            *promoted,
            *_message_insertions(turn, said),
            *trace.finish(with_ledger=True),
            *events.event_writes(session, news),
        ]
    )
    if not ended:
        raise _refusal(turn)
    count_model_use(session.project_id, turn.model_usage or ())
    if memory and not kept[0]:
        insert_memory(session, memory, prepared.flags.session_memory_ttl_hours)
    if call.conversation_hash is not None:
        mark_conversation(session, call.conversation_hash, call.sent or call.message, outcome.answer_text)
    trim_registry(turn)
    announce_promotion(session, promotion)


def _message_insertions(turn: ExplainabilityTurn, said: Sequence[tuple[str, str]]) -> list[Write]:
    """Return the writes of a turn's messages, which the session's `message_sequence` counts already."""
    first = turn.session.message_sequence - len(said) + 1
    messages = [
        (turn.session_id, turn.pk, sequence, role, content, None, turn.finished_at)
        for sequence, (role, content) in enumerate(said, start=first)
    ]
    return value_insertions(Message, _MESSAGE_COLUMNS, messages)


def _remember(prepared: Prepared, answer: Answer, report: ContextReport) -> tuple[Memory | None, ContextReport]:
    """Return what the session remembers after the turn, None if it is not to, and the report with what was added."""
    turn, flags, known = prepared.turn, prepared.flags, prepared.memory
    if not flags.enable_session_memory:
        return None, report
    try:
        memory = after_turn(
            known,
            turn_index=turn.turn_index,
            subject=term_of(without_secrets(prepared.call.message)),
            answer=answer,
            now=timezone.now(),
        )
    except Exception:
        logger.warning("turn %s was not remembered", turn.request_id, exc_info=True)
        return None, report.with_warning(MEMORY_FAILED)
    known_terms = set(known.resolved_terms) if known else set[ResolvedTerm]()
    left: MemoryReport = {
        "turn_count": memory.turn_count,
        "active_documents": list(memory.document_ids),
        "active_sections": list(memory.active_sections),
        "resolved_terms": [item.term for item in memory.resolved_terms if item not in known_terms],
        "expires_at": memory.expires_at(flags.session_memory_ttl_hours).isoformat(),
    }
    return memory, replace(report, memory={**(report.memory or {}), **left})


def _news_of_success(
    turn: ExplainabilityTurn, outcome: TurnOutcome, promotion: Promotion, changed: events.PreferencesChanged
) -> list[events.News]:
    request_id = turn.request_id
    committed = events.TurnCommitted(
        request_id=request_id,
        turn_index=turn.turn_index,
        answer_status=outcome.answer_status,
        message_sequence=turn.session.message_sequence,
    )
    news: list[events.News] = [("turn.committed", committed)]
    if promotion.added or promotion.discarded or promotion.deduplicated:
        news.append(("units.promoted", events.UnitCount(request_id=request_id, count=len(promotion.added))))
    if promotion.evicted:
        news.append(("units.evicted", events.UnitCount(request_id=request_id, count=len(promotion.evicted))))
    if changed:
        news.append(("preferences.changed", changed))
    return news


@transaction.atomic
def fail_turn(
    turn: ExplainabilityTurn,
    call: TurnCall,
    error: ErrorRecord,
    used: Selection,
    report: ContextReport,
    trace: TraceWriter,
) -> None:
    """Store what a failed turn leaves: its entry, the trace, the record of discarded units, and nothing else.

    A turn that was closed by somebody else meanwhile stays as it is.
    """
    view, conditions = turn.view, turn.conditions_id
    reload_locked(turn)
    if not turn.is_running:
        return
    turn.view, turn.conditions_id = view, conditions
    turn.context_report = report.as_record()
    fill_usage(turn, trace.events)
    count_model_use(turn.session.project_id, turn.model_usage or ())
    write_all([*trace.finish(), *stage_units(turn, trace.stagings)])
    end_failed(turn, turn.session, error, used, skill_failure(call.commanded_skill, error["code"]))
    trim_registry(turn)


def _refusal(turn: ExplainabilityTurn) -> MRPError:
    """Return why a turn cannot be committed: it was stopped, has lost its slot, or its session takes none any more."""
    if not is_open(turn.session_id):
        return refusal_of(turn.session_id)
    if is_running(turn.pk):
        return TurnCancelled("The turn was stopped.")
    return TurnInterrupted("The turn took longer than its lease and was closed by another process.")


_ENTRY_FIELDS = (
    "status", "answer_status", "answer_basis", "finished_at", "duration_ms", "lease_until", "assistant_preview",
    "planner_plugin",
    "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "response_document", "command_result", "unit_changes",
    "is_grounded", "client_request", "context_report", "view", "conditions_id", "outcome", "is_rewritten",
    "left_out_count", "token_count", "model_usage", "cited_sources",
)  # fmt: skip
"""What the end of a successful turn changes in its entry."""


_MESSAGE_COLUMNS = ("session_id", "turn_id", "sequence", "role", "content", "payload", "created_at")
_SESSION_FIELDS = ("system_prompt", "summary", "message_sequence", "unit_count", *Session.ACTIVITY_FIELDS)
"""What a success changes in its session, beside preferences and the number of events."""


def _said(session: Session, call: TurnCall, outcome: TurnOutcome) -> list[tuple[str, str]]:
    """Return the messages that a success leaves, each with the speaker's role."""
    added = [(item.role, item.content) for item in call.added]
    # A source that was loaded before the project chose so may hold secrets.
    answer = session.project.kept(outcome.answer_text)
    return [*added, ("user", call.message), ("assistant", answer)]


def _chosen(call: TurnCall, outcome: TurnOutcome, level: int) -> list[tuple[str, Any]]:
    """Return the preferences a success leaves: the plugins that answered, the level, a named model.

    Where nothing was answered, only the plugins that the request named. A command for a skill leaves none; a skill that
    a model chose leaves none for the solver.
    """
    if call.commanded_skill is not None or not call.remembers_choices:
        return []
    used = outcome.used if outcome.answer_status == "answered" else call.choices
    return [
        ("preferred_planner_plugin", used.planner),
        ("preferred_seed_detector_plugin", used.seed_detector),
        ("preferred_kb_plugin", used.kb),
        ("preferred_goal_solver_plugin", None if call.skill is not None else used.goal_solver),
        ("preferred_deliberation_level", level),
        ("preferred_model", call.choices.model),
    ]

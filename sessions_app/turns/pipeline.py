"""One turn, from call to commit."""

import logging
from collections.abc import Callable, Mapping, Sequence
from copy import replace
from typing import Any

from django.conf import settings
from django.dispatch import Signal
from msgspec import Struct

from mrpvm.commands.orchestration import skill_failure
from mrpvm.conversation.answers import cut_answer
from mrpvm.conversation.context import ContextReport
from mrpvm.errors import ErrorRecord, MRPError, StorageUnavailable
from mrpvm.llm.port import Sampling
from mrpvm.llm.redaction import secrets_remembered
from mrpvm.llm.trace_context import current_trace
from mrpvm.trace.events import AnswerDelta, Event, PluginFinished, UnitsStaged, said
from mrpvm.values import TurnOutcome
from sessions_app.actions.sessions.context_units import notify_staged
from sessions_app.actions.settings.statistics_buffer import statistics_buffer
from sessions_app.database import as_unavailable, give_up_dead_connections, outages_told
from sessions_app.fair_share import fair_share
from sessions_app.logs import logging_with
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.pacing import turn_running
from sessions_app.provider_threads import as_sent, keep_provider_thread
from sessions_app.queries.sessions.diagnostics import outbound_of, sent_requests
from sessions_app.running_turns import running_turns
from sessions_app.tracing import traced_turn
from sessions_app.turns.call import TurnCall, admitted_call, limited
from sessions_app.turns.cancel import CancelWatch
from sessions_app.turns.close import TurnError, end_on_defect, end_turn
from sessions_app.turns.commit import commit_turn, fail_turn, final_report
from sessions_app.turns.live_draft import LiveDraft
from sessions_app.turns.machine import machine
from sessions_app.turns.prepare import Prepared, prepare
from sessions_app.turns.slots import start_turn
from sessions_app.turns.trace_writer import TraceWriter

logger = logging.getLogger(__name__)

turn_ended = Signal()
"""Sent on the turn's thread once its end is stored, whatever the end: `turn`, its machine `events`,
its place in a `trace` or None, and its `answer`, None unless it succeeded.

Receivers connect when the server starts; one that raises is logged, and the turn stays as it is.
"""

Listener = Callable[[ExplainabilityTurn, Event], None]
"""Takes machine events while the turn works, on the turn's thread."""
Reader = Callable[[ExplainabilityTurn, AnswerDelta], None]
"""Takes the pieces of an answer that are no drafts, on the turn's thread."""


class TurnResult(Struct, frozen=True, kw_only=True):
    """A committed turn, what the machine gave, and the events that it emitted.

    `finish_reason` is `length` for an answer that was cut at the client's limit.
    """

    turn: ExplainabilityTurn
    outcome: TurnOutcome
    events: Sequence[Event]
    finish_reason: str = "stop"


@turn_running()
@secrets_remembered()
def run_turn(
    session: Session,
    call: TurnCall,
    *,
    wait_ms: int = 0,
    listen: Listener | None = None,
    read: Reader | None = None,
) -> TurnResult:
    """Answer one message in a session.

    1. refuse what can be refused without a turn
    2. take the session's slot
    3. read the session once and freeze what the turn may look at
    4. run the machine; KB plugins learn of the units it finds before retrieval, and where the turn takes longer than
       `MRPVM_TRACE_FLUSH_MS`, its events and units are stored meanwhile
    5. commit, or fail with nothing kept but the entry
    6. count how the plugins did, whatever the end

    Raises:
        MRPError: before the turn existed; no entry is left.
        TurnError: the turn failed, was cancelled or interrupted; its entry is stored.
    """
    call = admitted_call(call, session.project)
    with running_turns.place(session.project_id) as take_place, fair_share.turn(session.project_id):
        if not wait_ms:  # a caller that may wait takes its place when the session is free
            take_place()
            fair_share.step()
        turn = start_turn(session, call, take_place, wait_ms)
        fair_share.step()
        with logging_with(session_id=turn.session.session_id, turn_id=turn.request_id), traced_turn(turn):
            prepared = prepare(turn, limited(call, turn.session.turn_limits))
            return _run(prepared, listen, read)


def _run(prepared: Prepared, listen: Listener | None, read: Reader | None) -> TurnResult:
    """Run a prepared turn and store how it ended."""
    turn, trace = prepared.turn, TraceWriter(prepared.turn)
    try:
        outcome = _run_machine(prepared, trace, listen, read)
        outcome, finish_reason = _bounded(outcome, prepared.call.sampling, trace)
        report = final_report(prepared, outcome)
    except Exception as defect:  # the trace cannot be written, say: the machine has no place of its own for that
        end_on_defect(turn, prepared.call, defect)
    error = outcome.error or _commit(prepared, outcome, report, finish_reason, trace)
    if error is None:
        keep_provider_thread(turn, prepared.provider_thread)
    else:
        _fail(prepared, error, outcome, report, trace)
    _learn(turn, outcome, error)
    _tell(turn, trace, outcome.answer_text if error is None else None)
    if error is not None:
        raise TurnError(turn, error, turn.command_result, outbound=_outbound(turn, trace))
    return TurnResult(turn=turn, outcome=outcome, events=trace.events, finish_reason=finish_reason)


def _outbound(turn: ExplainabilityTurn, trace: TraceWriter) -> Mapping[str, Any] | None:
    """Return the request for the answer that a failed turn sent, None if that was none or cannot be read."""
    try:
        sent = outbound_of(sent_requests(turn, trace.events))
    except Exception:
        logger.exception("what turn %s sent could not be read", turn.request_id)
        return None
    return as_sent(turn.session_id, sent.body) if sent else None


def _run_machine(prepared: Prepared, trace: TraceWriter, listen: Listener | None, read: Reader | None) -> TurnOutcome:
    turn, clock, request = prepared.turn, machine().clock, prepared.request
    watch, draft = CancelWatch(turn), LiveDraft(turn)
    ends_at_ms = clock.monotonic_ms() + request.limits.request_timeout_ms - request.spent_ms

    @outages_told()
    def emit(event: Event) -> None:
        trace.add(event)
        if isinstance(event.data, AnswerDelta):
            draft.add(event.data)
            if read is not None and not event.data.is_draft:
                read(turn, event.data)
        else:  # while a model writes, it works and not this process
            fair_share.step()
        if listen is not None:
            listen(turn, event)
        if isinstance(event.data, UnitsStaged):
            notify_staged(turn, event.units, patience)
        trace.flush_if_due()

    @outages_told()
    def tick() -> None:
        trace.flush_if_due()
        watch.look()

    def patience() -> float:
        tick()
        return ends_at_ms - clock.monotonic_ms()

    try:
        return machine().run_turn(request, prepared.knowledge, emit, tick, prepared.models)
    finally:
        draft.drop()


def _bounded(outcome: TurnOutcome, sampling: Sampling, trace: TraceWriter) -> tuple[TurnOutcome, str]:
    """Return the outcome with its answer within the client's limits, and why the answer ends.

    A model was sent the limits; an answer that no model wrote is cut here.
    """
    if outcome.answer is None or not (sampling.max_tokens or sampling.stop):
        return outcome, "stop"
    if any(ended.finish_reason == "length" for ended in said(PluginFinished, trace.events)):
        return outcome, "length"
    has_counted = any(item.stage == "goal-solver" and item.llm_calls for item in outcome.stages)
    text, reason = cut_answer(outcome.answer_text, None if has_counted else sampling.max_tokens, sampling.stop)
    return replace(outcome, answer_text=text), reason


def _commit(
    prepared: Prepared, outcome: TurnOutcome, report: ContextReport, finish_reason: str, trace: TraceWriter
) -> ErrorRecord | None:
    """Commit; return the error if that fails, so that every failure ends in the same place."""
    try:
        with outages_told():
            commit_turn(prepared, outcome, report, finish_reason, trace)
    except MRPError as error:
        return error.as_record()
    except Exception as error:
        logger.exception("the commit of turn %s failed", prepared.turn.request_id)
        return MRPError(f"The turn could not be stored ({type(error).__name__}).").as_record()
    return None


def _fail(
    prepared: Prepared, error: ErrorRecord, outcome: TurnOutcome, report: ContextReport, trace: TraceWriter
) -> None:
    """Store the failure; with what the trace holds already if the rest cannot be written."""
    turn, call = prepared.turn, prepared.call
    give_up_dead_connections()
    try:
        fail_turn(turn, call, error, outcome.used, report, trace)
    except Exception as defect:
        if not isinstance(as_unavailable(defect), StorageUnavailable):
            logger.exception("the failure of turn %s could not be stored whole", turn.request_id)
        end_turn(turn, error, skill_failure(call.commanded_skill, error["code"]))


def _tell(turn: ExplainabilityTurn, trace: TraceWriter, answer: str | None) -> None:
    """Send `turn_ended`; the signal logs what a receiver raises."""
    if turn_ended.receivers:
        turn_ended.send_robust(
            ExplainabilityTurn, turn=turn, events=trace.events, trace=current_trace.get(), answer=answer
        )


_STOPPED = ("TURN_CANCELLED", "TURN_INTERRUPTED")
"""Errors that say nothing of the plugins."""


def _learn(turn: ExplainabilityTurn, outcome: TurnOutcome, error: ErrorRecord | None) -> None:
    """Update the plugins' statistics, unless the turn was stopped or the session's statistics are frozen."""
    is_frozen = not settings.MRPVM_LEARN or turn.session.planner_statistics is not None
    if not is_frozen and (error is None or error["code"] not in _STOPPED):
        statistics_buffer.add(turn, outcome.stages, turn_failed=error is not None)

"""Stores traces of other applications, and draws a trace as a turn again whenever more of it comes."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from mrpvm.errors import TooLarge
from mrpvm.preview import preview
from mrpvm.trace.events import AnswerDelta, Event, FrameClosed, PluginFinished, record_of
from mrpvm.wire import from_wire, to_wire
from sessions_app import events
from sessions_app.actions.sessions.histories import write_turn_messages
from sessions_app.actions.sessions.session import beginning_of, delete_session
from sessions_app.actions.sessions.slots import lock_session
from sessions_app.actions.settings.audit import asking_name
from sessions_app.actions.turns.counting import mark_outdated
from sessions_app.actions.turns.imported import find_or_create_conversation, lock_trace, store_spans
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.identifiers import new_request_id
from sessions_app.interchange.drawing import DrawnTrace, draw, imported_error
from sessions_app.interchange.received import ReceivedSpan
from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.turns.outcomes import listed_outcome

SESSION_START = "otel-"
_NAME_CHARS = 100


def import_spans(project: Project, spans: Sequence[ReceivedSpan]) -> None:
    """Store the spans and draw their traces. Known spans change nothing.

    Raises:
        TooLarge: a trace would hold too many spans; those of other traces before it are stored.
        Expired: the conversation's session has expired.

    Effects: a transaction a trace: its spans; its session, if that is new; its turn, messages, events and payloads.
    """
    by_trace: dict[str, dict[str, ReceivedSpan]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, {}).setdefault(span.span_id, span)
    for trace_id, by_id in by_trace.items():
        _import_trace(project, trace_id, list(by_id.values()))


@transaction.atomic
def _import_trace(project: Project, trace_id: str, spans: Sequence[ReceivedSpan]) -> None:
    known = {row.span_id: row for row in lock_trace(project, trace_id)}
    new = [span for span in spans if span.span_id not in known]
    if not new:
        return
    if len(known) + len(new) > settings.MRPVM_MAX_SPANS_A_TRACE:
        raise TooLarge(f"The trace {trace_id} holds more than {settings.MRPVM_MAX_SPANS_A_TRACE} spans.")
    turn = next((row.turn for row in known.values() if row.turn is not None), None)
    drawing = draw(
        [*(from_wire(ReceivedSpan, row.span) for row in known.values()), *new],
        turn.request_id if turn else new_request_id(),
    )
    turn = _store(project, trace_id, drawing, turn)
    store_spans(project, turn, trace_id, [(span.span_id, to_wire(span)) for span in new])


def _store(project: Project, trace_id: str, drawing: DrawnTrace, turn: ExplainabilityTurn | None) -> ExplainabilityTurn:
    if turn is None:
        session = lock_session(find_or_create_conversation(project, _session_name(drawing, trace_id)).pk)
        session.turn_sequence += 1
        turn = ExplainabilityTurn(session=session, turn_index=session.turn_sequence, asked_by=asking_name())
        turn.request_id = str(getattr(drawing.events[0].data, "request_id", turn.request_id))
    elif drawing.conversation and turn.session.session_id == _own_session(trace_id):
        session = _move(turn, find_or_create_conversation(project, _session_name(drawing, trace_id)))
    else:
        session = lock_session(turn.session_id)
        turn.session = session
    before = turn.created_at
    _fill(turn, trace_id, drawing)
    turn.save()
    mark_outdated(project.pk, [before, turn.created_at])
    if turn.turn_index == 1 or not session.first_message:  # more of the first turn may tell its question
        session.first_message = beginning_of(drawing.question)
    answer = {"assistant": drawing.answer} if drawing.answer else {}
    write_turn_messages(session, turn, {"user": drawing.question, **answer})
    _write_events(turn, drawing.events)
    session.touch()
    ended = events.TurnCommitted(
        request_id=turn.request_id,
        turn_index=turn.turn_index,
        answer_status=turn.answer_status,
        message_sequence=session.message_sequence,
    )
    events.append_to_locked(session, [("turn.committed", ended)])
    sequences = ("turn_sequence", "event_sequence", "message_sequence")
    session.save(update_fields=[*sequences, "first_message", *Session.ACTIVITY_FIELDS])
    return turn


def _session_name(drawing: DrawnTrace, trace_id: str) -> str:
    """Return the id of the session: the sender's conversation with a prefix that no session of this server has."""
    name = re.sub(r"[^\w.:@+-]", "-", drawing.conversation, flags=re.ASCII)[:_NAME_CHARS]
    return SESSION_START + name if name else _own_session(trace_id)


def _own_session(trace_id: str) -> str:
    """Return the id of the session of a trace that names no conversation, or has not yet."""
    return f"{SESSION_START}trace-{trace_id}"


def _move(turn: ExplainabilityTurn, target: Session) -> Session:
    """Return the locked session of the conversation that a later batch has named, with the turn at its end."""
    left, session = turn.session, lock_session(target.pk)
    session.turn_sequence += 1
    turn.messages.all().delete()  # they are written again at the end of that conversation
    turn.session, turn.turn_index = session, session.turn_sequence
    turn.save()
    delete_session(left)
    return session


def _fill(turn: ExplainabilityTurn, trace_id: str, drawing: DrawnTrace) -> None:
    turn.kind = ExplainabilityTurn.Kind.IMPORTED
    turn.trace_id = trace_id
    turn.status = ExplainabilityTurn.Status.FAILED if drawing.error else ExplainabilityTurn.Status.SUCCEEDED
    statuses, bases = ExplainabilityTurn.AnswerStatus, ExplainabilityTurn.AnswerBasis
    turn.answer_status = statuses.FAILED if drawing.error else statuses.ANSWERED
    if not drawing.error and drawing.answer_status in statuses.values:
        turn.answer_status = statuses(drawing.answer_status)
    turn.answer_basis = drawing.basis if drawing.basis in bases.values else ""
    turn.created_at, turn.finished_at = _time(drawing.started_ns), _time(drawing.ended_ns)
    turn.duration_ms = min((drawing.ended_ns - drawing.started_ns) // 1_000_000, 2**31 - 1)
    turn.user_message = drawing.question
    turn.assistant_preview = preview(drawing.answer)
    turn.model = drawing.model[:200] if drawing.model else None
    turn.outcome = listed_outcome(turn)
    turn.error = imported_error(drawing.error)
    turn.client_request = {"service": drawing.service, "trace_id": trace_id}


def _time(moment_ns: int) -> datetime:
    return datetime.fromtimestamp(moment_ns / 1_000_000_000, UTC)


def _write_events(turn: ExplainabilityTurn, events: Sequence[Event]) -> None:
    """Write the turn's record again, in one batch."""
    parts: dict[str, dict[str, object]] = {}
    whole = []
    for event in events:
        if event.detail_ref is None or isinstance(event.data, AnswerDelta):
            continue
        parts.setdefault(event.detail_ref, {}).update(event.detail)
        if isinstance(event.data, PluginFinished | FrameClosed):
            whole.append(payload(event.detail_ref, parts.pop(event.detail_ref)))
    first = (turn.event_batches.aggregate(Max("first_sequence"))["first_sequence__max"] or 0) + 1
    turn.event_batches.all().delete()
    batch(turn, first, [record_of(event) for event in events], whole).save()

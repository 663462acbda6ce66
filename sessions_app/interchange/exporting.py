"""Sends ended turns to an OpenTelemetry collector, where the standard OTEL_* variables name one.

A turn only hands over what it holds already. A thread of the SDK makes the spans, sends them in batches, tries again,
and forgets the oldest once its queue is full: a collector that is away costs a turn nothing.
"""

import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.signals import post_save
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from mrpvm.llm.trace_context import TraceContext
from mrpvm.trace.events import ROOT_FRAME_ID, Event
from sessions_app.interchange.spans import EndedTurn, Evaluation
from sessions_app.interchange.turn_exporter import QueuedEvaluationSpan, QueuedTurnSpan, TurnExporter
from sessions_app.models import ExplainabilityTurn, TestResult, TurnRating
from sessions_app.tracing import span_id_of
from sessions_app.turns.pipeline import turn_ended

LAST_FLUSH_MS = 300
_SCORES = {TestResult.Outcome.PASSED.value: 1.0, TestResult.Outcome.FAILED.value: 0.0}
TURNS_A_BATCH = 64


class TraceExport:
    """The connection of turns, ratings and results of tests to the SDK's queue."""

    def __init__(self) -> None:
        resource = Resource.create({"service.name": settings.OTEL_SERVICE_NAME})
        self._exporter = TurnExporter(OTLPSpanExporter(), resource, with_content=settings.MRPVM_TRACES_CONTENT)
        self._processor: BatchSpanProcessor = BatchSpanProcessor(self._exporter, max_export_batch_size=TURNS_A_BATCH)
        turn_ended.connect(self._turn_ended, dispatch_uid="export-traces")
        post_save.connect(self._rated, sender=TurnRating, dispatch_uid="export-ratings")
        post_save.connect(self._tested, sender=TestResult, dispatch_uid="export-tests")

    def close(self) -> None:
        """Send what waits, within `LAST_FLUSH_MS`, and send no more."""
        turn_ended.disconnect(dispatch_uid="export-traces")
        post_save.disconnect(dispatch_uid="export-ratings", sender=TurnRating)
        post_save.disconnect(dispatch_uid="export-tests", sender=TestResult)
        # The SDK's own flush waits as long as its tries last.
        flush = threading.Thread(target=self._processor.force_flush, name="last-traces", daemon=True)
        flush.start()
        flush.join(LAST_FLUSH_MS / 1000)
        self._exporter.shutdown()

    def _turn_ended(
        self,
        *,
        turn: ExplainabilityTurn,
        events: Sequence[Event],
        trace: TraceContext | None,
        answer: str | None,
        **_: Any,
    ) -> None:
        if trace is None or not trace.is_sampled:
            return
        session = turn.session
        started_ns = int(turn.created_at.timestamp() * 1_000_000_000)
        ended = EndedTurn(
            request_id=turn.request_id,
            session_id=session.session_id,
            turn_index=turn.turn_index,
            project=session.project.slug,
            agent=session.active_agent or "mrpvm",
            status=turn.status,
            answer_status=turn.answer_status,
            answer_basis=turn.answer_basis,
            question=turn.user_message,
            answer=answer,
            error=turn.error,
            started_ns=started_ns,
            ended_ns=started_ns + (turn.duration_ms or 0) * 1_000_000,
            trace=trace,
            events=events,
        )
        self._processor.on_end(QueuedTurnSpan(ended))

    def _rated(self, *, instance: TurnRating, **_: Any) -> None:
        turn, value = instance.turn, instance.value
        if not turn.trace_id:
            return
        rating = Evaluation(
            name="rating",
            session_id=turn.session.session_id,
            label=value,
            score=1.0 if value == TurnRating.Value.UP else 0.0,
            explanation=instance.note,
            at_ns=time.time_ns(),
        )
        self._queue(_below(turn), rating)

    def _tested(self, *, instance: TestResult, **_: Any) -> None:
        """Queue a test's result: below the turn that it was kept from, else as a trace of its own."""
        if instance.outcome == TestResult.Outcome.WAITING:
            return
        test = instance.test
        turn = test.turn if test else None
        result = Evaluation(
            name=instance.run.suite.name,
            test_id=test.test_id if test else "",
            session_id=turn.session.session_id if turn else "",
            label=instance.outcome,
            score=_SCORES.get(instance.outcome),
            explanation=": ".join([instance.name, *instance.failures]),  # a test is often called by its question
            at_ns=time.time_ns(),
        )
        self._queue(_below(turn) if turn and turn.trace_id else _new_trace(), result)

    def _queue(self, trace: TraceContext, evaluation: Evaluation) -> None:
        queued = QueuedEvaluationSpan(trace, evaluation)
        transaction.on_commit(lambda: self._processor.on_end(queued), robust=True)  # a change undone is not sent


def _below(turn: ExplainabilityTurn) -> TraceContext:
    """Return a new span below the turn's."""
    return TraceContext(trace_id=turn.trace_id, span_id=span_id_of(turn.request_id, ROOT_FRAME_ID)).child()


def _new_trace() -> TraceContext:
    return TraceContext(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))

"""What waits in the SDK's queue, and becomes spans on the queue's own thread."""

from collections.abc import Iterable, Iterator, Sequence

from django.conf import settings
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanContext, TraceFlags

from mrpvm.llm.trace_context import TraceContext
from sessions_app.interchange.spans import EndedTurn, Evaluation, evaluation_span, turn_spans, write_attributes

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
# A span without one has the resource detected anew, which costs more than all the spans of a turn.
_NO_RESOURCE = Resource.get_empty()


class QueuedSpan(ReadableSpan):
    """One entry of the queue, which asks for no more of a span than its context."""

    def __init__(self, trace: TraceContext) -> None:
        context = SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), is_remote=False, trace_flags=_SAMPLED)
        super().__init__("queued", context, resource=_NO_RESOURCE)

    def spans(self, *, with_content: bool) -> Iterator[Span]:
        """Return the spans that it represents."""
        raise NotImplementedError


class QueuedTurnSpan(QueuedSpan):
    """An ended turn."""

    def __init__(self, turn: EndedTurn) -> None:
        super().__init__(turn.trace)
        self._turn = turn

    def spans(self, *, with_content: bool) -> Iterator[Span]:
        return turn_spans(self._turn, with_content=with_content)


class QueuedEvaluationSpan(QueuedSpan):
    """A verdict on an answer, below the span that `trace` names as its parent."""

    def __init__(self, trace: TraceContext, evaluation: Evaluation) -> None:
        super().__init__(trace)
        self._trace, self._evaluation = trace, evaluation

    def spans(self, *, with_content: bool) -> Iterator[Span]:
        """Return the verdict's one span."""
        yield evaluation_span(self._trace, self._evaluation, with_content=with_content)


class TurnExporter(SpanExporter):
    """Makes the spans of what was queued and has the SDK's exporter send them."""

    def __init__(self, exporter: OTLPSpanExporter, resource: Resource, *, with_content: bool) -> None:
        self._exporter, self._with_content = exporter, with_content
        # The exporter takes the SDK's spans alone; its client takes what they are encoded to.
        self._client = exporter._client
        self._empty = ExportTraceServiceRequest()
        from_here = self._empty.resource_spans.add()
        write_attributes(from_here.resource.attributes, resource.attributes)
        from_here.scope_spans.add().scope.name = "mrpvm"

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Return whether all of them were taken."""
        waiting = (queued for queued in spans if isinstance(queued, QueuedSpan))
        made = (span for queued in waiting for span in queued.spans(with_content=self._with_content))
        taken = [self._client.export(request.SerializeToString()).success for request in self._requests(made)]
        return SpanExportResult.SUCCESS if all(taken) else SpanExportResult.FAILURE

    def _requests(self, spans: Iterable[Span]) -> Iterator[ExportTraceServiceRequest]:
        """Return requests of at most `MRPVM_TRACE_REQUEST_BYTES` each, but for a single span that is larger."""
        some: list[Span] = []
        size = 0
        for span in spans:
            size += span.ByteSize()
            if some and size > settings.MRPVM_TRACE_REQUEST_BYTES:
                yield self._request(some)
                some, size = [], span.ByteSize()
            some.append(span)
        if some:
            yield self._request(some)

    def _request(self, spans: Sequence[Span]) -> ExportTraceServiceRequest:
        request = ExportTraceServiceRequest()
        request.CopyFrom(self._empty)
        request.resource_spans[0].scope_spans[0].spans.extend(spans)
        return request

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return True: nothing is buffered here."""
        return True

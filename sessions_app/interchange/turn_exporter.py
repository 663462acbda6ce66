"""What waits in the SDK's queue, and becomes spans on the queue's own thread."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from mrpvm.llm.trace_context import TraceContext
from sessions_app.interchange.spans import EndedTurn, rating_span, span_context, turn_spans


class QueuedSpan(ReadableSpan):
    """One entry of the queue, which asks for no more of a span than its context."""

    def __init__(self, trace: TraceContext) -> None:
        super().__init__("queued", span_context(trace.trace_id, trace.span_id))

    def spans(self, resource: Resource, *, with_content: bool) -> Iterator[ReadableSpan]:
        """Return the spans that it stands for."""
        raise NotImplementedError


class QueuedTurnSpan(QueuedSpan):
    """An ended turn."""

    def __init__(self, turn: EndedTurn) -> None:
        super().__init__(turn.trace)
        self._turn = turn

    def spans(self, resource: Resource, *, with_content: bool) -> Iterator[ReadableSpan]:
        """Return the turn's spans."""
        return turn_spans(self._turn, resource, with_content=with_content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A reader's verdict on a turn; `at_ns` is since 1970."""

    session_id: str
    value: str
    note: str
    at_ns: int


class QueuedRating(QueuedSpan):
    """A verdict on a turn that has ended before."""

    def __init__(self, trace: TraceContext, rating: Rating) -> None:
        super().__init__(trace)
        self._trace, self._rating = trace, rating

    def spans(self, resource: Resource, *, with_content: bool) -> Iterator[ReadableSpan]:
        """Return the verdict's one span."""
        rating = self._rating
        yield rating_span(
            self._trace.child(), resource, session_id=rating.session_id, value=rating.value, note=rating.note,
            at_ns=rating.at_ns, with_content=with_content,
        )  # fmt: skip


class TurnExporter(SpanExporter):
    """Makes the spans of what was queued and hands them to another exporter."""

    def __init__(self, exporter: SpanExporter, resource: Resource, *, with_content: bool) -> None:
        self._exporter, self._resource, self._with_content = exporter, resource, with_content

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Return whether all of them were taken."""
        made = [
            span
            for queued in spans
            if isinstance(queued, QueuedSpan)
            for span in queued.spans(self._resource, with_content=self._with_content)
        ]
        return self._exporter.export(made)

    def shutdown(self) -> None:
        """End the other exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing waits here."""
        return True

"""A turn as spans, by OpenTelemetry's semantic conventions for generative AI.

The root frame is the span `invoke_agent`, each frame and execution a span below the frame that it lies in, each request
to a model a span `chat` below its execution. The recorded edges are links, so that a reader can draw the same graph.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from mrpvm.llm.redaction import without_secrets
from mrpvm.llm.trace_context import TraceContext
from mrpvm.trace.details import CallMeta
from mrpvm.trace.events import (
    Event,
    FrameClosed,
    FrameOpened,
    PluginFinished,
    PluginStarted,
)
from mrpvm.trace.graph import Edge, fold_graph
from mrpvm.values import KnowledgeUnit
from mrpvm.wire import WireWriter
from sessions_app.turns.tracing import span_id_of

type Attributes = dict[str, str | int | float | bool | Sequence[str]]

SCOPE = InstrumentationScope("mrpvm")
OPERATIONS = {"kb": "retrieval"}
"""Operation by stage; every other stage is a tool."""
CONTENT_CHARS = 64_000
"""Of one text; what is missing is said in it."""
MILLISECOND = 1_000_000
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn:
    """What is exported of a turn; `started_ns` is since 1970, `answer` is None where it has none."""

    request_id: str
    session_id: str
    turn_index: int
    project: str
    agent: str
    status: str
    answer_status: str | None
    answer_basis: str
    question: str
    answer: str | None
    error: Mapping[str, Any] | None
    started_ns: int
    ended_ns: int
    trace: TraceContext
    events: Sequence[Event]


def turn_spans(turn: EndedTurn, resource: Resource, *, with_content: bool) -> Iterator[ReadableSpan]:
    """Return the turn's spans, the root first.

    Args:
        with_content: what was said, given and found goes with them, redacted as on the pages.
    """
    return _Spans(turn, resource, with_content).all()


def span_context(trace_id: str, span_id: str, *, is_remote: bool = False) -> SpanContext:
    """Return the SDK's form of two hexadecimal ids."""
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote, _SAMPLED)


class _Spans:
    def __init__(self, turn: EndedTurn, resource: Resource, with_content: bool) -> None:
        self._turn, self._resource, self._with_content = turn, resource, with_content
        self._began = {event.data.execution_id: event for event in turn.events if isinstance(event.data, PluginStarted)}
        self._edges: dict[str, list[Edge]] = {}
        for edge in fold_graph(turn.events).edges:
            if edge.kind != "contains":  # parents say so
                self._edges.setdefault(edge.target, []).append(edge)

    def all(self) -> Iterator[ReadableSpan]:
        opened = [event for event in self._turn.events if isinstance(event.data, FrameOpened)]
        closed = {event.data.frame_id: event for event in self._turn.events if isinstance(event.data, FrameClosed)}
        for event in opened:
            data = event.data
            assert isinstance(data, FrameOpened)  # noqa: S101 (chosen above)
            if data.parent_frame_id is None:
                yield self._root(data.frame_id, data.label, data.purpose)
            else:
                yield self._frame(event, data, closed.get(data.frame_id))
        if not opened:  # a turn that failed before its machine began
            yield self._root("frame-0", "", "")
        for event in self._turn.events:
            if isinstance(event.data, PluginFinished):
                yield from self._execution(event, event.data)

    def _root(self, node_id: str, label: str, purpose: str) -> ReadableSpan:
        turn = self._turn
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "mrpvm",
            "gen_ai.agent.name": turn.agent,
            "gen_ai.conversation.id": turn.session_id,
            "mrpvm.turn.id": turn.request_id,
            "mrpvm.turn.index": turn.turn_index,
            "mrpvm.turn.status": turn.status,
            "mrpvm.project": turn.project,
            "mrpvm.node.id": node_id,
            "mrpvm.node.kind": "frame",
            "mrpvm.node.label": label,
            "mrpvm.frame.purpose": purpose,
        }
        if turn.answer_status:
            attributes["mrpvm.answer.status"] = turn.answer_status
        if turn.answer_basis:
            attributes["mrpvm.answer.basis"] = turn.answer_basis
        used = [
            event.data.usage for event in turn.events if isinstance(event.data, PluginFinished) and event.data.usage
        ]
        if used:
            attributes["gen_ai.usage.input_tokens"] = sum(usage.input_tokens for usage in used)
            attributes["gen_ai.usage.output_tokens"] = sum(usage.output_tokens for usage in used)
        if self._with_content:
            attributes["gen_ai.input.messages"] = _messages("user", turn.question)
            if turn.answer is not None:
                attributes["gen_ai.output.messages"] = _messages("assistant", turn.answer, "stop")
        parent = turn.trace.parent_span_id
        return self._span(
            f"invoke_agent {turn.agent}", node_id, attributes, turn.started_ns, turn.ended_ns, SpanKind.SERVER,
            parent=span_context(turn.trace.trace_id, parent, is_remote=True) if parent else None, error=turn.error,
        )  # fmt: skip

    def _frame(self, event: Event, data: FrameOpened, closed: Event | None) -> ReadableSpan:
        attributes: Attributes = {
            "gen_ai.conversation.id": self._turn.session_id,
            "mrpvm.node.id": data.frame_id,
            "mrpvm.node.kind": "frame",
            "mrpvm.node.label": data.label,
            "mrpvm.frame.purpose": data.purpose,
        }
        end = self._turn.ended_ns
        if closed is not None and isinstance(closed.data, FrameClosed):
            attributes["mrpvm.node.status"] = closed.data.status
            attributes["mrpvm.frame.closure_reason"] = closed.data.closure_reason
            end = self._at(closed.at_ms)
        if self._with_content and data.intents:
            attributes["gen_ai.input.messages"] = _messages("user", " ".join(data.intents))
        parent = self._context(str(data.parent_frame_id))
        return self._span(f"frame {data.label}", data.frame_id, attributes, self._at(event.at_ms), end, parent=parent)

    def _execution(self, event: Event, data: PluginFinished) -> Iterator[ReadableSpan]:
        began = self._began.get(data.execution_id)
        if began is None or not isinstance(began.data, PluginStarted):
            return
        start, end = self._at(began.at_ms), self._at(event.at_ms)
        operation = OPERATIONS.get(began.data.stage, "execute_tool")
        attributes: Attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.tool.name": began.data.plugin_id,
            "gen_ai.tool.type": "extension",
            "gen_ai.conversation.id": self._turn.session_id,
            "mrpvm.node.id": data.execution_id,
            "mrpvm.node.kind": "execution",
            "mrpvm.node.label": began.data.plugin_name,
            "mrpvm.node.status": data.status,
            "mrpvm.plugin.id": began.data.plugin_id,
            "mrpvm.plugin.type": began.data.plugin_type,
            "mrpvm.stage": began.data.stage,
        }
        if self._with_content:
            given, got = ("query.text", "documents") if operation == "retrieval" else ("arguments", "result")
            prefix = "gen_ai.retrieval" if operation == "retrieval" else "gen_ai.tool.call"
            attributes[f"{prefix}.{given}"] = _content(event.detail.get("input"))
            attributes[f"{prefix}.{got}"] = _content(event.detail.get("output"))
        yield self._span(
            f"{operation} {began.data.plugin_id}", data.execution_id, attributes, start, end,
            parent=self._context(data.frame_id), error=data.error,
        )  # fmt: skip
        meta = event.detail.get("meta")
        for place, request in enumerate((meta.requests or ()) if isinstance(meta, CallMeta) else ()):
            yield self._chat(data.execution_id, place, request, start, end)
            start = min(end, start + (request.get("durationMs") or 0) * MILLISECOND)

    def _chat(self, execution_id: str, place: int, request: Mapping[str, Any], start: int, latest: int) -> ReadableSpan:
        body, response = request["body"], request.get("response") or {}
        usage = response.get("usage") or {}
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": str(body.get("model", "")),
            "gen_ai.conversation.id": self._turn.session_id,
            "server.address": request["url"],
        }
        for name, value in (
            ("gen_ai.usage.input_tokens", usage.get("inputTokens")),
            ("gen_ai.usage.output_tokens", usage.get("outputTokens")),
            ("gen_ai.response.finish_reasons", [response["finishReason"]] if response.get("finishReason") else None),
            ("http.response.status_code", response.get("status")),
        ):
            if value is not None:
                attributes[name] = value
        if self._with_content:
            attributes["gen_ai.input.messages"] = _content(body.get("messages", body.get("input")))
            if response.get("text") is not None:
                attributes["gen_ai.output.messages"] = _messages(
                    "assistant", response["text"], response.get("finishReason") or "stop"
                )
        context = TraceContext.of_header(request.get("traceparent", ""))
        node = f"{execution_id} request {place}"
        return self._span(
            f"chat {body.get('model', '')}", node, attributes, start,
            min(latest, start + (request.get("durationMs") or 0) * MILLISECOND), SpanKind.CLIENT,
            parent=self._context(execution_id), error=response.get("error"),
            span_id=context.span_id if context else None,
        )  # fmt: skip

    def _span(
        self,
        name: str,
        node_id: str,
        attributes: Attributes,
        start: int,
        end: int,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        parent: SpanContext | None,
        error: Mapping[str, Any] | None = None,
        span_id: str | None = None,
    ) -> ReadableSpan:
        status = Status(StatusCode.UNSET)
        if error is not None:
            attributes["error.type"] = error["code"]
            status = Status(StatusCode.ERROR, without_secrets(str(error["message"])))
        context = self._context(node_id) if span_id is None else span_context(self._turn.trace.trace_id, span_id)
        links = [
            Link(self._context(edge.source), {"mrpvm.edge.kind": edge.kind}) for edge in self._edges.get(node_id, ())
        ]
        return ReadableSpan(
            name, context, parent, self._resource, attributes, (), links, kind,
            status=status, start_time=start, end_time=end, instrumentation_scope=SCOPE,
        )  # fmt: skip

    def _context(self, node_id: str) -> SpanContext:
        return span_context(self._turn.trace.trace_id, span_id_of(self._turn.request_id, node_id))

    def _at(self, at_ms: int) -> int:
        return self._turn.started_ns + at_ms * MILLISECOND


def rating_span(
    trace: TraceContext, resource: Resource, *, session_id: str, value: str, note: str, at_ns: int, with_content: bool
) -> ReadableSpan:
    """Return a reader's verdict on a turn: a span below the turn's with the conventions' evaluation event."""
    attributes: Attributes = {
        "gen_ai.evaluation.name": "rating",
        "gen_ai.evaluation.score.label": value,
        "gen_ai.evaluation.score.value": 1.0 if value == "up" else 0.0,
    }
    if with_content and note:
        attributes["gen_ai.evaluation.explanation"] = without_secrets(note)
    return ReadableSpan(
        "evaluation rating", span_context(trace.trace_id, trace.span_id),
        span_context(trace.trace_id, trace.parent_span_id) if trace.parent_span_id else None, resource,
        {"gen_ai.conversation.id": session_id}, [SpanEvent("gen_ai.evaluation.result", attributes, at_ns)],
        status=Status(StatusCode.UNSET), start_time=at_ns, end_time=at_ns, instrumentation_scope=SCOPE,
    )  # fmt: skip


def _messages(role: str, text: str, finish_reason: str | None = None) -> str:
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": _cut(without_secrets(text))}]}
    return json.dumps([message | ({"finish_reason": finish_reason} if finish_reason else {})], ensure_ascii=False)


def _content(value: Any) -> str:
    return _cut(without_secrets(WireWriter(brief=KnowledgeUnit).json(value).decode("utf-8", "replace")))


def _cut(text: str) -> str:
    missing = len(text) - CONTENT_CHARS
    return text if missing <= 0 else f"{text[:CONTENT_CHARS]}... ({missing} more characters)"

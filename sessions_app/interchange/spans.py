"""A turn as spans, by OpenTelemetry's semantic conventions for generative AI.

The root frame is the span `invoke_agent`, each frame and execution a span below the frame that it is in, each request
to a model a span `chat` below its execution. The recorded edges are links, so that a reader can draw the same graph.
"""

# The messages of the protocol are made directly: the SDK's own spans cost four times as much, most of it for copies
# of attributes and their checks.

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, SpanFlags, Status

from mrpvm.errors import ErrorRecord
from mrpvm.llm.redaction import without_secrets
from mrpvm.llm.trace_context import TraceContext
from mrpvm.trace.details import CallMeta
from mrpvm.trace.events import (
    ROOT_FRAME_ID,
    Event,
    FrameClosed,
    FrameOpened,
    PluginFinished,
    PluginStarted,
)
from mrpvm.trace.graph import Edge, cause_edges
from mrpvm.values import KnowledgeUnit
from mrpvm.wire import WireWriter
from sessions_app.tracing import span_id_of

type Attributes = dict[str, str | int | float | bool | Sequence[str]]

OPERATIONS = {"kb": "retrieval"}
"""Operation by stage; every other stage is a tool."""
CONTENT_CHARS = 64_000
"""Most characters of one text; a text that is cut says how many are missing."""
MILLISECOND = 1_000_000
_LOCAL_PARENT = SpanFlags.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
_REMOTE_PARENT = _LOCAL_PARENT | SpanFlags.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK


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
    error: ErrorRecord | None
    started_ns: int
    ended_ns: int
    trace: TraceContext
    events: Sequence[Event]


def turn_spans(turn: EndedTurn, *, with_content: bool) -> Iterator[Span]:
    """Return the turn's spans, the root first.

    Args:
        with_content: what was said, given and found goes with them, redacted as on the pages.
    """
    return _Spans(turn, with_content).all()


class _Spans:
    def __init__(self, turn: EndedTurn, with_content: bool) -> None:
        self._turn, self._with_content = turn, with_content
        self._trace_id = bytes.fromhex(turn.trace.trace_id)
        self._ids: dict[str, bytes] = {}
        self._began: dict[str, tuple[int, PluginStarted]] = {}
        self._closed: dict[str, tuple[int, FrameClosed]] = {}
        for event in turn.events:
            match event.data:
                case PluginStarted() as data:
                    self._began[data.execution_id] = event.at_ms, data
                case FrameClosed() as data:
                    self._closed[data.frame_id] = event.at_ms, data

    def all(self) -> Iterator[Span]:
        opened = [(event.at_ms, event.data) for event in self._turn.events if isinstance(event.data, FrameOpened)]
        for at_ms, data in opened:
            if data.parent_frame_id is None:
                yield self._root(data.frame_id, data.label, data.purpose)
            else:
                yield self._frame(at_ms, data, data.parent_frame_id)
        if not opened:  # a turn that failed before its machine began
            yield self._root(ROOT_FRAME_ID, "", "")
        for event in self._turn.events:
            if isinstance(event.data, PluginFinished):
                yield from self._execution(event, event.data)

    def _root(self, node_id: str, label: str, purpose: str) -> Span:
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
            f"invoke_agent {turn.agent}", self._id(node_id), attributes, turn.started_ns, turn.ended_ns,
            Span.SPAN_KIND_SERVER, parent=bytes.fromhex(parent) if parent else b"",
            flags=_REMOTE_PARENT if parent else _LOCAL_PARENT, error=turn.error,
        )  # fmt: skip

    def _frame(self, at_ms: int, data: FrameOpened, parent: str) -> Span:
        attributes: Attributes = {
            "gen_ai.conversation.id": self._turn.session_id,
            "mrpvm.node.id": data.frame_id,
            "mrpvm.node.kind": "frame",
            "mrpvm.node.label": data.label,
            "mrpvm.frame.purpose": data.purpose,
        }
        end = self._turn.ended_ns
        if data.frame_id in self._closed:
            closed_at_ms, closed = self._closed[data.frame_id]
            attributes["mrpvm.node.status"] = closed.status
            attributes["mrpvm.frame.closure_reason"] = closed.closure_reason
            end = self._at(closed_at_ms)
        if self._with_content and data.intents:
            attributes["gen_ai.input.messages"] = _messages("user", " ".join(data.intents))
        return self._span(
            f"frame {data.label}", self._id(data.frame_id), attributes, self._at(at_ms), end,
            parent=self._id(parent), links=cause_edges(data),
        )  # fmt: skip

    def _execution(self, event: Event, data: PluginFinished) -> Iterator[Span]:
        if data.execution_id not in self._began:
            return
        at_ms, began = self._began[data.execution_id]
        start, end = self._at(at_ms), self._at(event.at_ms)
        operation = OPERATIONS.get(began.stage, "execute_tool")
        attributes: Attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.tool.name": began.plugin_id,
            "gen_ai.tool.type": "extension",
            "gen_ai.conversation.id": self._turn.session_id,
            "mrpvm.node.id": data.execution_id,
            "mrpvm.node.kind": "execution",
            "mrpvm.node.label": began.plugin_name,
            "mrpvm.node.status": data.status,
            "mrpvm.plugin.id": began.plugin_id,
            "mrpvm.plugin.type": began.plugin_type,
            "mrpvm.stage": began.stage,
        }
        if self._with_content:
            given, got = ("query.text", "documents") if operation == "retrieval" else ("arguments", "result")
            prefix = "gen_ai.retrieval" if operation == "retrieval" else "gen_ai.tool.call"
            attributes[f"{prefix}.{given}"] = _content(event.detail.get("input"))
            attributes[f"{prefix}.{got}"] = _content(event.detail.get("output"))
        yield self._span(
            f"{operation} {began.plugin_id}", self._id(data.execution_id), attributes, start, end,
            parent=self._id(data.frame_id), links=cause_edges(began), error=data.error,
        )  # fmt: skip
        meta = event.detail.get("meta")
        for place, request in enumerate((meta.requests or ()) if isinstance(meta, CallMeta) else ()):
            yield self._chat(data.execution_id, place, request, start, end)
            start = min(end, start + (request.get("durationMs") or 0) * MILLISECOND)

    def _chat(self, execution_id: str, place: int, request: Mapping[str, Any], start: int, latest: int) -> Span:
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
        return self._span(
            f"chat {body.get('model', '')}",
            bytes.fromhex(context.span_id) if context else self._id(f"{execution_id} request {place}"),
            attributes, start, min(latest, start + (request.get("durationMs") or 0) * MILLISECOND),
            Span.SPAN_KIND_CLIENT, parent=self._id(execution_id), error=response.get("error"),
        )  # fmt: skip

    def _span(
        self,
        name: str,
        span_id: bytes,
        attributes: Attributes,
        start: int,
        end: int,
        kind: Span.SpanKind.ValueType = Span.SPAN_KIND_INTERNAL,
        *,
        parent: bytes,
        flags: int = _LOCAL_PARENT,
        links: Sequence[Edge] = (),
        error: ErrorRecord | None = None,
    ) -> Span:
        span = Span(
            name=name, trace_id=self._trace_id, span_id=span_id, parent_span_id=parent, flags=flags, kind=kind,
            start_time_unix_nano=start, end_time_unix_nano=end,
        )  # fmt: skip
        if error is not None:
            attributes["error.type"] = error["code"]
            span.status.code, span.status.message = Status.STATUS_CODE_ERROR, without_secrets(str(error["message"]))
        write_attributes(span.attributes, attributes)
        for edge in links:
            link = span.links.add(trace_id=self._trace_id, span_id=self._id(edge.source), flags=_LOCAL_PARENT)
            write_attributes(link.attributes, {"mrpvm.edge.kind": edge.kind})
        return span

    def _id(self, node_id: str) -> bytes:
        span_id = self._ids.get(node_id)
        if span_id is None:
            span_id = self._ids[node_id] = bytes.fromhex(span_id_of(self._turn.request_id, node_id))
        return span_id

    def _at(self, at_ms: int) -> int:
        return self._turn.started_ns + at_ms * MILLISECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A verdict on an answer, by a reader or a test.

    `name` is "rating" or the suite's name. `at_ns` is since 1970, `score` is in [0, 1] and is None of a test that
    could not be run. `explanation` is content.
    """

    name: str
    session_id: str
    label: str
    score: float | None
    explanation: str
    at_ns: int
    test_id: str = ""


def evaluation_span(trace: TraceContext, evaluation: Evaluation, *, with_content: bool) -> Span:
    """Return the span that holds the conventions' evaluation event, below the span that `trace` names as its parent."""
    span = Span(
        name=f"evaluation {evaluation.name}", trace_id=bytes.fromhex(trace.trace_id),
        span_id=bytes.fromhex(trace.span_id), parent_span_id=bytes.fromhex(trace.parent_span_id or ""),
        flags=_LOCAL_PARENT, kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=evaluation.at_ns, end_time_unix_nano=evaluation.at_ns,
    )  # fmt: skip
    belongs = {"gen_ai.conversation.id": evaluation.session_id, "mrpvm.test.id": evaluation.test_id}
    write_attributes(span.attributes, {key: value for key, value in belongs.items() if value})
    event = span.events.add(name="gen_ai.evaluation.result", time_unix_nano=evaluation.at_ns)
    attributes: Attributes = {
        "gen_ai.evaluation.name": evaluation.name,
        "gen_ai.evaluation.score.label": evaluation.label,
    }
    if evaluation.score is not None:
        attributes["gen_ai.evaluation.score.value"] = evaluation.score
    if with_content and evaluation.explanation:
        attributes["gen_ai.evaluation.explanation"] = without_secrets(evaluation.explanation)
    write_attributes(event.attributes, attributes)
    return span


def write_attributes(written: RepeatedCompositeFieldContainer[KeyValue], attributes: Mapping[str, Any]) -> None:
    """Append attributes in the protocol's form; values are those of `Attributes`."""
    for key, value in attributes.items():
        pair = written.add()
        pair.key = key
        match value:
            case str():
                pair.value.string_value = value
            case bool():
                pair.value.bool_value = value
            case int():
                pair.value.int_value = value
            case float():
                pair.value.double_value = value
            case _:
                for item in value:
                    pair.value.array_value.values.add(string_value=str(item))


def _messages(role: str, text: str, finish_reason: str | None = None) -> str:
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": _cut(without_secrets(text))}]}
    return json.dumps([message | ({"finish_reason": finish_reason} if finish_reason else {})], ensure_ascii=False)


def _content(value: Any) -> str:
    return _cut(without_secrets(WireWriter(brief=KnowledgeUnit).json(value).decode("utf-8", "replace")))


def _cut(text: str) -> str:
    missing = len(text) - CONTENT_CHARS
    return text if missing <= 0 else f"{text[:CONTENT_CHARS]}... ({missing} more characters)"

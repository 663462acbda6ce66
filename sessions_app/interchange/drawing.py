"""A trace of another application as a turn's machine events, so that every page draws it like a turn of ours.

A span with others below it is a frame, any other an execution; what mrpvm itself has sent says which it is. Edges are
those that the sender's links name, never guessed from times.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mrpvm.errors import ErrorRecord
from mrpvm.trace.events import (
    Cause,
    Event,
    FrameClosed,
    FrameOpened,
    PluginFinished,
    PluginStarted,
    TurnFinished,
    TurnStarted,
)
from mrpvm.values import Usage
from sessions_app.interchange.received import AttributeValue, ReceivedSpan

MILLISECOND = 1_000_000
SNIPPET_CHARS = 200
LABEL_CHARS = 80
_NODE_ID = re.compile(r"(frame|exec)-0(\.\d{1,6}){0,20}(~\d{1,4})?")
_INPUTS = (
    "gen_ai.input.messages", "input.value", "gen_ai.tool.call.arguments", "gen_ai.retrieval.query.text",
    "gen_ai.prompt",
)  # fmt: skip
_OUTPUTS = (
    "gen_ai.output.messages", "output.value", "gen_ai.tool.call.result", "gen_ai.retrieval.documents",
    "gen_ai.completion",
)  # fmt: skip
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "embedding.model_name")
_INPUT_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_OUTPUT_TOKENS = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "conversation.id")


def imported_error(message: str | None) -> ErrorRecord | None:
    """Return the error that a span tells, None for no message."""
    return {"code": "IMPORTED_ERROR", "message": message, "details": {}} if message else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTrace:
    """What a trace says of a turn; times in ns since 1970."""

    conversation: str
    service: str
    question: str
    answer: str
    model: str | None
    error: str | None
    started_ns: int
    ended_ns: int
    basis: str
    answer_status: str
    events: Sequence[Event]


@dataclass(slots=True)
class _Node:
    """A span in the tree; `id` is its path in the graph."""

    span: ReceivedSpan
    children: list["_Node"] = field(default_factory=list)
    id: str = ""

    @property
    def is_frame(self) -> bool:
        kind = self.span.attributes.get("mrpvm.node.kind")
        return kind == "frame" if kind in ("frame", "execution") else bool(self.children)


def draw(spans: Sequence[ReceivedSpan], request_id: str) -> DrawnTrace:
    """Return the turn that the spans of one trace make, as far as they have come."""
    tops = _trees(spans)
    main = next((node for node in tops if not node.span.parent_span_id), tops[0]).span
    started = min(span.start_ns for span in spans)
    ended = max(span.end_ns for span in spans)
    ordered = sorted(spans, key=lambda span: (span is not main, span.start_ns, span.span_id))
    question = next((text for span in ordered if (text := _said(span, _INPUTS, "user"))), "")
    answer = next((text for span in ordered if (text := _said(span, _OUTPUTS, "assistant"))), "")
    error = main.error
    events = list(_events(tops, started, ended, request_id, question, error))
    return DrawnTrace(
        conversation=next((str(value) for span in ordered if (value := _first(span, _CONVERSATIONS))), ""),
        service=main.service,
        question=question or f"({main.name})",
        answer=answer,
        model=next((str(value) for span in ordered if (value := _first(span, _MODELS))), None),
        error=error,
        started_ns=started,
        ended_ns=ended,
        basis=str(main.attributes.get("mrpvm.answer.basis", "")),
        answer_status=str(main.attributes.get("mrpvm.answer.status", "")),
        events=events,
    )


def _trees(spans: Sequence[ReceivedSpan]) -> list[_Node]:
    """Return the roots with what is below them; a span whose parent has not come, or is below it, is one too."""
    nodes = {span.span_id: _Node(span) for span in sorted(spans, key=lambda span: (span.start_ns, span.span_id))}
    tops: list[_Node] = []
    for node in nodes.values():
        parent = nodes.get(node.span.parent_span_id)
        if parent is None or _is_above(node, parent, nodes):
            tops.append(node)
        else:
            parent.children.append(node)
    return tops


def _is_above(node: _Node, below: _Node, nodes: Mapping[str, _Node]) -> bool:
    """Return whether a span is in a loop of parents; the span with the lowest id is then the root."""
    seen: set[str] = set()
    place: _Node | None = below
    while place is not None and place.span.span_id not in seen:
        if place is node:
            return node.span.span_id == min(seen | {node.span.span_id})
        seen.add(place.span.span_id)
        place = nodes.get(place.span.parent_span_id)
    return False


def _events(
    tops: Sequence[_Node], started: int, ended: int, request_id: str, question: str, error: str | None
) -> Iterator[Event]:
    def at(moment: int) -> int:
        return (moment - started) // MILLISECOND

    yield _event(
        0,
        TurnStarted(
            request_id=request_id, session_id=None, input_message=question, deliberation_level=0, effective_level=0
        ),
    )
    root = tops[0] if len(tops) == 1 and tops[0].is_frame else None
    _name(root, tops)
    by_span = {node.span.span_id: node.id for top in tops for node in _all(top)}
    if root is None:  # nothing that encloses all of them has come
        whole = FrameOpened(
            frame_id="frame-0", parent_frame_id=None, purpose="root", label="trace", depth=0, opened_by=None
        )
        yield _event(0, whole)
        for top in tops:
            yield from _drawn(top, "frame-0", 1, at, by_span)
        status = "failed" if error else "succeeded"
        yield _event(at(ended), FrameClosed(frame_id="frame-0", status=status, closure_reason="imported"))
    else:
        yield from _drawn(root, None, 0, at, by_span)
    yield _event(
        at(ended),
        TurnFinished(
            status="failed" if error else "succeeded",
            answer_status="failed" if error else "answered",
            error=imported_error(error),
        ),
    )


def _name(root: _Node | None, tops: Sequence[_Node]) -> None:
    """Assign every node its path: the sender's own where all of them have a usable one."""
    nodes = [node for top in tops for node in _all(top)]
    own = [str(node.span.attributes.get("mrpvm.node.id", "")) for node in nodes]
    if root is not None and len(set(own)) == len(own) and all(_NODE_ID.fullmatch(text) for text in own):
        for node, text in zip(nodes, own, strict=True):
            node.id = text
        return
    if root is not None:
        root.id = "frame-0"
        _name_below(root.children, "0")
    else:
        _name_below(tops, "0")


def _name_below(nodes: Sequence[_Node], path: str) -> None:
    waiting = [(nodes, path)]
    while waiting:
        siblings, above = waiting.pop()
        for place, node in enumerate(siblings, start=1):
            node.id = f"{'frame' if node.is_frame else 'exec'}-{above}.{place}"
            waiting.append((node.children, f"{above}.{place}"))


def _all(top: _Node) -> Iterator[_Node]:
    """Return a node and the nodes below it, without the model requests of an execution of mrpvm."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children if node.is_frame else [])


def _drawn(top: _Node, parent_id: str | None, depth: int, at: Any, by_span: Mapping[str, str]) -> Iterator[Event]:
    """Return the events of a node and of what is below it, each frame around its own."""
    waiting: list[tuple[_Node, str | None, int, bool]] = [(top, parent_id, depth, False)]
    while waiting:
        node, above, level, is_ended = waiting.pop()
        span = node.span
        if not node.is_frame:
            yield from _execution(node, str(above), at, by_span)
        elif is_ended:
            closing = FrameClosed(
                frame_id=node.id,
                status=str(span.attributes.get("mrpvm.node.status") or ("failed" if span.error else "succeeded")),
                closure_reason=str(span.attributes.get("mrpvm.frame.closure_reason") or "imported"),
            )
            yield _event(at(span.end_ns), closing, node.id, {"output": _content(span, _OUTPUTS), "meta": _meta(span)})
        else:
            opened = FrameOpened(
                frame_id=node.id,
                parent_frame_id=above,
                purpose=str(span.attributes.get("mrpvm.frame.purpose") or ("root" if above is None else "span")),
                label=str(span.attributes.get("mrpvm.node.label") or span.name)[:LABEL_CHARS],
                depth=level,
                opened_by=_linked(span, ("child-frame",), by_span),
            )
            yield _event(at(span.start_ns), opened, node.id, {"input": _content(span, _INPUTS)})
            waiting.append((node, above, level, True))
            waiting += ((child, node.id, level + 1, False) for child in reversed(node.children))


def _execution(node: _Node, frame_id: str, at: Any, by_span: Mapping[str, str]) -> Iterator[Event]:
    span, attributes = node.span, node.span.attributes
    operation = str(attributes.get("gen_ai.operation.name") or attributes.get("openinference.span.kind") or "span")
    cause_kind = "retry" if any(link.kind == "retry" for link in span.links) else "flow"
    source = _linked(span, (cause_kind,), by_span)
    plugin_id = str(attributes.get("mrpvm.plugin.id") or span.name)[:LABEL_CHARS]
    began = PluginStarted(
        execution_id=node.id,
        frame_id=frame_id,
        stage=str(attributes.get("mrpvm.stage") or operation.lower()),
        plugin_id=plugin_id,
        plugin_name=str(attributes.get("mrpvm.node.label") or span.name)[:LABEL_CHARS],
        plugin_type=str(attributes.get("mrpvm.plugin.type") or "imported"),
        cause=Cause(kind="retry" if cause_kind == "retry" else "flow", execution_id=source) if source else None,
    )
    yield _event(at(span.start_ns), began)
    calls = [node.span, *(child.span for child in node.children)]
    usage = [used for call in calls if (used := _usage(call))]
    error = imported_error(span.error)
    model = next((str(value) for call in calls if (value := _first(call, _MODELS))), None)
    finished = PluginFinished(
        execution_id=node.id,
        frame_id=frame_id,
        status=str(attributes.get("mrpvm.node.status") or ("error" if span.error else "success")),
        duration_ms=at(span.end_ns) - at(span.start_ns),
        llm_calls=len(usage),
        model=model,
        error=error,
        output_snippet=_snippet(_content(span, _OUTPUTS)),
        usage=Usage(
            input_tokens=sum(used[0] for used in usage), output_tokens=sum(used[1] for used in usage)
        ) if usage else None,
    )  # fmt: skip
    detail = {
        "input": _content(span, _INPUTS), "output": _content(span, _OUTPUTS), "error": error,
        "meta": _meta(span) | ({"calls": [_meta(child.span) for child in node.children]} if node.children else {}),
    }  # fmt: skip
    yield _event(at(span.end_ns), finished, node.id, detail)


def _event(at_ms: int, data: Any, ref: str | None = None, detail: Mapping[str, Any] | None = None) -> Event:
    return Event(at_ms=at_ms, data=data, detail_ref=ref, detail=detail or {})


def _linked(span: ReceivedSpan, kinds: Sequence[str], by_span: Mapping[str, str]) -> str | None:
    return next((by_span[link.span_id] for link in span.links if link.kind in kinds and link.span_id in by_span), None)


def _first(span: ReceivedSpan, names: Sequence[str]) -> AttributeValue:
    return next((span.attributes[name] for name in names if span.attributes.get(name) not in (None, "")), None)


def _usage(span: ReceivedSpan) -> tuple[int, int] | None:
    received, written = _first(span, _INPUT_TOKENS), _first(span, _OUTPUT_TOKENS)
    if not isinstance(received, int) and not isinstance(written, int):
        return None
    return tuple(max(0, value) if isinstance(value, int) else 0 for value in (received, written))  # type: ignore[return-value]


def _content(span: ReceivedSpan, names: Sequence[str]) -> Any:
    """Return what a span got or gave: parsed where it is JSON; OpenInference's messages are numbered attributes."""
    value = _first(span, names)
    if value is None:
        prefix = "llm.input_messages." if names is _INPUTS else "llm.output_messages."
        numbered = {name: content for name, content in span.attributes.items() if name.startswith(prefix)}
        return numbered or None
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _said(span: ReceivedSpan, names: Sequence[str], role: str) -> str:
    """Return the text of the last message of a role, of conventions' messages, OpenInference's, or plain text."""
    prefix = "llm.input_messages." if names is _INPUTS else "llm.output_messages."
    numbered = sorted(
        int(place)
        for name, value in span.attributes.items()
        if (place := name.removeprefix(prefix).removesuffix(".message.role")).isdecimal()
        and name == f"{prefix}{place}.message.role"
        and value == role
        and len(place) < 6
    )
    if numbered:
        return str(span.attributes.get(f"{prefix}{numbered[-1]}.message.content") or "")
    content = _content(span, names)
    if isinstance(content, dict):
        content = content.get("messages") or content.get("choices") or content.get("input") or content
    if isinstance(content, list):
        texts = [text for item in content if (text := _message_text(item, role))]
        return texts[-1] if texts else ""
    return content if isinstance(content, str) else ""


def _message_text(item: Any, role: str) -> str:
    if not isinstance(item, dict):
        return ""
    if isinstance(item.get("message"), dict):  # a choice of a completion
        item = item["message"]
    if item.get("role") != role:
        return ""
    content = item.get("parts", item.get("content"))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("content") or part.get("text") or "") for part in parts if isinstance(part, dict))


def _meta(span: ReceivedSpan) -> dict[str, Any]:
    return {"span": span.name, "spanId": span.span_id, "service": span.service, "attributes": dict(span.attributes)}


def _snippet(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:SNIPPET_CHARS]

"""A turn's requests to language models: the executions that called a model, and the requests of one execution."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from mrpvm.llm.recorder import ModelExchange
from mrpvm.trace.events import Event, PluginFinished, PluginStarted, said
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import Detail
from sessions_app.web.shell.json_tree import shown_json
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of

PART_CHARS = 20_000
"""How much of one message of a request is shown."""
PREPARING = "preparing"
"""Stands for an execution where the requests are those that prepared the context."""
_KNOWN = ("model", "messages", "input", "instructions", "system")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """An execution that called a model."""

    ref: str
    name: str
    model: str
    role: str
    count: int
    tokens: str
    status: str
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestMessage:
    """One message of a request; `left_out` counts the characters that are not shown."""

    role: str
    text: str
    chars: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRequest:
    """One request as it was sent, with its response."""

    model: str
    url: str
    basis: str
    left_out: str
    attempt: int
    duration: str
    parts: tuple[RequestMessage, ...]
    settings: str
    response: SafeString | None


def model_calls(events: Sequence[Event]) -> list[ModelCall]:
    """Return the executions that called a model, in the order in which they ended."""
    names = {started.execution_id: started.plugin_name for started in said(PluginStarted, events)}
    return [
        _call(names.get(ended.execution_id, ""), ended) for ended in said(PluginFinished, events) if ended.llm_calls
    ]


def _call(name: str, ended: PluginFinished) -> ModelCall:
    usage = ended.usage
    about = "about " if usage and usage.is_estimated else ""
    return ModelCall(
        ref=ended.execution_id,
        name=name or ended.execution_id,
        model=ended.model or "",
        role=ended.model_role or "",
        count=ended.llm_calls,
        tokens=f"{about}{usage.input_tokens} tokens in, {usage.output_tokens} out" if usage else "",
        status=ended.status,
        tone=tone_of(ended.status),
    )


def preparing_requests(turn: ExplainabilityTurn) -> list[ModelExchange]:
    """Return the requests that prepared the turn's context before the machine ran."""
    return list((turn.context_report or {}).get("requests", ()))


def requests_context(turn: ExplainabilityTurn, detail: Detail | None) -> dict[str, Any]:
    """Return the requests of one execution, or those that prepared the context if no execution is given."""
    sent = preparing_requests(turn) if detail is None else detail.requests
    return {
        "turn": turn,
        "session": turn.session,
        "ref": "" if detail is None else detail.ref,
        "requests": [_request(item) for item in sent],
    }


def _request(item: Mapping[str, Any]) -> ShownRequest:
    body = item.get("body") or {}
    messages = body.get("messages") or body.get("input") or ()
    opening = body.get("instructions") or body.get("system")
    said = [("system", opening)] if opening else []
    if isinstance(messages, str):
        said.append(("user", messages))
    else:
        said += [_said(message) for message in messages]
    others = {key: value for key, value in body.items() if key not in _KNOWN}
    response = item.get("response")
    return ShownRequest(
        model=str(body.get("model", "")),
        url=str(item.get("url", "")),
        basis=str(item.get("modelBasis", "")),
        left_out=", ".join(item.get("leftOut") or ()),
        attempt=int(item.get("attempt") or 1),
        duration=duration_badge(item.get("durationMs")),
        parts=tuple(_part(role, content) for role, content in said),
        settings=", ".join(f"{key} {value}" for key, value in others.items()),
        response=shown_json(response, settings.MRPVM_INLINE_DETAIL_BYTES).html if response else None,
    )


def _said(message: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the role and text of a message; tool calls and their results are in separate fields."""
    called = message.get("tool_calls") or (message if message.get("type") == "function_call" else None)
    if called is not None:
        return "tool call", json.dumps(called, ensure_ascii=False, indent=1)
    if message.get("type") == "function_call_output":
        return "tool", message.get("output")
    return str(message.get("role", "")), message.get("content")


def _part(role: str, content: Any) -> RequestMessage:
    text = content if isinstance(content, str) else "\n".join(_texts(content))
    return RequestMessage(role=role, text=text[:PART_CHARS], chars=len(text), left_out=max(0, len(text) - PART_CHARS))


def _texts(content: Any) -> Iterable[str]:
    """Return the texts of a message's parts."""
    for part in content if isinstance(content, list) else ():
        yield str(part.get("text", part)) if isinstance(part, Mapping) else str(part)

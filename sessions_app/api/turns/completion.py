"""A turn's answer for the client: the chat completion and the events of a stream."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mrpvm.conversation.answers import response_markdown
from mrpvm.trace.events import Event, PluginFinished, said
from mrpvm.trace.record import execution_trace
from mrpvm.values import Selection
from mrpvm.wire import to_wire, wire_time
from sessions_app.api.turns.response_ids import response_id
from sessions_app.api.turns.responses import (
    ChatCompletion,
    CompletionExtras,
    CompletionHead,
    CompletionSent,
    ToolCalled,
    UsageObject,
)
from sessions_app.models import ExplainabilityTurn, Message
from sessions_app.provider_threads import as_sent
from sessions_app.queries.sessions.diagnostics import outbound_of, sent_requests, tool_messages
from sessions_app.queries.turns.entries import details_of
from sessions_app.turns.pipeline import TurnResult

DELTA_CHARS = 160


def completion(result: TurnResult, include: Collection[str]) -> ChatCompletion:
    """Return the chat response; plugins and level are those that this turn used."""
    turn, outcome = result.turn, result.outcome
    session = turn.session
    details = details_of([turn])[turn.pk] if "details" in include else None
    return {
        "id": f"mrp-{turn.request_id}",
        "object": "chat.completion",
        "created": int(turn.created_at.timestamp()),
        **head(turn, outcome.used),
        "expires_at": session.expires_at,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": outcome.answer_text},
                "finish_reason": result.finish_reason,
            }
        ],
        "usage": usage_of(result.events),
        "answer_basis": turn.answer_basis or None,
        "response_document": turn.response_document,
        "command": turn.command_result,
        "execution_trace": to_wire(execution_trace(result.events, details)),
        "workspace_dirty": session.is_dirty,
        "warnings": list((turn.client_request or {}).get("warnings", ())),
        **_sent(result),
        **_extras(result, include),
    }


def _sent(result: TurnResult) -> CompletionSent:
    """Return what was really sent and called, and the name under which the next request continues from here."""
    turn = result.turn
    is_command = turn.kind == turn.Kind.COMMAND
    outbound = outbound_of(sent_requests(turn, result.events))
    return {
        "response_id": None if is_command else response_id(turn.request_id),
        "tool_calls": [_tool_call(message) for message in (tool_messages(turn) if is_command else ())],
        "outbound_request": as_sent(turn.session_id, outbound.body) if outbound else None,
        "error_phase": None,
    }


def _tool_call(message: Message) -> ToolCalled:
    payload = message.payload or {}
    return {"name": payload.get("tool", ""), "input": payload.get("input", ""), "output": payload.get("output", "")}


def _extras(result: TurnResult, include: Collection[str]) -> CompletionExtras:
    report, answer = result.turn.context_report or {}, result.outcome.answer
    extras: CompletionExtras = {}
    if report.get("rewriting") is not None:
        extras["query_rewriting"] = report["rewriting"]
    if report.get("memory") is not None:
        extras["session_memory"] = report["memory"]
    if "response_markdown" in include and answer is not None:
        extras["response_markdown"] = response_markdown(answer, result.turn.session.session_id)
    return extras


def answer_events(
    result: TurnResult, include: Collection[str], sent: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the events that follow a commit: meta, the text in pieces, the whole.

    Args:
        sent: what of the text has gone out while it was written, after the meta.
    """
    text = result.outcome.answer_text
    if not sent:
        yield "response.meta", head(result.turn, result.outcome.used)
    for piece in unsent(text, sent) if text else [""]:
        yield "response.delta", {"delta": piece}
    whole = completion(result, include)
    expires_at = whole["expires_at"]
    yield "response.completed", {**whole, "expires_at": None if expires_at is None else wire_time(expires_at)}


def unsent(text: str, sent: str) -> Iterator[str]:
    """Return an answer's text in pieces, without `sent`, its beginning that has gone out; nothing if that is
    another.
    """
    start = len(sent) if text.startswith(sent) else len(text)
    for place in range(start, len(text), DELTA_CHARS):
        yield text[place : place + DELTA_CHARS]


def head(turn: ExplainabilityTurn, used: Selection) -> CompletionHead:
    """Return the plugins, session and base of an answer."""
    return {
        "request_id": turn.request_id,
        "session_id": turn.session.session_id,
        "planner_plugin": used.planner,
        "seed_detector_plugin": used.seed_detector,
        "kb_plugin": used.kb,
        "goal_solver_plugin": used.goal_solver,
        "deliberation_level": turn.deliberation_level,
        "kb_id": turn.session.mounted_kb.kb_id,
        "kb_name": turn.session.mounted_kb.name,
    }


def usage_of(events: Sequence[Event]) -> UsageObject:
    """Return the tokens of all model calls of the turn; `estimated` where a provider did not count."""
    used = [ended.usage for ended in said(PluginFinished, events) if ended.usage is not None]
    prompt, completion = sum(item.input_tokens for item in used), sum(item.output_tokens for item in used)
    counts: UsageObject = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if any(item.is_estimated for item in used):
        counts["estimated"] = True
    return counts

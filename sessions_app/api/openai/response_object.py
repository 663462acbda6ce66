"""A turn as a response of OpenAI's Responses API."""

from collections.abc import Mapping
from typing import Any

from mrpvm.trace.events import Event
from sessions_app.api.openai.objects import MessageItem, OutputText, ResponseError, ResponseObject
from sessions_app.api.openai.usage import response_usage, usage_of_turn
from sessions_app.api.turns.response_ids import response_id
from sessions_app.models import ExplainabilityTurn, Message

_ITEM = "msg_"
_STATUSES = {"running": "in_progress", "succeeded": "completed", "cancelled": "cancelled"}


def conversation_id(session_id: str) -> str:
    """Return a session's id as this API knows it; a client's own name stays as it is."""
    return f"conv_{session_id.removeprefix('sess-')}" if session_id.startswith("sess-") else session_id


def session_id_of(conversation: str) -> str:
    """Return the session's own id."""
    return f"sess-{conversation.removeprefix('conv_')}" if conversation.startswith("conv_") else conversation


def request_id_of_output(item_id: str) -> str:
    """Return the id of the turn that an output item is the answer of; of anything else a text that names no turn."""
    return f"req-{item_id.removeprefix(_ITEM)}" if item_id.startswith(_ITEM) else ""


def output_item(request_id: str, text: str, status: str = "completed") -> MessageItem:
    """Return an answer as an output item."""
    return {
        "id": f"{_ITEM}{request_id.removeprefix('req-')}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [output_text(text)] if status != "in_progress" else [],
    }


def output_text(text: str) -> OutputText:
    """Return a text as a part of an output item."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def item_of(message: Message, *, is_answer: bool = False) -> MessageItem:
    """Return a stored message as a conversation item.

    Args:
        is_answer: it is what its turn answered; its id is that of the output item then, and tells its place otherwise.
    """
    if message.role == "assistant":
        named = message.turn.request_id if is_answer and message.turn else str(message.sequence)
        return output_item(named, message.content)
    return {
        "id": f"{_ITEM}{message.sequence}",
        "type": "message",
        "role": "developer" if message.role == "tool" else message.role,
        "status": "completed",
        "content": [{"type": "input_text", "text": message.content}],
    }


def response_of(turn: ExplainabilityTurn, text: str | None, events: list[Event] | None = None) -> ResponseObject:
    """Return the response of a turn, however it stands.

    Args:
        text: the answer, None while there is none.
        events: the turn's events, for its tokens.
    """
    client_request: Mapping[str, Any] = turn.client_request or {}
    was_cut = client_request.get("finish_reason") == "length"
    status = "incomplete" if was_cut else _STATUSES.get(turn.status, "failed")
    error = turn.error or {}
    failed: ResponseError = {"code": "server_error", "message": f"{error.get('code')}: {error.get('message')}"}
    output = [] if text is None else [output_item(turn.request_id, text, "incomplete" if was_cut else "completed")]
    usage = None if text is None else response_usage(usage_of_turn(events or [], turn.user_message, text))
    return {
        "id": response_id(turn.request_id),
        "object": "response",
        "created_at": int(turn.created_at.timestamp()),
        "completed_at": int(turn.finished_at.timestamp()) if turn.finished_at and status == "completed" else None,
        "status": status,
        "background": bool(client_request.get("background")),
        "error": failed if status == "failed" else None,
        "incomplete_details": {"reason": "max_output_tokens"} if was_cut else None,
        "instructions": client_request.get("instructions"),
        "max_output_tokens": client_request.get("max_output_tokens"),
        "model": client_request.get("model") or "mrpvm",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": client_request.get("previous_response_id"),
        "conversation": {"id": conversation_id(turn.session.session_id)},
        "store": True,
        "temperature": client_request.get("temperature"),
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "auto",
        "usage": usage,
        "user": client_request.get("user"),
        "metadata": client_request.get("metadata") or {},
        "session_id": turn.session.session_id,
        "request_id": turn.request_id,
        "answer_basis": turn.answer_basis or None,
        "warnings": list(client_request.get("warnings", ())),
    }  # fmt: skip

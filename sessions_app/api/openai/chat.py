"""`/v1/chat/completions`: the conversation comes whole, and its session is recognised."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.trace.events import AnswerDelta, Event
from mrpvm.wire import json_bytes
from sessions_app.api.openai.errors import openai_error
from sessions_app.api.openai.messages import said_in
from sessions_app.api.openai.objects import (
    Beside,
    ChatCompletionChoice,
    ChatCompletionMessage,
    ChunkObject,
    CompletionObject,
    Delta,
)
from sessions_app.api.openai.parameters import flag_of
from sessions_app.api.openai.sessions import CheckedRequest, check_request, enter_session, resolve_conversation
from sessions_app.api.openai.usage import usage_of_turn
from sessions_app.api.openai.views import OpenAIView
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.api.shell.throttling import ChatThrottle
from sessions_app.api.turns.chat_sessions import SESSION_HEADER
from sessions_app.api.turns.completion import unsent
from sessions_app.api.turns.live_answer import voided
from sessions_app.api.turns.sse import Feed, StreamEvent
from sessions_app.api.turns.turn_stream import TurnStream
from sessions_app.commands.messages import answer_message
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.pipeline import TurnResult


class OpenAIChatCompletions(OpenAIView):
    """Answers the last user message of a conversation."""

    throttle_classes = (ChatThrottle,)
    takes_chat_keys = True
    messages_param = "messages"

    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Refuse what needs no session first, so that a refused request leaves none behind."""
        body = self.sent()
        checked = check_request(self, body, said_in(body.get("messages"), "messages"), "chat.completions")
        recognised, checked = resolve_conversation(self, checked)
        checked = enter_session(self, checked, recognised)
        if flag_of(body, "stream"):
            return self._stream(recognised.session, checked, with_usage=_wants_usage(body))
        result = answer_message(recognised.session, checked.call, wait_ms=checked.wait_ms)
        self.request_id = result.turn.request_id
        return Response(_completion(result, checked), headers={SESSION_HEADER: result.turn.session.session_id})

    def _stream(self, session: Session, checked: CheckedRequest, *, with_usage: bool) -> StreamingHttpResponse:
        feed = Feed()
        chunks = Chunks(feed, checked, with_usage=with_usage)
        stream = TurnStream(self, feed, chunks)
        stream.begin(session, checked.call, checked.wait_ms)
        self.request_id = chunks.request_id
        return stream.response({SESSION_HEADER: self.session_id or ""}, chunk_frame)


def _wants_usage(body: Mapping[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def chunk_frame(name: str, data: Mapping[str, Any]) -> bytes:
    """Return one chunk as it goes over the wire: a line of JSON without a name, or the mark of the end."""
    return b"data: %b\n\n" % (b"[DONE]" if name == "done" else json_bytes(data))


def completion_id(request_id: str) -> str:
    """Return a turn's id as this API knows it."""
    return f"chatcmpl-{request_id.removeprefix('req-')}"


def _beside(session_id: str, request_id: str, checked: CheckedRequest) -> Beside:
    """Return what is beside OpenAI's own fields: where the answer can be explained, and what had no effect."""
    return {"session_id": session_id, "request_id": request_id, "warnings": list(checked.warnings)}


def _completion(result: TurnResult, checked: CheckedRequest) -> CompletionObject:
    turn = result.turn
    text = result.outcome.answer_text
    message: ChatCompletionMessage = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice: ChatCompletionChoice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": result.finish_reason,
    }
    return {
        "id": completion_id(turn.request_id),
        "object": "chat.completion",
        "created": int(turn.created_at.timestamp()),
        "model": checked.model,
        "choices": [choice],
        "usage": usage_of_turn(result.events, turn.user_message, text),
        "service_tier": None,
        "system_fingerprint": None,
        **_beside(turn.session.session_id, turn.request_id, checked),
        "answer_basis": turn.answer_basis or None,
    }


class Chunks:
    """The chunks of one streamed answer."""

    def __init__(self, feed: Feed, checked: CheckedRequest, *, with_usage: bool) -> None:
        self._feed = feed
        self._asked = checked
        self._with_usage = with_usage
        self._sent = ""
        self._created = int(time.time())
        self.request_id = ""

    def listen(self, turn: ExplainabilityTurn, event: Event) -> None:
        """Open the stream as soon as the turn has started; this API knows no progress."""
        if not self.request_id:
            self._feed.put(*self._first(turn.request_id, turn.session.session_id))

    def read(self, turn: ExplainabilityTurn, piece: AnswerDelta) -> None:
        self._sent += piece.delta
        self._feed.put("chunk", self._chunk({"content": piece.delta}))

    def rest(self, result: TurnResult) -> Iterator[StreamEvent]:
        """Return what was not sent yet, the end, and the tokens if they were asked for."""
        text = result.outcome.answer_text
        if not self.request_id:  # a command, which describes nothing on its way
            yield self._first(result.turn.request_id, result.turn.session.session_id)
        for piece in unsent(text, self._sent):
            yield "chunk", self._chunk({"content": piece})
        yield "chunk", {**self._chunk({}, result.finish_reason), "answer_basis": result.turn.answer_basis or None}
        if self._with_usage:
            usage = usage_of_turn(result.events, result.turn.user_message, text)
            yield "chunk", {**self._chunk({}), "choices": [], "usage": usage}
        yield "done", {}

    def failed(self, error: ErrorResponse) -> Iterator[StreamEvent]:
        """Return the error, which ends the stream without the mark of a good end."""
        yield "error", openai_error(voided(error, self._sent))

    def _first(self, request_id: str, session_id: str) -> StreamEvent:
        self.request_id = request_id
        beside = _beside(session_id, request_id, self._asked)
        return "chunk", {**self._chunk({"role": "assistant", "content": ""}), **beside}

    def _chunk(self, delta: Delta, finish_reason: str | None = None) -> ChunkObject:
        return {
            "id": completion_id(self.request_id),
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._asked.model,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}],
        }

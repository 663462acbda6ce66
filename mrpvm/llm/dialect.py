"""The two APIs of an OpenAI-compatible endpoint: how a request is built, and how its answer is read."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from mrpvm.llm.port import Prompt
from mrpvm.llm.roles import ModelConfig
from mrpvm.values import HistoryMessage, Usage

_NOT_IN_NAMES, _NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]"), 64


class UnreadableAnswer(Exception):
    """The provider's answer is not what its API promises; the message says in which way."""


class Completion(Struct, frozen=True, kw_only=True):
    """A whole answer as the provider gave it; `usage` is None where it did not count.

    `response_id` is None where the API has no threads. `replaced_count` is how many characters of the text could not be
    stored and were replaced.
    """

    text: str
    finish_reason: str
    usage: Usage | None = None
    response_id: str | None = None
    replaced_count: int = 0


Piece = str | Completion
"""What a stream consists of: texts, then one completion, whose own text is not looked at."""


class Dialect(Protocol):
    """One of the two APIs."""

    path: str

    def body(self, model: str, prompt: Prompt, config: ModelConfig, *, streams: bool) -> dict[str, Any]:
        """Return the request's body."""

    def limits(self, max_tokens: int | None, stop: tuple[str, ...]) -> dict[str, Any]:
        """Return what bounds the answer, as far as the API knows it."""

    def following(self, previous_id: str | None) -> dict[str, Any]:
        """Return what puts a request into the provider's thread, after a response or at its beginning."""

    def send(self, client: Any, body: Mapping[str, Any]) -> Any:
        """Make the SDK's call for a body; return its answer or its stream."""

    def completion(self, answer: Any) -> Completion:
        """Read a whole answer.

        Raises:
            UnreadableAnswer: it is not one.
        """

    def pieces(self, stream: Any) -> Iterator[Piece]:
        """Read a stream.

        Raises:
            UnreadableAnswer: it says that it failed. One that was cut off ends without a completion.
        """


class ChatDialect:
    """`/chat/completions`."""

    path = "/chat/completions"

    def body(self, model: str, prompt: Prompt, config: ModelConfig, *, streams: bool) -> dict[str, Any]:
        items = (item for place, message in enumerate(prompt.messages) for item in _chat_items(message, place))
        said = [{"role": "system", "content": _sendable(prompt.system)}, *items]
        body: dict[str, Any] = {"model": model, "messages": said}
        body |= _given(
            temperature=config.temperature, reasoning_effort=config.thinking_level, verbosity=config.verbosity
        )
        if streams:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def limits(self, max_tokens: int | None, stop: tuple[str, ...]) -> dict[str, Any]:
        """Return the parameters that limit the answer."""
        limits: dict[str, Any] = {} if max_tokens is None else {"max_tokens": max_tokens}
        return limits | ({"stop": list(stop)} if stop else {})

    def following(self, previous_id: str | None) -> dict[str, Any]:
        """Return nothing: this API has no threads."""
        return {}

    def send(self, client: Any, body: Mapping[str, Any]) -> Any:
        """Make the SDK's call."""
        return client.chat.completions.create(**body)

    def completion(self, answer: Any) -> Completion:
        choice = _first(getattr(answer, "choices", None))
        text = getattr(getattr(choice, "message", None), "content", None)
        if choice is None or not isinstance(text, str | None):
            raise UnreadableAnswer("it is no chat completion")
        return Completion(text=text or "", finish_reason=_reason(choice) or "stop", usage=self._usage(answer))

    def pieces(self, stream: Any) -> Iterator[Piece]:
        """Read `chat.completion.chunk`s; the last one with a choice names the reason for the end."""
        reason, usage = None, None
        for chunk in stream:
            usage = self._usage(chunk) or usage
            choice = _first(getattr(chunk, "choices", None))
            text = getattr(getattr(choice, "delta", None), "content", None)
            if isinstance(text, str) and text:
                yield text
            reason = (_reason(choice) if choice is not None else None) or reason
        if reason is not None:
            yield Completion(text="", finish_reason=reason, usage=usage)

    def _usage(self, answer: Any) -> Usage | None:
        return _usage(getattr(answer, "usage", None), "prompt_tokens", "completion_tokens")


class ResponsesDialect:
    """`/responses`."""

    path = "/responses"

    def body(self, model: str, prompt: Prompt, config: ModelConfig, *, streams: bool) -> dict[str, Any]:
        """Return the request's body; outside a thread the provider is asked to keep nothing."""
        body: dict[str, Any] = {
            "model": model,
            "instructions": _sendable(prompt.system),
            "input": [
                item for place, message in enumerate(prompt.messages) for item in _response_items(message, place)
            ],
            "store": False,
        }
        body |= _given(
            temperature=config.temperature,
            reasoning=_given(effort=config.thinking_level) or None,
            text=_given(verbosity=config.verbosity) or None,
        )
        return body | ({"stream": True} if streams else {})

    def limits(self, max_tokens: int | None, stop: tuple[str, ...]) -> dict[str, Any]:
        """Return what bounds the answer; this API has no stop texts."""
        return {} if max_tokens is None else {"max_output_tokens": max_tokens}

    def following(self, previous_id: str | None) -> dict[str, Any]:
        """Return the response that is followed; what may be followed itself has to be kept by the provider."""
        return {"store": True} | _given(previous_response_id=previous_id)

    def send(self, client: Any, body: Mapping[str, Any]) -> Any:
        """Make the SDK's call."""
        return client.responses.create(**body)

    def completion(self, answer: Any) -> Completion:
        try:
            text = answer.output_text
        except (AttributeError, TypeError):
            raise UnreadableAnswer("it is no response") from None
        status = getattr(answer, "status", None)
        if status in ("failed", "cancelled"):
            raise UnreadableAnswer(f"it says that it {status}")
        is_filtered = getattr(getattr(answer, "incomplete_details", None), "reason", None) == "content_filter"
        reason = "stop" if status != "incomplete" else "content_filter" if is_filtered else "length"
        named = getattr(answer, "id", None)
        return Completion(
            text=text,
            finish_reason=reason,
            usage=self._usage(answer),
            response_id=named if isinstance(named, str) and named else None,
        )

    def pieces(self, stream: Any) -> Iterator[Piece]:
        """Read the stream's events; `response.completed` or `response.incomplete` ends it."""
        for event in stream:
            kind = getattr(event, "type", "")
            if kind == "response.output_text.delta" and isinstance(event.delta, str):
                yield event.delta
            elif kind in ("response.completed", "response.incomplete"):
                yield self.completion(event.response)
            elif kind in ("response.failed", "error"):
                raise UnreadableAnswer("it broke off with an error")

    def _usage(self, answer: Any) -> Usage | None:
        return _usage(getattr(answer, "usage", None), "input_tokens", "output_tokens")


def _chat_items(message: HistoryMessage, place: int) -> list[dict[str, Any]]:
    """Return a message as `messages` of the chat API has it: a tool's result with the call that it answers."""
    content = _sendable(message.content)
    if message.role != "tool":
        return [{"role": message.role, "content": content}]
    call_id, function = f"call_{place}", {"name": _tool_name(message), "arguments": _tool_arguments(message)}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": content},
    ]


def _response_items(message: HistoryMessage, place: int) -> list[dict[str, Any]]:
    """Return a message as `input` of the Responses API has it: a tool's result with the call that it answers."""
    content = _sendable(message.content)
    if message.role != "tool":
        return [{"role": message.role, "content": content}]
    called = {"call_id": f"call_{place}", "name": _tool_name(message), "arguments": _tool_arguments(message)}
    return [
        {"type": "function_call", **called},
        {"type": "function_call_output", "call_id": called["call_id"], "output": content},
    ]


def _tool_name(message: HistoryMessage) -> str:
    """Return a name that both APIs take."""
    return _NOT_IN_NAMES.sub("_", message.tool)[:_NAME_CHARS] or "tool"


def _tool_arguments(message: HistoryMessage) -> str:
    return json.dumps({"input": message.tool_input} if message.tool_input else {})


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that hold something; what is None is left to the provider."""
    return {name: value for name, value in fields.items() if value is not None}


def _sendable(text: str) -> str:
    """Return the text as UTF-8 can carry it: half a surrogate pair, which JSON may hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _first(choices: Any) -> Any:
    return choices[0] if isinstance(choices, list) and choices else None


def _reason(choice: Any) -> str | None:
    reason = getattr(choice, "finish_reason", None)
    return reason if isinstance(reason, str) else None


def _usage(usage: Any, input_name: str, output_name: str) -> Usage | None:
    counts = getattr(usage, input_name, None), getattr(usage, output_name, None)
    if not all(isinstance(count, int) for count in counts):
        return None
    return Usage(input_tokens=counts[0] or 0, output_tokens=counts[1] or 0)


DIALECTS: Mapping[str, Dialect] = {"chat": ChatDialect(), "responses": ResponsesDialect()}
"""By the value of `MRPVM_LLM_API`."""

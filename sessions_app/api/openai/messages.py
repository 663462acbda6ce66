"""What clients of the OpenAI dialect say, as messages of ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mrpvm.errors import InvalidInput
from mrpvm.values import HistoryMessage
from sessions_app.api.openai.errors import invalid, unsupported

_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool", "system": "system",
          "developer": "system"}  # fmt: skip
_WITHOUT_TEXT = ("reasoning", "function_call")
"""Items that clients send back beside an answer, in which nothing was said."""
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMessages:
    """A request's messages, taken apart: the one to answer, what was said before it, and the system prompt.

    `has_tail`: something followed the last user message; it is at the end of `before`.
    """

    message: str
    before: tuple[HistoryMessage, ...]
    system_prompt: str | None
    has_tail: bool = False


def said_in(messages: Any, name: str) -> SplitMessages:
    """Split the messages of a chat; the last user message is the one to answer.

    Raises:
        InvalidInput: no such list, an unknown role, parts that are not text, no user message, no text in it.
    """
    if not isinstance(messages, list) or not messages:
        raise invalid(name, "must be a list of at least one message.")
    return _apart([_message(item, f"{name}[{place}]") for place, item in enumerate(messages)])


def said_as_input(sent: Any, instructions: Any) -> SplitMessages:
    """Split the `input` and `instructions` of a response.

    Raises:
        InvalidInput: as for `said_in`, and for items that are no messages.
    """
    if instructions is not None and not isinstance(instructions, str):
        raise invalid("instructions", "must be a text.")
    items = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
    if not isinstance(items, list) or not items:
        raise invalid("input", "must be a text or a list of at least one item.")
    messages = items_in(items, "input")
    return _apart(([HistoryMessage(role="system", content=instructions)] if instructions else []) + messages)


def items_in(items: Sequence[Any], name: str) -> list[HistoryMessage]:
    """Read conversation items: messages, and what a client's tool gave; what a model thought and called is left out."""
    return [
        _item(item, f"{name}[{place}]")
        for place, item in enumerate(items)
        if not (isinstance(item, dict) and item.get("type") in _WITHOUT_TEXT)
    ]


def _item(item: Any, name: str) -> HistoryMessage:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "function_call_output":
        return HistoryMessage(role="tool", content=_text(item.get("output"), f"{name}.output"))
    if kind != "message":
        raise unsupported(name, f"items of type {kind!r} are not taken, only messages.")
    return _message(item, name)


def _message(item: Any, name: str) -> HistoryMessage:
    if not isinstance(item, dict):
        raise invalid(name, "must be an object with role and content.")
    role = item.get("role")
    if role not in _ROLES:
        raise InvalidInput(
            f"{name}.role must be one of {', '.join(_ROLES)}.", code="INVALID_ROLE", details={"param": f"{name}.role"}
        )
    content = item.get("content")
    if content is None and role == "assistant":  # an answer that consists of tool calls
        content = ""
    return HistoryMessage(role=_ROLES[role], content=_text(content, f"{name}.content"))


def _text(content: Any, name: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput(f"{name} must be a text.", code="INVALID_CONTENT", details={"param": name})
    texts = []
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get(_TEXT_PARTS[kind]) if kind in _TEXT_PARTS else None
        if not isinstance(text, str):
            raise unsupported(
                f"{name}[{place}]", f"parts of type {kind!r} are not taken. Say in a text part what they hold."
            )
        texts.append(text)
    return "\n".join(texts)


def _apart(messages: list[HistoryMessage]) -> SplitMessages:
    places = [place for place, item in enumerate(messages) if item.role == "user"]
    if not places:
        raise InvalidInput("At least one message must be the user's.", code="NO_USER_MESSAGE")
    last = places[-1]
    prompts = [item.content for item in messages if item.role == "system" and item.content.strip()]
    others = [item for place, item in enumerate(messages) if place != last and item.role != "system"]
    return SplitMessages(
        message=messages[last].content,
        before=tuple(others),
        system_prompt="\n\n".join(prompts) or None,
        has_tail=any(item.role != "system" for item in messages[last + 1 :]),
    )

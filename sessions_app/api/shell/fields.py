"""Fields that accept only their own JSON type: a number is not a text, a text not a number, and 1 not `true`."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from mrpvm.errors import InvalidInput
from mrpvm.wire import JSONObject

CHAT_ROLES = ("user", "system")
HISTORY_ROLES = ("user", "system", "assistant", "tool")


class JSONText(serializers.CharField):
    """A JSON string, kept as it is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class TextOrNothing(JSONText):
    """A JSON string; any other value counts as absent."""

    def run_validation(self, data: Any = serializers.empty) -> str | None:
        """Return the string, None for what is none."""
        return super().run_validation(data if data is serializers.empty or isinstance(data, str) else None)


class WholeNumber(serializers.IntegerField):
    """A JSON number without a fraction."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float) or (isinstance(data, float) and data % 1):
            self.fail("invalid")
        return super().to_internal_value(int(data))


class JSONNumber(serializers.FloatField):
    """A JSON number."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class Truth(serializers.BooleanField):
    """`true` or `false`."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


def _messages_schema(roles: tuple[str, ...], content: JSONObject, **more: Any) -> JSONObject:
    message = {
        "type": "object",
        "properties": {"role": {"type": "string", "enum": list(roles)}, "content": {"type": "string", **content}},
        "required": ["role", "content"],
    }
    return {"type": "array", "items": message, **more}


@extend_schema_field(
    _messages_schema(
        CHAT_ROLES,
        {"pattern": r"\S"},
        minItems=1,
        contains={"type": "object", "properties": {"role": {"const": "user"}}, "required": ["role"]},
        description="The last `user` message is answered; the last `system` message is the system prompt.",
    )
)
class ChatMessages(serializers.Field):
    """The messages of a chat request."""

    def run_validation(self, data: Any = serializers.empty) -> list[dict[str, str]]:
        """Return the messages.

        Raises:
            InvalidInput: NO_USER_MESSAGE, INVALID_ROLE, INVALID_CONTENT, INVALID_INPUT.
        """
        sent = [] if data is serializers.empty or data is None else data
        messages = _messages(sent, "messages", CHAT_ROLES)
        for message in messages:
            if not message["content"].strip():
                raise InvalidInput("The content of a message must not be blank.", code="INVALID_CONTENT")
        if not any(message["role"] == "user" for message in messages):
            raise InvalidInput("At least one message must be the user's.", code="NO_USER_MESSAGE")
        return messages


@extend_schema_field(
    _messages_schema(
        HISTORY_ROLES,
        {},
        description="What was said before: the window of this turn is cut from it. Taken over when this request "
        "creates the session; an existing session keeps its own messages.",
    )
)
class HistoryMessages(serializers.Field):
    """The explicit history of a chat request."""

    def to_internal_value(self, data: Any) -> list[dict[str, str]] | None:
        """Return the messages, oldest first; None for what is no list, which counts as absent.

        Raises:
            InvalidInput: INVALID_ROLE, INVALID_CONTENT, INVALID_INPUT.
        """
        return _messages(data, "conversation_history", HISTORY_ROLES) if isinstance(data, list) else None

    def to_representation(self, value: Any) -> Any:
        """Return the messages as they are."""
        return value


def _messages(data: Any, name: str, roles: tuple[str, ...]) -> list[dict[str, str]]:
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise InvalidInput(f"{name} must be a list of objects with role and content.")
    for item in data:
        if item.get("role") not in roles:
            raise InvalidInput(f"The role of a message must be one of: {', '.join(roles)}.", code="INVALID_ROLE")
        if not isinstance(item.get("content"), str):
            raise InvalidInput("The content of a message must be a text.", code="INVALID_CONTENT")
    return [{"role": item["role"], "content": item["content"]} for item in data]

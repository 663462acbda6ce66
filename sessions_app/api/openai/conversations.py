"""`/v1/conversations`: a conversation is a session, its items are the messages."""

from typing import TYPE_CHECKING, Any

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.histories import append_messages, begin_session, remove_message
from sessions_app.actions.sessions import delete_session, note_metadata
from sessions_app.api.openai.errors import invalid, missing
from sessions_app.api.openai.messages import items_in
from sessions_app.api.openai.parameters import metadata_of
from sessions_app.api.openai.response_object import conversation_id, item_of, session_id_of
from sessions_app.api.openai.views import OpenAIView, listed
from sessions_app.queries.sessions import messages, session

if TYPE_CHECKING:
    from sessions_app.models import Message, Session

_ITEMS_MAX = 20


def _conversation(found: "Session") -> dict[str, Any]:
    return {
        "id": conversation_id(found.session_id),
        "object": "conversation",
        "created_at": int(found.created_at.timestamp()),
        "metadata": found.metadata,
        "session_id": found.session_id,
    }


def _found(view: OpenAIView, conversation: str) -> "Session":
    try:
        found = session(view.project, session_id_of(conversation))
    except NotFound:
        raise missing(
            "conversation_id", "conversation_not_found", f"The conversation '{conversation}' does not exist."
        ) from None
    view.session_id = found.session_id
    return found


def _items(body: dict[str, Any]) -> list[dict[str, str]]:
    given = body.get("items") or []
    if not isinstance(given, list) or len(given) > _ITEMS_MAX:
        raise invalid("items", f"must be a list of up to {_ITEMS_MAX} items.")
    return [{"role": item.role, "content": item.content} for item in items_in(given, "items")]


class Conversations(OpenAIView):
    """New conversations."""

    def post(self, request: Request) -> Response:
        """Make a session, with messages to begin with."""
        body = self.sent()
        items, metadata = _items(body), metadata_of(body)
        return Response(_conversation(begin_session(self.project, items, metadata=metadata)))


class OneConversation(OpenAIView):
    """A conversation."""

    def get(self, request: Request, conversation_id: str) -> Response:
        """Read it."""
        return Response(_conversation(_found(self, conversation_id)))

    def post(self, request: Request, conversation_id: str) -> Response:
        """Replace the client's own notes."""
        return Response(_conversation(note_metadata(_found(self, conversation_id), metadata_of(self.sent()))))

    def delete(self, request: Request, conversation_id: str) -> Response:
        """End the session; people can bring it back for a while."""
        delete_session(_found(self, conversation_id))
        return Response({"id": conversation_id, "object": "conversation.deleted", "deleted": True})


class Items(OpenAIView):
    """The messages of a conversation."""

    def get(self, request: Request, conversation_id: str) -> Response:
        """List them."""
        return Response(listed(request, [item_of(message) for message in messages(_found(self, conversation_id))]))

    def post(self, request: Request, conversation_id: str) -> Response:
        """Append messages without answering them."""
        found = _found(self, conversation_id)
        items = _items(self.sent())
        if not items:
            raise invalid("items", "must hold at least one item.")
        made = [item_of(message) for message in append_messages(found, items)]
        ends = {"first_id": made[0]["id"], "last_id": made[-1]["id"], "has_more": False}
        return Response({"object": "list", "data": made, **ends})


class OneItem(OpenAIView):
    """A message of a conversation."""

    def get(self, request: Request, conversation_id: str, item_id: str) -> Response:
        """Read it."""
        return Response(item_of(self._message(_found(self, conversation_id), item_id)))

    def delete(self, request: Request, conversation_id: str, item_id: str) -> Response:
        """Take it out of the conversation; the turn that it belongs to keeps its record."""
        found = _found(self, conversation_id)
        remove_message(found, self._message(found, item_id).sequence)
        return Response(_conversation(found))

    def _message(self, found: "Session", item_id: str) -> "Message":
        for message in messages(found):
            if item_of(message)["id"] == item_id:
                return message
        raise missing("item_id", "item_not_found", f"The conversation has no item '{item_id}'.")

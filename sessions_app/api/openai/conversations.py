"""`/v1/conversations`: a conversation is a session, its items are the messages."""

import re
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.sessions.histories import append_messages, begin_session, remove_message
from sessions_app.actions.sessions.session import delete_session, note_metadata
from sessions_app.api.openai.errors import invalid, missing
from sessions_app.api.openai.messages import items_in
from sessions_app.api.openai.objects import ConversationObject, MessageItem
from sessions_app.api.openai.parameters import metadata_of
from sessions_app.api.openai.response_object import conversation_id, item_of, session_id_of
from sessions_app.api.openai.views import OpenAIView, PageAsked, list_of, unknown_after
from sessions_app.ingest.histories import read_history
from sessions_app.models import Message, Session
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.sessions.conversations import items, items_behind

_ITEMS_MAX = 20
_ITEM_ID = re.compile("msg_(?:([0-9]{1,9})|([0-9a-f]{32}))")
"""An item is named by its place in the conversation, an answer by its turn."""


def _conversation(session: Session) -> ConversationObject:
    return {
        "id": conversation_id(session.session_id),
        "object": "conversation",
        "created_at": int(session.created_at.timestamp()),
        "metadata": session.metadata,
        "session_id": session.session_id,
    }


def _found(view: OpenAIView, conversation: str) -> Session:
    try:
        row = sessions.session(view.project, session_id_of(conversation))
    except NotFound:
        raise missing(
            "conversation_id", "conversation_not_found", f"The conversation '{conversation}' does not exist."
        ) from None
    view.session_id = row.session_id
    return row


def _item(session: Session, item_id: str) -> Message | None:
    """Return the message of this id, None if the conversation has none."""
    named = _ITEM_ID.fullmatch(item_id)
    if named is None:
        return None
    place, turn = named.groups()
    rows = items(session)
    item = rows.filter(sequence=place).first() if place else rows.filter(turn__request_id=f"req-{turn}").last()
    return item if item is not None and _listed(item)["id"] == item_id else None


def _listed(item: Message) -> MessageItem:
    return item_of(item, is_answer=item.is_answer)  # type: ignore[attr-defined]  # by `items`


def _sent_items(body: dict[str, Any]) -> list[dict[str, str]]:
    items = body.get("items") or []
    if not isinstance(items, list) or len(items) > _ITEMS_MAX:
        raise invalid("items", f"must be a list of up to {_ITEMS_MAX} items.")
    return [{"role": item.role, "content": item.content} for item in items_in(items, "items")]


class Conversations(OpenAIView):
    def post(self, request: Request) -> Response:
        """Make a session, with messages to begin with."""
        body = self.sent()
        sent, metadata = _sent_items(body), metadata_of(body)
        history = read_history(self.project, sent)
        return Response(_conversation(begin_session(self.project, history, metadata=metadata)))


class OneConversation(OpenAIView):
    def get(self, request: Request, conversation_id: str) -> Response:
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
        query = PageAsked.by(request)
        session = _found(self, conversation_id)
        last = None if query.after is None else _item(session, query.after)
        if query.after is not None and last is None:
            raise unknown_after()
        rows = items_behind(session, last, is_newest_first=query.is_newest_first)
        return Response(query.as_list([_listed(item) for item in rows[: query.limit + 1]]))

    def post(self, request: Request, conversation_id: str) -> Response:
        """Append messages without answering them."""
        session = _found(self, conversation_id)
        sent = _sent_items(self.sent())
        if not sent:
            raise invalid("items", "must hold at least one item.")
        appended = append_messages(session, read_history(self.project, sent))
        return Response(list_of([item_of(message) for message in appended]))


class OneItem(OpenAIView):
    """A message of a conversation."""

    def get(self, request: Request, conversation_id: str, item_id: str) -> Response:
        return Response(_listed(self._known(_found(self, conversation_id), item_id)))

    def delete(self, request: Request, conversation_id: str, item_id: str) -> Response:
        """Delete the item from the conversation; its turn keeps the record."""
        session = _found(self, conversation_id)
        remove_message(session, self._known(session, item_id).sequence)
        return Response(_conversation(session))

    def _known(self, session: Session, item_id: str) -> Message:
        item = _item(session, item_id)
        if item is None:
            raise missing("item_id", "item_not_found", f"The conversation has no item '{item_id}'.")
        return item

"""One stored response: read, deleted, cancelled, and what it was asked."""

import time

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.sessions.client_requests import forget_response
from sessions_app.actions.turns.running import request_cancel
from sessions_app.api.openai.errors import unsupported
from sessions_app.api.openai.response_object import item_of
from sessions_app.api.openai.responses import current_response, known_turn, stored_response
from sessions_app.api.openai.views import OpenAIView, PageAsked, unknown_after
from sessions_app.queries.sessions.conversations import asked_messages

_CANCEL_SECONDS = 2.0
_LOOK_SECONDS = 0.05


class OneResponse(OpenAIView):
    takes_chat_keys = True

    def get(self, request: Request, response_id: str) -> Response:
        """Read it, also while its turn runs.

        Raises:
            InvalidInput: as a stream, of which a client would read no event.
        """
        if request.query_params.get("stream") == "true":
            raise unsupported("stream", "leave it out, and ask for it again until it is completed.")
        return Response(stored_response(known_turn(self, response_id, "response_id")))

    def delete(self, request: Request, response_id: str) -> Response:
        """Delete the response from this API; the conversation's messages and units stay."""
        forget_response(known_turn(self, response_id, "response_id"))
        return Response({"id": response_id, "object": "response", "deleted": True})


class CancelResponse(OpenAIView):
    """Stopping a response that is being made."""

    takes_chat_keys = True

    def post(self, request: Request, response_id: str) -> Response:
        """Ask its turn to end and give it as it then stands; one that has ended is refused."""
        turn = known_turn(self, response_id, "response_id")
        request_cancel(turn)
        deadline = time.monotonic() + _CANCEL_SECONDS
        while True:
            response = current_response(self, turn.request_id)
            if response["status"] != "in_progress" or time.monotonic() >= deadline:
                return Response(response)
            time.sleep(_LOOK_SECONDS)


class InputItems(OpenAIView):
    """What a response was asked."""

    takes_chat_keys = True

    def get(self, request: Request, response_id: str) -> Response:
        query = PageAsked.by(request)
        turn = known_turn(self, response_id, "response_id")
        items = [item_of(message) for message in asked_messages(turn)]
        if query.is_newest_first:
            items.reverse()
        if query.after is not None:
            ids = [item["id"] for item in items]
            if query.after not in ids:
                raise unknown_after()
            items = items[ids.index(query.after) + 1 :]
        return Response(query.as_list(items))

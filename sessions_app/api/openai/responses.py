"""`/v1/responses`: a turn is a response; the one before it, or a conversation, says which session continues."""

from copy import replace
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.sessions.recognition import UNREAD, RecognisedSession, continue_after
from sessions_app.api.openai.errors import invalid, missing, unsupported
from sessions_app.api.openai.messages import said_as_input
from sessions_app.api.openai.objects import ResponseObject
from sessions_app.api.openai.parameters import flag_of
from sessions_app.api.openai.response_events import ResponseEvents
from sessions_app.api.openai.response_object import output_item, request_id_of_output, response_of, session_id_of
from sessions_app.api.openai.sessions import (
    CheckedRequest,
    check_request,
    enter_session,
    resolve_conversation,
    resolve_session_under,
)
from sessions_app.api.openai.views import OpenAIView
from sessions_app.api.shell.throttling import ChatThrottle
from sessions_app.api.turns.chat_sessions import SESSION_HEADER
from sessions_app.api.turns.response_ids import request_id_of
from sessions_app.api.turns.sse import Feed
from sessions_app.api.turns.turn_stream import TurnStream
from sessions_app.commands.messages import answer_message
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.sessions.conversations import response_turn, response_turns, turn_of_request
from sessions_app.queries.turns.registry import answer_of, answers_of, events

_NAMED_MAX = 1000


class Responses(OpenAIView):
    """Answers an input."""

    throttle_classes = (ChatThrottle,)
    takes_chat_keys = True
    messages_param = "input"

    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Answer whole, as a stream, or in the background."""
        body = self.sent()
        if not isinstance(body.get("previous_response_id"), str):
            body = {**body, "previous_response_id": None}  # what is no text counts as absent
        sent = with_named_answers(self, body.get("input"))
        checked = check_request(self, body, said_as_input(sent, body.get("instructions")), "responses")
        previous = self._previous(body)
        noted = ("instructions", "previous_response_id", "max_output_tokens", "temperature", "background")
        checked = checked.with_noted(**{name: body.get(name) for name in noted})
        recognised, checked = self._resolve(checked, previous, _conversation(body))
        checked = enter_session(self, checked, recognised)
        if flag_of(body, "background") or flag_of(body, "stream"):
            return self._begin(recognised.session, checked, body)
        result = answer_message(recognised.session, checked.call, wait_ms=checked.wait_ms)
        self.request_id = result.turn.request_id
        return self._answer(response_of(result.turn, result.outcome.answer_text, list(result.events)))

    def _previous(self, body: dict[str, Any]) -> ExplainabilityTurn | None:
        previous = body["previous_response_id"]
        if previous is None:
            return None
        if body.get("conversation") is not None:
            raise unsupported("conversation", "it names another place than previous_response_id.")
        return known_turn(self, previous, "previous_response_id")

    def _resolve(
        self, checked: CheckedRequest, previous: ExplainabilityTurn | None, conversation: str | None
    ) -> tuple[RecognisedSession, CheckedRequest]:
        if previous is None and conversation is None:
            return resolve_conversation(self, checked)
        adding = checked.with_call(added=checked.said.before)
        if any(item.role == "user" for item in checked.said.before):
            adding = replace(adding, warnings=(*adding.warnings, UNREAD))
        if previous is not None:
            return continue_after(previous), adding
        try:
            return resolve_session_under(self, adding, session_id_of(conversation or "")), adding
        except NotFound:
            raise missing(
                "conversation", "conversation_not_found", f"The conversation '{conversation}' does not exist."
            ) from None

    def _begin(
        self, session: Session, checked: CheckedRequest, body: dict[str, Any]
    ) -> Response | StreamingHttpResponse:
        feed = Feed()
        stream = TurnStream(self, feed, ResponseEvents(feed))
        _, first = stream.begin(session, checked.call, checked.wait_ms)
        self.request_id = first["response"]["request_id"]
        if flag_of(body, "stream"):
            return stream.response({SESSION_HEADER: self.session_id or ""})
        feed.drop()
        return self._answer(first["response"])

    def _answer(self, response: ResponseObject) -> Response:
        return Response(response, headers={SESSION_HEADER: response["session_id"]})


def _conversation(body: dict[str, Any]) -> str | None:
    reference = body.get("conversation")
    named = reference.get("id") if isinstance(reference, dict) else reference
    if named is not None and (not isinstance(named, str) or not named):
        raise invalid("conversation", "must be a conversation's id.")
    return named


def known_turn(view: OpenAIView, response: Any, param: str) -> ExplainabilityTurn:
    """Return the turn behind a response of the caller's project, of a session that the caller may talk in.

    Raises:
        NotFound: `previous_response_not_found` or `response_not_found`; it was deleted, or there never was one.
    """
    turn = response_turn(view.project, request_id_of(response)) if isinstance(response, str) else None
    if (
        turn is None
        or not view.access.may_talk_in(turn.session)
        or (param == "previous_response_id" and turn.status != "succeeded")
    ):
        code = "previous_response_not_found" if param == "previous_response_id" else "response_not_found"
        raise missing(param, code, f"There is no response '{response}' to go on from or to read.")
    view.session_id = turn.session.session_id
    return turn


def with_named_answers(view: OpenAIView, sent: Any) -> Any:
    """Return an input with the answers that it names by the ids of their items in the place of the names.

    Raises:
        InvalidInput: it names too many.
        NotFound: `item_not_found`.
    """
    named = {
        place: str(item.get("id"))
        for place, item in enumerate(sent if isinstance(sent, list) else ())
        if isinstance(item, dict) and item.get("type") == "item_reference"
    }
    if not named:
        return sent
    if len(named) > _NAMED_MAX:
        raise invalid("input", f"may name up to {_NAMED_MAX} answers; send the others as messages.")
    turns = response_turns(view.project, {request_id_of_output(item_id) for item_id in named.values()})
    answers = answers_of(list(turns.values()))
    items = list(sent)
    for place, item_id in named.items():
        turn = turns.get(request_id_of_output(item_id))
        text = None if turn is None else answers.get(turn.pk) or _message_of_command(turn)
        if turn is None or text is None or not view.access.may_talk_in(turn.session):
            raise missing(f"input[{place}]", "item_not_found", f"There is no answer whose item is '{item_id}'.")
        items[place] = output_item(turn.request_id, text)
    return items


def _message_of_command(turn: ExplainabilityTurn) -> str | None:
    return (turn.command_result or {}).get("message")


def stored_response(turn: ExplainabilityTurn) -> ResponseObject:
    """Return the response of a stored turn."""
    text = answer_of(turn) or _message_of_command(turn)
    return response_of(turn, text, None if text is None else events(turn))


def current_response(view: OpenAIView, request_id: str) -> ResponseObject:
    """Return the response of a turn as it stands now."""
    return stored_response(turn_of_request(view.project.pk, request_id))

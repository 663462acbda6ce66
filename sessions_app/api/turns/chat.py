"""One message to a session: answered whole, or as a stream."""

from copy import replace
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.conversation.flags import flags_in
from mrpvm.values import HistoryMessage
from sessions_app import shutdown
from sessions_app.actions.settings.quotas import take_turn
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import ChatRequest, choices_of
from sessions_app.api.shell.throttling import ChatThrottle
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.chat_sessions import SESSION_HEADER, explicit_history, resolve_chat_session
from sessions_app.api.turns.completion import completion
from sessions_app.api.turns.live_answer import LiveAnswer
from sessions_app.api.turns.sse import Feed
from sessions_app.api.turns.turn_stream import TurnStream
from sessions_app.commands.messages import answer_message
from sessions_app.models import Session
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.running_turns import running_turns
from sessions_app.turns.call import TurnCall, check_call


class ChatCompletions(ApiView):
    """Answers the last user message in the named session, or in a new one."""

    throttle_classes = (ChatThrottle,)
    takes_chat_keys = True

    @schemas.chat
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Refuse what needs no session first, so that a refused request leaves none behind."""
        body = self.body(ChatRequest)
        call = self._call(body)
        check_call(call)
        shutdown.refuse_new_turns()
        running_turns.refuse_if_full(self.project.pk)
        take_turn(self.project)
        session, call = self._resolve(body, call)
        if body["stream"]:
            return self._stream(session, call, body)
        result = answer_message(session, call, wait_ms=body["wait_ms"])
        self.request_id = result.turn.request_id
        return Response(completion(result, body.get("include", ())))

    def _call(self, body: dict[str, Any]) -> TurnCall:
        said = {message["role"]: message["content"] for message in body["messages"]}  # the last of each role
        kb_id = body.get("kb_id")
        return TurnCall(
            message=said["user"],
            system_prompt=said.get("system"),
            choices=choices_of(body),
            base=None if kb_id is None else knowledge_base(self.project, kb_id),
            is_streamed=body["stream"],
            takes_commands=self.access.takes_commands,
            flags=flags_in(dict(self.request.data)),
            remembers_choices=body["remember_choices"],
            history=tuple(HistoryMessage(**message) for message in explicit_history(body) or ()) or None,
        )

    def _resolve(self, body: dict[str, Any], call: TurnCall) -> tuple[Session, TurnCall]:
        """Return the session, and the call that says what it continues from: another turn may come before it."""
        header = self.request.headers.get(SESSION_HEADER)
        resolved = resolve_chat_session(self.access, body, header, call.remembered_choices, call.base)
        self.session_id = resolved.session.session_id
        notes = {"session": resolved.how, "warnings": list(resolved.warnings)} if resolved.warnings else None
        return resolved.session, replace(call, continues_at=resolved.continues_at, client_request=notes)

    def _stream(self, session: Session, call: TurnCall, body: dict[str, Any]) -> StreamingHttpResponse:
        """Answer once the turn has started: what is refused before is a plain error."""
        feed = Feed()
        stream = TurnStream(self, feed, LiveAnswer(feed, body.get("include", ())))
        _, first = stream.begin(session, call, body["wait_ms"])
        self.request_id = first.get("requestId", self.request_id)
        return stream.response({})

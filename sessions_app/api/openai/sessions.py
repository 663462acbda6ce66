"""Finds the session of a request of the OpenAI dialect, and makes the call for it."""

from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass
from typing import Any

from mrpvm.conversation.conversation_hash import empty_hash, extend_hash
from mrpvm.conversation.flags import flags_in
from mrpvm.values import HistoryMessage
from mrpvm.wire import JSONObject
from sessions_app import shutdown
from sessions_app.actions.sessions.recognition import RecognisedSession, recognise_session
from sessions_app.actions.settings.quotas import take_turn
from sessions_app.api.openai.messages import SplitMessages
from sessions_app.api.openai.parameters import NATIVE, metadata_of, model_of, sampling_of, user_of, warnings_of
from sessions_app.api.shell.requests import ChatRequest, choices_of
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.chat_sessions import SESSION_HEADER, find_or_begin_session, resume, usable_id
from sessions_app.ingest.histories import read_history
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.running_turns import running_turns
from sessions_app.turns.call import TurnCall, check_call

COMMANDS_HEADER = "X-Commands"
"""`on` lets a message that begins with a slash be a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A checked request: the call to make, and what is said about it afterwards."""

    call: TurnCall
    said: SplitMessages
    model: str
    body: Mapping[str, Any]
    native: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def wait_ms(self) -> int:
        """Return how long a busy session is waited for."""
        return int(self.native["wait_ms"])

    def with_call(self, **changes: Any) -> "CheckedRequest":
        """Return the request with these fields of its call changed."""
        return replace(self, call=replace(self.call, **changes))

    def with_noted(self, **noted: Any) -> "CheckedRequest":
        """Return the request with these values among those that are kept with its turn."""
        return self.with_call(client_request={**(self.call.client_request or {}), **noted})


def check_request(view: ApiView, body: Mapping[str, Any], said: SplitMessages, api: str) -> CheckedRequest:
    """Check a request before any row is stored for it.

    Raises:
        InvalidInput, NotFound, TooLarge, Unavailable: it is refused.
    """
    warnings = warnings_of(body)
    model = model_of(view.project, body, warnings)
    native = _native(body, said)
    if said.has_tail:
        warnings.append("What follows the last user message was taken for history.")
    kb_id = native.get("kb_id")
    sampling = sampling_of(body)
    call = TurnCall(
        message=said.message,
        system_prompt=said.system_prompt,
        choices=replace(choices_of(dict(native)), model=model.wish),
        base=model.base if kb_id is None else knowledge_base(view.project, kb_id),
        # Text that a stop sequence would remove must not be sent while it is written.
        is_streamed=bool(body.get("stream")) and not sampling.stop,
        takes_commands=view.access.takes_commands and _wants_commands(view),
        sampling=sampling,
        flags=flags_in(body),
        remembers_choices=native["remember_choices"],
        client_request={
            "api": api,
            "model": model.name,
            "metadata": metadata_of(body),
            "user": user_of(body),
        },
    )
    check_call(call)
    shutdown.refuse_new_turns()
    running_turns.refuse_if_full(view.project.pk)
    take_turn(view.project)
    return CheckedRequest(call=call, said=said, model=model.name, body=body, native=native, warnings=tuple(warnings))


def _wants_commands(view: ApiView) -> bool:
    return view.request.headers.get(COMMANDS_HEADER, "").strip().lower() == "on"


def _native(body: Mapping[str, Any], said: SplitMessages) -> JSONObject:
    """Read the native fields as the native API reads them."""
    native = {name: body[name] for name in NATIVE if name in body}
    checked = ChatRequest(data={**native, "messages": [{"role": "user", "content": said.message}]})
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def resolve_named_session(view: ApiView, checked: CheckedRequest) -> RecognisedSession | None:
    """Return the session that the request names by header or field, None if it names none.

    Raises:
        NotFound: SESSION_NOT_FOUND for an unknown id of ours.
    """
    header = view.request.headers.get(SESSION_HEADER)
    name = usable_id(checked.native.get("session_id")) or usable_id(header)
    if name is None:
        return None
    return resolve_session_under(view, checked, name, checked.said.before)


def resolve_session_under(
    view: ApiView, checked: CheckedRequest, name: str, before: Sequence[HistoryMessage] = ()
) -> RecognisedSession:
    """Return the session of this id; a client's own name is made on its first use, with the messages before."""
    body = {"conversation_history": _messages(before)}
    return resume(find_or_begin_session(view.access, body, name, checked.call.remembered_choices, checked.call.base))


def _messages(said: Sequence[HistoryMessage]) -> list[dict[str, str]]:
    return [{"role": item.role, "content": item.content} for item in said]


def resolve_conversation(view: ApiView, checked: CheckedRequest) -> tuple[RecognisedSession, CheckedRequest]:
    """Return the session for a request that brings its whole conversation along, and the request with what it tells.

    A session that was recognised holds that conversation; one that was named may hold another, and the request's comes
    first then.
    """
    named = resolve_named_session(view, checked)
    before = checked.said.before
    if named is not None:
        return named, checked.with_call(history=before or None)
    start = empty_hash(str(view.project.pk), view.access.caller, user_of(checked.body))
    conversation_hash = extend_hash(start, before)
    recognised = recognise_session(
        view.project,
        conversation_hash if before else None,
        lambda: read_history(view.project, _messages(before)),
        checked.call.remembered_choices,
        checked.call.base,
    )
    return recognised, checked.with_call(conversation_hash=conversation_hash)


def enter_session(view: ApiView, checked: CheckedRequest, recognised: RecognisedSession) -> CheckedRequest:
    """Return the request with which session it is, for its turn and its answer; errors name the session from now on."""
    view.session_id = recognised.session.session_id
    warnings = (*checked.warnings, *recognised.warnings)
    noted = checked.with_noted(session=recognised.how, warnings=list(warnings))
    return replace(noted.with_call(continues_at=recognised.continues_at), warnings=warnings)

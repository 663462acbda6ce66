"""The request for a turn."""

from collections.abc import Mapping
from copy import replace
from typing import Any

from django.conf import settings
from msgspec import Struct, field

from mrpvm.assistants.skills.choice import SkillChoice
from mrpvm.commands import Orchestration
from mrpvm.conversation.guardrails import denial
from mrpvm.errors import InvalidInput, TooLarge
from mrpvm.llm.port import Sampling
from mrpvm.llm.redaction import messages_without_secrets, without_secrets
from mrpvm.values import HistoryMessage
from sessions_app.actions.sessions.session import Choices, check_choices
from sessions_app.models import KnowledgeBase, Project


class TurnCall(Struct, frozen=True, kw_only=True):
    """The input of a turn: the message and this turn's own choices, which are hard pins.

    Args:
        typed: what the user really typed where that was a command for a `skill`; the message is then its payload, so
            that no model ever sees a command.
        sent: the message as the client sent it, where that is not `message`: it is never stored, and the conversation
            is recognised by it.
        skill: asks a model, whatever solver the session prefers.
        is_streamed: the answer is read while it is written.
        takes_commands: the message may be a command.
        history: what was said before as the request tells it; without it the session's own messages are taken.
        added: what was said since; stored with the answer.
        conversation_hash: that of all this, where the conversation shall be recognised again.
        client_request: kept with the turn as it is.
        flags: the request's own choices of policies.
        skill_choice: what a model was offered and chose, where it was asked.
        continues_at: the place of the last message that the request continues from, where it continues from a certain
            one: if the session holds more by the time of the turn, that runs in a fork.
        remembers_choices: False leaves the session's preferences as they are, whatever answered.
        limits: names of `mrpvm.values.Limits` with values below the server's.
    """

    message: str
    typed: str | None = None
    sent: str | None = None
    skill: Orchestration | None = None
    system_prompt: str | None = None
    choices: Choices = field(default_factory=Choices)
    base: KnowledgeBase | None = None
    is_streamed: bool = False
    takes_commands: bool = True
    history: tuple[HistoryMessage, ...] | None = None
    added: tuple[HistoryMessage, ...] = ()
    conversation_hash: str | None = None
    client_request: Mapping[str, Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    flags: Mapping[str, Any] = field(default_factory=dict)
    skill_choice: SkillChoice | None = None
    continues_at: int | None = None
    remembers_choices: bool = True
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def remembered_choices(self) -> Choices:
        """Return what a session that is made for the turn prefers from the start."""
        return self.choices if self.remembers_choices else Choices()

    @property
    def commanded_skill(self) -> Orchestration | None:
        """Return the skill that the user asked for by a command, None where a model chose it."""
        return self.skill if self.typed is not None else None


def admitted_call(call: TurnCall, project: Project) -> TurnCall:
    """Return the call as its turn takes it, without secrets where the project blacks them out.

    Raises:
        InvalidInput, TooLarge: as `check_call`.
    """
    check_call(call)
    return _without_secrets(call) if project.redacts_conversations else call


def limited(call: TurnCall, limits: Mapping[str, int]) -> TurnCall:
    """Return the call with its session's `turn_limits` where its own are not lower."""
    if not limits:
        return call
    both = {name: min(value, call.limits.get(name, value)) for name, value in limits.items() if name != "max_tokens"}
    most = [value for value in (limits.get("max_tokens"), call.sampling.max_tokens) if value is not None]
    sampling = replace(call.sampling, max_tokens=min(most, default=None))
    return replace(call, limits={**call.limits, **both}, sampling=sampling)


def _without_secrets(call: TurnCall) -> TurnCall:
    """Return the call with secrets redacted in all that is said in it."""
    return replace(
        call,
        message=without_secrets(call.message),
        typed=None if call.typed is None else without_secrets(call.typed),
        sent=call.sent or call.message,
        system_prompt=None if call.system_prompt is None else without_secrets(call.system_prompt),
        history=None if call.history is None else messages_without_secrets(call.history),
        added=messages_without_secrets(call.added),
    )


def check_call(call: TurnCall) -> None:
    """Refuse what can be refused before any turn exists.

    Raises:
        InvalidInput: an empty message, one that policy denies, an unknown plugin, a bad level.
        TooLarge: NORMALIZER_INPUT_TOO_LARGE.
    """
    if not call.message.strip():
        raise InvalidInput("The message is empty.", code="INVALID_CONTENT")
    limit = settings.MRPVM_MAX_MESSAGE_CHARS
    if len(call.message) > limit:
        raise TooLarge(
            f"The message has {len(call.message)} characters; {limit} are allowed. Longer material belongs into the"
            " session's context or a knowledge base.",
            code="NORMALIZER_INPUT_TOO_LARGE",
            details={"limit_chars": limit, "size_chars": len(call.message)},
        )
    reason = denial(call.message) if settings.MRPVM_GUARDRAILS else None
    if reason is not None:
        raise InvalidInput(f"The message {reason}; it was not read.", code="POLICY_DENIED")
    check_choices(call.choices)

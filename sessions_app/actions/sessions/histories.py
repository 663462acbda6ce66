"""Store messages: imported histories, messages without a turn, and messages of turns that no machine ran."""

from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from mrpvm.knowledge.units import message_id, with_turn_identity
from mrpvm.values import KnowledgeUnit
from sessions_app import events
from sessions_app.actions.sessions.context_units import ToldUnits, commit_told
from sessions_app.actions.sessions.session import Choices, beginning_of, create_session, note_metadata
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.models import (
    AuditKind,
    ConversationPoint,
    ExplainabilityTurn,
    KnowledgeBase,
    Message,
    Project,
    Session,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Messages without turns (`role` and `content`, oldest first), and the facts in them by a message's place.

    `unread_count` is how many messages of the user were not searched for facts.
    """

    messages: Sequence[Mapping[str, str]] = ()
    facts: Mapping[int, Sequence[KnowledgeUnit]] = field(default_factory=dict)
    unread_count: int = 0


NO_HISTORY = History()


@transaction.atomic
def begin_session(
    project: Project,
    history: History = NO_HISTORY,
    choices: Choices | None = None,
    *,
    base: KnowledgeBase | None = None,
    client_name: str | None = None,
    metadata: Mapping[str, str] | None = None,
    conversation_hash: str | None = None,
) -> Session:
    """Return a new session that begins with a history and the client's own notes; all or nothing.

    Args:
        conversation_hash: that of the history, under which its conversation is recognised.

    Raises and effects: those of `create_session` and `import_history`.
    """
    session = create_session(project, choices, base=base, client_name=client_name)
    if metadata:
        note_metadata(session, metadata)
    if history.messages:
        import_history(session, history)
    if metadata or history.messages:
        session.refresh_from_db()
    if conversation_hash and history.messages:
        ConversationPoint.objects.create(
            session=session, conversation_hash=conversation_hash, sequence=session.message_sequence
        )
    return session


def import_history(session: Session, history: History) -> None:
    """Store a history as the beginning of a session without messages.

    Raises:
        Conflict: TURN_IN_PROGRESS.
        Unavailable: QUOTA_FULL.

    Effects: message rows without a turn, their facts as units; `messages.changed`. A session that has messages stays as
    it is.
    """
    with transaction.atomic():
        locked = lock_idle_session(session.pk)
        if not locked.message_sequence:
            _append(locked, history)


@transaction.atomic
def append_messages(session: Session, history: History) -> list[Message]:
    """Append messages without running a turn, and return them.

    Raises:
        Conflict: TURN_IN_PROGRESS.
        Unavailable: QUOTA_FULL.

    Effects: message rows without a turn, their facts as units, activity; `messages.changed`.
    """
    locked = lock_idle_session(session.pk)
    locked.touch()
    locked.save(update_fields=Session.ACTIVITY_FIELDS)
    return _append(locked, history)


def _append(locked: Session, history: History) -> list[Message]:
    first, kept = locked.message_sequence + 1, locked.project.kept
    begun = timezone.now()
    made = [
        Message(
            session=locked,
            sequence=first + place,
            role=message["role"],
            content=kept(message["content"]),
            created_at=begun + timedelta(microseconds=place),  # a fork takes what was told up to a message
        )
        for place, message in enumerate(history.messages)
    ]
    with within_quotas(locked.project):
        commit_told(locked, [_told_units(made[place], units) for place, units in history.facts.items()])
        Message.objects.bulk_create(made, batch_size=500)
        locked.message_sequence += len(made)
        by_user = (message.content for message in made if message.role == Message.Speaker.USER)
        locked.first_message = locked.first_message or beginning_of(next(by_user, ""))
        locked.save(update_fields=["message_sequence", "unit_count", "first_message"])
    events.append(locked, ("messages.changed", events.NoFacts()))
    return made


def _told_units(message: Message, units: Sequence[KnowledgeUnit]) -> ToldUnits:
    told_in = message_id(message.session.session_id, message.sequence)
    named = [replace(unit, source_name=f"message {message.sequence}") for unit in units]
    return ToldUnits(
        sequence=message.sequence,
        told_at=message.created_at,
        units=with_turn_identity(named, told_in, created_at=message.created_at.isoformat()),
    )


def append_turn_message(
    locked: Session, turn: ExplainabilityTurn, role: str, content: str, payload: Mapping[str, Any] | None = None
) -> None:
    """Append a message of a turn to the locked session, whose `message_sequence` the caller saves."""
    locked.message_sequence += 1
    kept = locked.project.kept
    Message.objects.create(
        session=locked,
        turn=turn,
        sequence=locked.message_sequence,
        role=role,
        content=kept(content),
        payload=kept(payload),
    )


def write_turn_messages(locked: Session, turn: ExplainabilityTurn, texts: Mapping[str, str]) -> None:
    """Write a turn's messages by role; those that are there already get their text, others are appended."""
    stored = dict(turn.messages.values_list("role", "pk"))
    for role, content in texts.items():
        if role in stored:
            Message.objects.filter(pk=stored[role]).update(content=locked.project.kept(content))
        else:
            append_turn_message(locked, turn, role, content)


@transaction.atomic
def remove_message(session: Session, sequence: int) -> None:
    """Delete a message of the conversation for its client; the order of the others stays.

    Raises:
        Conflict: TURN_IN_PROGRESS.

    Effects: the row is deleted, with the conversation points from there on and a summary that covers the message; the
    next turn that needs a summary makes a new one; the session is named by the first message that is left;
    `messages.changed`.
    """
    locked = lock_idle_session(session.pk)
    gone, _ = locked.messages.filter(sequence=sequence).delete()
    locked.removed_message_count += gone
    locked.conversation_points.filter(sequence__gte=sequence).delete()
    if locked.summary and locked.summary["through"] >= sequence:
        locked.summary = None
    said = locked.messages.filter(role=Message.Speaker.USER)
    if not said.filter(sequence__lt=sequence).exists():
        locked.first_message = beginning_of(said.values_list("content", flat=True).first() or "")
    locked.save(update_fields=["removed_message_count", "summary", "first_message"])
    if gone:
        record_of_session(AuditKind.MESSAGE_REMOVED, locked, sequence=sequence)
    events.append(locked, ("messages.changed", events.NoFacts()))

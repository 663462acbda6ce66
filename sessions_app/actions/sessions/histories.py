"""Store messages: imported histories, messages without a turn, and messages of turns that no machine ran."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from sessions_app import events
from sessions_app.actions.sessions.session import Choices, create_session, note_metadata
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.models import AuditKind, ExplainabilityTurn, KnowledgeBase, Message, Project, Session


@transaction.atomic
def begin_session(
    project: Project,
    messages: Sequence[Mapping[str, str]] = (),
    choices: Choices | None = None,
    *,
    base: KnowledgeBase | None = None,
    client_name: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Session:
    """Return a new session that begins with `messages` and the client's own notes; all or nothing.

    Raises and effects: those of `create_session` and `import_history`.
    """
    session = create_session(project, choices, base=base, client_name=client_name)
    if metadata:
        note_metadata(session, metadata)
    if messages:
        import_history(session, messages)
    if metadata or messages:
        session.refresh_from_db()
    return session


def import_history(session: Session, messages: Sequence[Mapping[str, str]]) -> None:
    """Store `messages` (`role`, `content`; oldest first) as the beginning of a session without messages.

    Raises:
        Conflict: TURN_IN_PROGRESS.

    Effects: message rows without a turn; `messages.changed`. A session that has messages stays as it is.
    """
    with transaction.atomic():
        locked = lock_idle_session(session.pk)
        if not locked.message_sequence:
            _append(locked, messages)


@transaction.atomic
def append_messages(session: Session, messages: Sequence[Mapping[str, str]]) -> list[Message]:
    """Append messages without running a turn, and return them.

    Raises:
        Conflict: TURN_IN_PROGRESS.

    Effects: message rows without a turn, activity; `messages.changed`.
    """
    locked = lock_idle_session(session.pk)
    locked.touch()
    locked.save(update_fields=Session.ACTIVITY_FIELDS)
    return _append(locked, messages)


def _append(locked: Session, messages: Sequence[Mapping[str, str]]) -> list[Message]:
    first = locked.message_sequence + 1
    kept = locked.project.kept
    made = Message.objects.bulk_create(
        (
            Message(session=locked, sequence=sequence, role=message["role"], content=kept(message["content"]))
            for sequence, message in enumerate(messages, start=first)
        ),
        batch_size=500,
    )
    locked.message_sequence += len(made)
    locked.save(update_fields=["message_sequence"])
    events.append(locked, ("messages.changed", events.NoFacts()))
    return made


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
    next turn that needs a summary makes a new one; `messages.changed`.
    """
    locked = lock_idle_session(session.pk)
    gone, _ = locked.messages.filter(sequence=sequence).delete()
    locked.removed_message_count += gone
    locked.conversation_points.filter(sequence__gte=sequence).delete()
    if locked.summary and locked.summary["through"] >= sequence:
        locked.summary = None
    locked.save(update_fields=["removed_message_count", "summary"])
    if gone:
        record_of_session(AuditKind.MESSAGE_REMOVED, locked, sequence=sequence)
    events.append(locked, ("messages.changed", events.NoFacts()))

"""Taking over what was said before a conversation came here [O-17, O-45]."""

from collections.abc import Mapping, Sequence

from django.db import transaction

from sessions_app.actions.slots import lock_idle_session
from sessions_app.models import Message, Session


@transaction.atomic
def import_history(session: Session, messages: Sequence[Mapping[str, str]]) -> None:
    """Make `messages` (`role`, `content`; oldest first) the beginning of a session that holds none yet.

    Raises:
        Conflict: TURN_IN_PROGRESS.

    Effects: message rows without a turn. A session that has messages stays as it is.
    """
    locked = lock_idle_session(session.pk)
    if locked.message_sequence:
        return
    Message.objects.bulk_create(
        (
            Message(session=locked, sequence=sequence, role=message["role"], content=message["content"])
            for sequence, message in enumerate(messages, start=1)
        ),
        batch_size=500,
    )
    locked.message_sequence = len(messages)
    locked.save(update_fields=["message_sequence"])

"""A session that goes on from a moment of another: what was said and known up to there, and nothing after it."""

from copy import copy

from django.db import transaction

from mrpvm.conversation.summary import summary_of
from sessions_app import events
from sessions_app.actions.activity import touch
from sessions_app.actions.lifecycle import kb_loaded, session_created
from sessions_app.actions.notifications import notify_on_commit
from sessions_app.identifiers import new_session_id
from sessions_app.models import ContextUnit, KBMount, KnowledgeLayer, Message, RememberedText, Session
from sessions_app.models.remembered_text import copy_of
from sessions_app.search.index import index_units
from sessions_app.search.layers import create_layer

_ROWS_A_QUERY = 500
_FRESH = {
    "pk": None, "is_client_named": False, "expired_at": None, "deleted_at": None, "turn_sequence": 0,
    "event_sequence": 0, "message_sequence": 0, "unit_count": 0, "failed_turn_count": 0,
    "remembered_count": 0,
}  # fmt: skip
"""Fields a fork resets; layers are handled separately, all else is copied."""


@transaction.atomic
def fork_session(source: Session, sequence: int, reason: str) -> Session:
    """Give a new session that begins with the messages of `source` up to `sequence`.

    It knows what the session had learnt by then and still knows, has its choices, prompt and mount, its summary
    unless that tells more, and an empty draft: unsaved sources stay where they are. `source` may have expired: it is
    read alone.

    Args:
        reason: a `ForkReason`.

    Effects: the session with its mount, layers, messages and units; `session.created`, `kb.mounted`; afterwards
    `session-created` and `kb-loaded`.
    """
    source = Session.objects.select_related("mounted_kb", "mounted_layer").get(pk=source.pk)
    draft = create_layer(KnowledgeLayer.Kind.DRAFT, source.mounted_layer)
    fork = copy(source)
    fork._state = copy(source._state)
    fork._state.adding = True
    for name, value in _FRESH.items():
        setattr(fork, name, value)
    fork.session_id = new_session_id()
    fork.draft, fork.journal = draft, create_layer(KnowledgeLayer.Kind.JOURNAL, draft)
    fork.forked_from, fork.forked_at, fork.fork_reason = source, sequence, reason
    touch(fork)
    fork.created_at = fork.last_activity_at
    fork.save()
    _copy_messages(source, fork, sequence)
    if summary_of(fork.summary).through > sequence or fork.message_sequence != sequence:
        fork.summary = None  # it tells what was said after the branch, or of places that are others in the fork
    _copy_units(source, fork, sequence)
    if source.remembered_count:
        _copy_remembered(source, fork, sequence)
    fork.save(update_fields=["message_sequence", "unit_count", "remembered_count", "summary"])
    _announce(source, fork, reason)
    return fork


def _copy_messages(source: Session, fork: Session, sequence: int) -> None:
    taken = list(source.messages.filter(sequence__lte=sequence).order_by("sequence"))
    Message.objects.bulk_create(
        (
            Message(
                session=fork, sequence=place, role=message.role, content=message.content, payload=message.payload,
                created_at=message.created_at,
            )
            for place, message in enumerate(taken, start=1)
        ),
        batch_size=_ROWS_A_QUERY,
    )  # fmt: skip
    fork.message_sequence = len(taken)


def _copy_units(source: Session, fork: Session, sequence: int) -> None:
    """Take over the units that were committed before the last message was stored: a turn stores it after its units."""
    last = source.messages.filter(sequence__lte=sequence).order_by("-sequence").first()
    if last is None:
        return
    known = ContextUnit.State.COMMITTED
    found = source.context_units.filter(state=known, committed_at__lte=last.created_at).order_by("id")
    units = [(row.to_value(), row) for row in found]
    ContextUnit.objects.bulk_create(
        (
            ContextUnit.from_value(unit, session=fork, state=known, created_at=row.created_at,
                                   committed_at=row.committed_at)
            for unit, row in units
        ),
        batch_size=_ROWS_A_QUERY,
    )  # fmt: skip
    index_units(fork.journal, [unit for unit, _ in units])
    fork.unit_count = len(units)


def _copy_remembered(source: Session, fork: Session, sequence: int) -> None:
    """Take over what the session was told to remember before the first message that the fork has not."""
    texts = source.remembered_texts.order_by("id")
    following = source.messages.filter(sequence__gt=sequence).order_by("sequence").first()
    if following is not None:
        texts = texts.filter(created_at__lt=following.created_at)
    fork.remembered_count = len(RememberedText.objects.bulk_create(copy_of(row, fork) for row in texts))


def _announce(source: Session, fork: Session, reason: str) -> None:
    mount = source.mounts.order_by("-pk").first()
    KBMount.objects.create(
        session=fork, knowledge_base=fork.mounted_kb, layer=fork.mounted_layer,
        revision=mount.revision if mount else fork.mounted_kb.revision, reason="session-fork",
    )  # fmt: skip
    mounted = {"kb_id": fork.mounted_kb.kb_id, "kb_name": fork.mounted_kb.name}
    forked = {"forked_from": source.session_id, "reason": reason}
    events.append_all(fork, [("session.created", forked), ("kb.mounted", mounted)])
    notify_on_commit(session_created(fork, fork.mounted_kb))
    notify_on_commit(kb_loaded(fork, fork.mounted_kb, reason="session-create"))

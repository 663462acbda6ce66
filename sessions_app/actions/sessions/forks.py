"""Fork sessions: a new session continues another one from a message, with its messages and units up to there."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from mrpvm.conversation.summary import summary_of
from sessions_app import events
from sessions_app.actions.knowledge.notifications import kb_loaded, notify_on_commit, session_created
from sessions_app.actions.sessions.limit import check_session_limit
from sessions_app.actions.sessions.session import TITLE_CHARS
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.identifiers import new_session_id
from sessions_app.layers import (
    agree_with_units,
    fill,
    index_units,
    initial_layers,
    journal_source,
    staging,
)
from sessions_app.models import ContextUnit, KBMount, Message, RememberedText, Session
from sessions_app.models.knowledge.unit_fields import UNIT_COLUMNS
from sessions_app.models.named_sql import insert_copies
from sessions_app.models.sessions.remembered_text import copy_of
from sessions_app.models.sessions.session import ForkReason

_ROWS_A_QUERY = 500
_NUMBER = re.compile(r" \(\d{1,9}\)$")
_FRESH = {
    "pk": None, "is_client_named": False, "expired_at": None, "deleted_at": None, "turn_sequence": 0,
    "event_sequence": 0, "compacted_sequence": 0, "message_sequence": 0, "unit_count": 0, "failed_turn_count": 0,
    "remembered_count": 0, "removed_message_count": 0,
}  # fmt: skip
"""Fields a fork resets; layers are handled separately, all else is copied."""


def fork_session(source: Session, sequence: int, reason: str) -> Session:
    """Return a new session that begins with the messages of `source` up to `sequence`.

    It has the units that the session had learnt by then and still has, its choices, prompt and mount, and its summary
    unless that covers later messages. Its draft is empty. `source` may have expired, because it is only read.

    Args:
        reason: a `ForkReason`.

    Raises:
        Unavailable: SESSION_LIMIT, also if `source` has expired, because an expired session does not count;
            QUOTA_FULL, the project has no room for the fork or for its units.

    Effects: the session with its mount, layers, messages and units; `session.created`, `kb.mounted`; afterwards
    `session-created` and `kb-loaded`.
    """
    with forking(source, sequence) as fork:
        return fork(reason)


@contextmanager
def forking(source: Session, sequence: int) -> Iterator[Callable[[str], Session]]:
    """Yield a function that makes the fork in one transaction, for a `ForkReason`; many units are copied before.

    The function may be called once, also within a transaction of the caller.
    """
    fork_id, known = new_session_id(), _known(source, sequence)
    if known.count() <= settings.MRPVM_UNITS_AT_ONCE:
        yield partial(_fork, source.pk, sequence, fork_id, None)
        return
    with staging(source.mounted_layer) as layer:
        fill(layer, [row.to_value() for row in known], journal_source(Session(session_id=fork_id), layer))
        yield partial(_fork, source.pk, sequence, fork_id, layer.pk)


@transaction.atomic
def _fork(source_pk: int, sequence: int, fork_id: str, staged: int | None, reason: str) -> Session:
    source = Session.objects.select_related("project", "mounted_kb", "mounted_layer").get(pk=source_pk)
    check_session_limit(source.project)
    with within_quotas(source.project):
        fork = copy(source)
        fork._state = copy(source._state)
        fork._state.adding = True
        for name, value in _FRESH.items():
            setattr(fork, name, value)
        fork.session_id = fork_id
        if reason == ForkReason.EDITED:  # a fork after an expiry is the same conversation
            fork.title = _numbered_title(source)
        fork.draft, fork.journal = initial_layers(fork.mounted_layer, staged)
        fork.forked_from, fork.forked_at, fork.fork_reason = source, sequence, reason
        fork.touch()
        fork.created_at = fork.last_activity_at
        fork.save()
        _copy_messages(source, fork, sequence)
        if summary_of(fork.summary).through > sequence or fork.message_sequence != sequence:
            fork.summary = None  # it covers messages after the branch, or sequence numbers that differ in the fork
        _copy_units(fork, _known(source, sequence), is_indexed=staged is not None)
        if source.remembered_count:
            _copy_remembered(source, fork, sequence)
        fork.save(update_fields=["message_sequence", "unit_count", "remembered_count", "summary"])
    _announce(source, fork, reason)
    return fork


def _numbered_title(source: Session) -> str | None:
    """Return the source's title with the next free number among the project's sessions."""
    if source.title is None:
        return None
    name = _NUMBER.sub("", source.title)
    named = Session.objects.filter(project_id=source.project_id, title__startswith=name)
    numbered = re.compile(rf"{re.escape(name)}(?: \((\d{{1,9}})\))?")
    matches = (numbered.fullmatch(title or "") for title in named.values_list("title", flat=True))
    used = [int(match[1] or 1) for match in matches if match]
    ending = f" ({max(used, default=1) + 1})"
    return name[: TITLE_CHARS - len(ending)] + ending


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


def _known(source: Session, sequence: int) -> QuerySet[ContextUnit]:
    """Return the units committed before the last message, because a turn stores its units before its message."""
    last = source.messages.filter(sequence__lte=sequence).order_by("-sequence").first()
    units = source.context_units.filter(state=ContextUnit.State.COMMITTED).order_by("id")
    return units.filter(committed_at__lte=last.created_at) if last else units.none()


def _copy_units(fork: Session, known: QuerySet[ContextUnit], *, is_indexed: bool) -> None:
    """Copy the units; `is_indexed` says whether a layer of the fork holds them already."""
    own = {"session_id": fork.pk, "state": ContextUnit.State.COMMITTED.value}
    insert_copies(ContextUnit, known, (*UNIT_COLUMNS, "created_at", "committed_at"), own)
    fork.unit_count = fork.context_units.count()
    if is_indexed:
        agree_with_units(fork)  # the source may have lost a unit meanwhile
    else:
        index_units(fork.journal, [row.to_value() for row in known])


def _copy_remembered(source: Session, fork: Session, sequence: int) -> None:
    """Copy the texts that were remembered before the first message that is not in the fork."""
    texts = source.remembered_texts.order_by("id")
    following = source.messages.filter(sequence__gt=sequence).order_by("sequence").first()
    if following is not None:
        texts = texts.filter(created_at__lt=following.created_at)
    fork.remembered_count = len(RememberedText.objects.bulk_create(copy_of(row, fork) for row in texts))


def _announce(source: Session, fork: Session, reason: str) -> None:
    theirs = source.mounts.order_by("-pk").first()
    mount = KBMount.objects.create(
        session=fork, knowledge_base=fork.mounted_kb, layer=fork.mounted_layer,
        revision=theirs.revision if theirs else fork.mounted_kb.revision, reason="session-fork",
    )  # fmt: skip
    forked = events.SessionCreated(forked_from=source.session_id, reason=reason)
    events.append_all(fork, [("session.created", forked), ("kb.mounted", events.mounted_facts(mount))])
    notify_on_commit(session_created(fork, fork.mounted_kb))
    notify_on_commit(kb_loaded(fork, fork.mounted_kb, reason="session-create"))

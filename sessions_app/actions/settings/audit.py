"""The audit log: one entry for each change with its actor, written in the transaction of the change.

Each entry point (API, pages, admin, commands) sets the actor while it handles a request.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm.llm.redaction import without_secrets
from sessions_app.models import AuditEntry, AuditKind, KnowledgeBase, Membership, Session

_SUBJECT_CHARS, _ADDRESS_CHARS, _REQUEST_ID_CHARS = 300, 45, 128
_ENTRIES_A_TRANSACTION = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A user, the holder of a key, somebody who has not logged in, or the server and the commands of its operator.

    `address` is the caller's IP address, empty for the server; `request_id` that of the log's lines; `key_pk` the API
    key of a key's holder.
    """

    kind: Literal["user", "key", "stranger", "server"]
    name: str
    address: str = ""
    request_id: str = ""
    key_pk: int | None = None


_NAME_CHARS = 150
SERVER = Actor(kind="server", name="server")

_actor: ContextVar[Callable[[], Actor]] = ContextVar("actor")


def current_actor() -> Actor:
    """Return the current actor, or the server itself if none was set."""
    return _actor.get(lambda: SERVER)()


def asking_name() -> str:
    """Return the name of the user or key that asks for a turn, empty if the server itself asks."""
    actor = current_actor()
    return actor.name[:_NAME_CHARS] if actor.kind in ("user", "key") else ""


@contextmanager
def acting_as(actor: Callable[[], Actor]) -> Iterator[None]:
    """Set the actor for the block; the actor is looked up on first use."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def act_as(actor: Actor) -> None:
    """Replace the actor until the end of the surrounding `acting_as` block."""
    _actor.set(lambda: actor)


def record(kind: AuditKind, project_pk: int | None, subject: str, /, **facts: Any) -> None:
    """Add an entry, inside the transaction of the change that it describes.

    Args:
        subject: the name and id of the changed object.
        facts: further small values that JSON can hold.
    """
    _entry(kind, project_pk, subject, facts).save()


def _entry(kind: AuditKind, project_pk: int | None, subject: str, facts: Mapping[str, Any]) -> AuditEntry:
    subject = _cut(subject, _SUBJECT_CHARS)
    actor = current_actor()
    return AuditEntry(
        project_id=project_pk,
        kind=kind,
        actor_kind=actor.kind,
        actor=actor.name,
        address=actor.address[:_ADDRESS_CHARS],
        request_id=actor.request_id[:_REQUEST_ID_CHARS],
        subject=subject,
        facts=dict(facts),
    )


def _cut(text: str, most_chars: int) -> str:
    """Return a text of at most `most_chars` characters, with an ellipsis where it was cut."""
    text = without_secrets(text).replace("\0", "")
    return text if len(text) <= most_chars else f"{text[: most_chars - 1]}…"


def record_of_user(kind: AuditKind, user: User, **facts: Any) -> None:
    """Add an entry about a user to each of the user's projects, where their admins see it."""
    projects: list[int | None] = list(Membership.objects.filter(user=user.pk).values_list("project_id", flat=True))
    subject = f"user {user.get_username()}"
    AuditEntry.objects.bulk_create(_entry(kind, project_pk, subject, facts) for project_pk in projects or [None])


def record_of_base(kind: AuditKind, base: KnowledgeBase, **facts: Any) -> None:
    """Add an entry about a knowledge base; see `record`."""
    record(kind, base.project_id, f"base “{base.name}” ({base.kb_id})", **facts)


def record_of_session(kind: AuditKind, session: Session, **facts: Any) -> None:
    """Add an entry about a session; see `record`."""
    record(kind, session.project_id, f"session {session.session_id}", **facts)


def record_export(session: Session, form: str, **facts: Any) -> None:
    """Add an entry about an export of a session or of a part of it; see `record`."""
    record_of_session(AuditKind.EXPORTED, session, form=form, **facts)


def remove_entries(project_pk: int | None, keys: Sequence[int]) -> None:
    """Remove these entries of a project, which are older than its retention, and add an entry about that."""
    if keys:
        AuditEntry.objects.without(keys)
        record(AuditKind.TRIMMED, project_pk, "audit log", count=len(keys))


def remove_old_entries(pause: Callable[[], None] = lambda: None) -> int:
    """Remove entries that belong to no project and are older than `MRPVM_KEEP_AUDIT_DAYS`; return how many.

    Args:
        pause: called between two transactions; lets running turns go first.
    """
    removed = 0
    if settings.MRPVM_KEEP_AUDIT_DAYS:
        oldest = timezone.now() - timedelta(days=settings.MRPVM_KEEP_AUDIT_DAYS)
        while some := _remove_some(oldest):
            removed += some
            pause()
    return removed


@transaction.atomic
def _remove_some(oldest: datetime) -> int:
    old = AuditEntry.objects.filter(project=None, at__lt=oldest).order_by("at")
    keys = list(old.values_list("pk", flat=True)[:_ENTRIES_A_TRANSACTION])
    remove_entries(None, keys)
    return len(keys)

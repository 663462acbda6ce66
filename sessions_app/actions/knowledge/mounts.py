"""Mount a knowledge base in a session: point at its head, with an empty draft on top."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from mrpvm.errors import Conflict
from mrpvm.values import KnowledgeUnit
from sessions_app import events
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.knowledge.notifications import kb_loaded, notify_on_commit
from sessions_app.actions.sessions.slots import lock_idle_session, waiting_for_slot
from sessions_app.layers import (
    fill,
    journal_source,
    lock_base,
    missing_units,
    point_at,
    put_on_head,
    staging,
)
from sessions_app.models import KBMount, KnowledgeBase, KnowledgeLayer, Session
from sessions_app.plugin_threads import Patience, unhurried

Kind = KnowledgeLayer.Kind


class Mount(Protocol):
    """The function that `mounting` yields."""

    def __call__(
        self,
        reason: str,
        actor: User | None = None,
        *,
        discard_draft: bool = False,
        patience: Patience = unhurried,
    ) -> KBMount:
        """Mount the base."""


def mount_base(
    session: Session,
    base: KnowledgeBase,
    *,
    reason: str,
    actor: User | None = None,
    discard_draft: bool = False,
    wait_ms: int = 0,
) -> KBMount:
    """Mount the head of `base` in the session and return the mount; `mount.session` is the updated session.

    Units, messages and preferences of the session stay. Its units that only the previous base holds are copied, many of
    them in short transactions. The cost does not depend on the size of the base.

    Args:
        reason: one of `load-api`, `mount-api`, `mount-page`, `chat`, `mount-admin`,
            `unmount-admin`.
        discard_draft: throw unsaved sources away; without it a dirty draft refuses the mount.
        wait_ms: how long to wait for a running turn.

    Raises:
        Conflict: WORKSPACE_DIRTY, TURN_IN_PROGRESS.
        NotFound: SESSION_NOT_FOUND, KB_NOT_FOUND also for another project's base.
        Expired: SESSION_EXPIRED.

    Effects: the session's pointers and layers, one mount row, `kb.mounted`, activity; afterwards `kb-loaded`.
    """
    with mounting(session, base) as mount:
        return waiting_for_slot(wait_ms, lambda: mount(reason, actor, discard_draft=discard_draft))


@contextmanager
def mounting(session: Session, base: KnowledgeBase) -> Iterator["Mount"]:
    """Yield a function that mounts the base in one short transaction, or in the caller's; slow work is done before.

    It takes a reason, the actor, `discard_draft`, and `patience`: the time limit of KB plugins for the notification,
    which must not raise. It raises the exceptions of `mount_base`.
    """
    with _brought_along(session, base) as brought:
        yield partial(_mount, session.pk, base, brought)


@contextmanager
def _brought_along(session: Session, base: KnowledgeBase) -> Iterator[int | None]:
    """Yield the key of a staged layer with the units that the session would lose on `base`; None if they are few."""
    with_journal = Session.objects.select_related("journal").filter(pk=session.pk).first()
    missing: list[KnowledgeUnit] = []
    if (
        with_journal is not None
        and with_journal.unit_count - with_journal.journal.own_unit_count > settings.MRPVM_UNITS_AT_ONCE
    ):
        head = KnowledgeLayer.objects.filter(headed_bases=base).first()
        missing = missing_units(with_journal, head) if head else []
    if len(missing) <= settings.MRPVM_UNITS_AT_ONCE:
        yield None
        return
    with staging(head) as layer:
        fill(layer, missing, journal_source(session, layer))
        yield layer.pk


def unmount_base(session: Session, *, reason: str, actor: User | None = None, discard_draft: bool = False) -> KBMount:
    """Mount the project's default base in place of the present one, because a session always has a base.

    Raises and effects: as for `mount_base`.
    """
    default = ensure_default_base(session.project)
    return mount_base(session, default, reason=reason, actor=actor, discard_draft=discard_draft)


@transaction.atomic
def _mount(
    session_pk: int,
    base: KnowledgeBase,
    brought: int | None,
    reason: str,
    actor: User | None = None,
    *,
    discard_draft: bool = False,
    patience: Patience = unhurried,
) -> KBMount:
    session = lock_idle_session(session_pk)
    target = lock_base(base, project_id=session.project_id)
    if session.is_dirty and not discard_draft:
        raise Conflict(
            f"The draft of '{session.mounted_kb.name}' has unsaved changes. Save or fork them, or discard "
            "them with the mount (discard_draft).",
            code="WORKSPACE_DIRTY",
            details=events.draft_facts(session),
        )
    previous, was_dirty = session.mounted_kb, session.is_dirty
    put_on_head(session, target.head, brought)
    mount = point_at(session, target, reason=reason, actor=actor)
    news: list[events.News] = [("kb.mounted", events.mounted_facts(mount))]
    if was_dirty:
        news.append(("draft.changed", events.draft_facts(session)))
    events.append_all(session, news)
    loaded = kb_loaded(session, target, reason=reason, previous=previous, requested_kb_id=target.kb_id)
    notify_on_commit(loaded, patience)
    return mount

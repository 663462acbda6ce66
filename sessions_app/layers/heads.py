"""Pointers to layers: the head of a base with its revisions, and what a session has mounted."""

from django.contrib.auth.models import User
from django.utils import timezone

from mrpvm.errors import Conflict, NotFound
from sessions_app.models import KBMount, KBRevision, KnowledgeBase, KnowledgeLayer, Session

type Origin = tuple[int, int] | None
"""The key of the base that content comes from, and the revision of it."""


def lock_base(base: KnowledgeBase, *, project_id: int | None = None) -> KnowledgeBase:
    """Return the base as it is now, with its row locked until the end of the running transaction.

    Raises:
        NotFound: KB_NOT_FOUND, also for a base of another project than `project_id`.
    """
    rows = KnowledgeBase.objects.filter(pk=base.pk, deleted_at=None)
    rows = rows if project_id is None else rows.filter(project_id=project_id)
    # Locked without a join: after a wait the row is looked for with the head that it had before, and not found.
    if not rows.select_for_update().values_list("pk").first():
        raise no_such_base()
    return rows.select_related("head", "parent").get()


def no_such_base() -> NotFound:
    """Return the error for a base that is not there."""
    return NotFound("There is no such knowledge base.", code="KB_NOT_FOUND")


def lock_replaced(session: Session, base: KnowledgeBase, expected: int | None) -> KnowledgeBase:
    """Return the locked base that a save replaces: it then holds what the draft shows, and nothing else.

    Args:
        expected: the revision that the caller has seen, where it names one.

    Raises:
        Conflict: KB_REVISION_CONFLICT, the base has changes that neither the session nor the caller has seen.
        NotFound: KB_NOT_FOUND.
    """
    locked = lock_base(base, project_id=session.project_id)
    known = session.mounts.filter(knowledge_base=locked).order_by("-pk").values_list("revision", flat=True).first()
    is_empty = locked.head.unit_count == 0 and locked.source_count == 0
    help_text = "save it as a fork, or mount the base again and repeat the change"
    if known is not None and known != locked.revision:
        why = f"'{locked.name}' has been changed since this session mounted it"
    elif expected not in (None, locked.revision):
        why = f"'{locked.name}' is at revision {locked.revision} now, not at revision {expected}"
    elif known is None and expected is None and not is_empty:
        why = f"This session has never mounted '{locked.name}', and would replace all that it holds"
        help_text = "save it as a fork, or look at what the base holds and name its revision as the one to be replaced"
    else:
        return locked
    raise Conflict(
        f"{why}. The draft is kept: {help_text}.",
        code="KB_REVISION_CONFLICT",
        details={"kb_id": locked.kb_id, "mounted_revision": known, "revision": locked.revision},
    )


def mounted_revision(session: Session) -> Origin:
    """Return the key and revision of the base that the session sees; the base may have newer revisions."""
    return session.mounts.filter(until=None).values_list("knowledge_base_id", "revision").first()


def fork_head(
    parent: KnowledgeBase, tip: KnowledgeLayer, name: str, *, actor: User | None, origin: Origin
) -> KnowledgeBase:
    """Return a new base whose head is `tip`; two rows."""
    fork = KnowledgeBase.objects.create(
        project_id=parent.project_id, name=name, parent=parent, head=tip, source_count=tip.source_count
    )
    note_revision(fork, "fork", actor, origin)
    return fork


def move_head(
    base: KnowledgeBase, layer: KnowledgeLayer, *, reason: str, actor: User | None = None, origin: Origin = None
) -> None:
    """Point the locked base at its next head; from here on readers see what `layer` shows.

    Effects: head, source count, name, time and revision, which grows by one; a row that keeps the revision. The
    caller announces it (`events.announce_revision`).
    """
    base.head, base.source_count = layer, layer.source_count
    base.revision += 1
    base.updated_at = timezone.now()
    base.save(update_fields=["name", "head", "source_count", "revision", "updated_at"])
    note_revision(base, reason, actor, origin)


def note_revision(base: KnowledgeBase, reason: str, actor: User | None = None, origin: Origin = None) -> None:
    """Store the base's present revision so that it can be restored; one row."""
    origin_base, origin_revision = origin or (None, None)
    KBRevision.objects.create(
        knowledge_base=base,
        revision=base.revision,
        layer_id=base.head_id,
        reason=reason,
        origin_base_id=origin_base,
        origin_revision=origin_revision,
        created_by=actor,
    )


def point_at(session: Session, base: KnowledgeBase, *, reason: str, actor: User | None) -> KBMount:
    """Point the locked session at the head of `base`, close its open mount and open the next.

    The caller has already put the session's draft on that head. Effects: the session's row with activity, two mount
    rows.
    """
    session.mounted_kb, session.mounted_layer = base, base.head
    session.touch()
    session.save(update_fields=["mounted_kb", "mounted_layer", "draft", "journal", *Session.ACTIVITY_FIELDS])
    now = timezone.now()
    session.mounts.filter(until=None).update(until=now)
    return KBMount.objects.create(
        session=session,
        knowledge_base=base,
        layer=base.head,
        revision=base.revision,
        reason=reason,
        mounted_at=now,
        mounted_by=actor,
    )

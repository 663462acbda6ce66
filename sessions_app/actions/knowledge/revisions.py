"""Restore earlier revisions of knowledge bases, and request compaction."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, NotFound
from sessions_app import events
from sessions_app.actions.knowledge.bases import require_tests
from sessions_app.actions.knowledge.notifications import kb_saved, notify_on_commit
from sessions_app.actions.settings.audit import record_of_base
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import lock_base, move_head
from sessions_app.models import AuditKind, KBRevision, KnowledgeBase
from sessions_app.queries.experiments.suites import state_of_revision


@transaction.atomic
def restore_revision(
    base: KnowledgeBase, revision: int, *, actor: User | None = None, expected: int | None = None
) -> KnowledgeBase:
    """Return the base with a new revision that shows the content of an earlier one, at the same cost for every size.

    The present content stays available as a revision. Sessions continue to see the revision that they mounted.

    Args:
        expected: the revision that the base must have; None to restore without this check.

    Raises:
        NotFound: KB_NOT_FOUND, KB_REVISION_NOT_FOUND.
        Conflict: KB_REVISION_CONFLICT, the base has another revision than `expected`, or is at `revision` already;
            TESTS_REQUIRED, as for `require_tests`.
        Unavailable: QUOTA_FULL, the project has no room for what it showed.

    Effects: the base's head and revision, a revision row; `kb-saved` after the commit.
    """
    locked = lock_base(base)
    if revision == locked.revision or expected not in (None, locked.revision):
        raise Conflict(
            f"'{locked.name}' is at revision {locked.revision} now; nothing was restored.",
            code="KB_REVISION_CONFLICT",
            details={"kb_id": locked.kb_id, "revision": locked.revision},
        )
    kept = KBRevision.objects.select_related("layer").filter(knowledge_base=locked, revision=revision).first()
    if kept is None:
        raise NotFound(
            f"'{locked.name}' has no revision {revision} that could be restored.", code="KB_REVISION_NOT_FOUND"
        )
    if settings.MRPVM_REQUIRE_TESTS:
        require_tests(locked, state_of_revision(locked, revision))
    with within_quotas(locked.project):
        move_head(locked, kept.layer, reason=f"restore-{revision}", actor=actor)
        events.announce_revision(locked)
    record_of_base(AuditKind.BASE_REVERTED, locked, restored=revision, revision=locked.revision)
    notify_on_commit(kb_saved(locked, session=None, reason="restore"))
    return locked


@transaction.atomic
def ask_for_compaction(base: KnowledgeBase) -> KnowledgeBase:
    """Request compaction of the base's layer chain in the background, even of a short one; the visible units stay.

    Raises:
        NotFound: KB_NOT_FOUND.
    """
    locked = lock_base(base)
    locked.compaction_asked_at = timezone.now()
    locked.save(update_fields=["compaction_asked_at"])
    record_of_base(AuditKind.BASE_COMPACTED, locked)
    return locked

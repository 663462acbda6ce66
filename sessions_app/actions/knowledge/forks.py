"""Save a session's draft and journal into a base, and create bases by forking.

Nothing is copied: the session's layers are sealed where they stand and the base points at them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from mrpvm.errors import Conflict, InvalidInput
from sessions_app import events
from sessions_app.actions.knowledge.bases import base_name, require_tests
from sessions_app.actions.knowledge.notifications import kb_forked, kb_loaded, kb_saved, notify_on_commit
from sessions_app.actions.sessions.slots import change_idle_session
from sessions_app.actions.settings.audit import record_of_base
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import (
    follow_fold,
    fork_head,
    is_discarded,
    lock_base,
    lock_replaced,
    mounted_revision,
    move_head,
    point_at,
    prepare_journal,
    seal_stack,
)
from sessions_app.models import AuditKind, KnowledgeBase, Session
from sessions_app.queries.experiments.suites import state_of_draft


@transaction.atomic
def fork_base(base: KnowledgeBase, name: str | None = None, actor: User | None = None) -> KnowledgeBase:
    """Return a new base with the present content of `base`; mounts nothing.

    Raises:
        InvalidInput: as for `create_base`.
        NotFound: KB_NOT_FOUND.

    Effects: the base and its first revision; afterwards `kb-forked` with no session.
    """
    source = lock_base(base)
    named = source.fork_name if name is None else base_name(name)
    fork = fork_head(source, source.head, named, actor=actor, origin=(source.pk, source.revision))
    record_of_base(AuditKind.BASE_FORKED, fork, parent=source.kb_id)
    notify_on_commit(kb_forked(fork, session=None, reason="fork"))
    return fork


def fork_session_kb(
    session: Session,
    name: str | None = None,
    actor: User | None = None,
    *,
    include_conversation_units: bool = True,
    conversation_unit_ids: Collection[str] | None = None,
    wait_ms: int = 0,
) -> KnowledgeBase:
    """Return a new base made of what the session sees, draft and journal included, and mount it there.

    The mounted base is not changed, and the session keeps its own units. The cost does not depend on the size of the
    base.

    Args:
        name: what the new base is called; its parent's `fork_name` when None.
        include_conversation_units: the journal goes into the new base too.
        conversation_unit_ids: only these units of it go there, the others stay in it; all when None.

    Raises:
        InvalidInput: as for `create_base` and `seal_stack`; units are chosen and none is to be included.
        Conflict: TURN_IN_PROGRESS; CONFLICT, the draft that `session` had was discarded meanwhile.
        NotFound: SESSION_NOT_FOUND.
        Expired: SESSION_EXPIRED.
        Unavailable: QUOTA_FULL, the project has no room for what was told; the draft stays as it is.

    Effects: the base, both layers sealed, two fresh ones, one mount; `kb.forked`, `kb.mounted`, `draft.changed`;
    afterwards `kb-forked` and `kb-loaded`.
    """
    return save_session_kb(
        session, name=name, fork=True, include_conversation_units=include_conversation_units,
        conversation_unit_ids=conversation_unit_ids, actor=actor, wait_ms=wait_ms, reason="fork",
    )  # fmt: skip


def save_session_kb(
    session: Session,
    *,
    target: KnowledgeBase | None = None,
    name: str | None = None,
    fork: bool = False,
    include_conversation_units: bool = True,
    conversation_unit_ids: Collection[str] | None = None,
    expected_revision: int | None = None,
    actor: User | None = None,
    wait_ms: int = 0,
    reason: Literal["fork", "save-fork"] = "save-fork",
) -> KnowledgeBase:
    """Save what the session sees into a base, mount that base, and return it.

    If there is nothing to save into the mounted base, its revision stays the same.

    Args:
        target: the base to save into; the mounted one when None. It then holds what the draft shows.
        name: renames the target; with the default base mounted and no target it names a new base.
        fork: save into a new base even so.
        include_conversation_units: save the journal too.
        conversation_unit_ids: save only these units of it, the others stay in it; all when None.
        expected_revision: the revision that the target must have. It is required to replace a base that the session
            never mounted.
        reason: the reason stored with the mount of a fork.

    Raises:
        Conflict: KB_REVISION_CONFLICT, the target holds what neither the session nor the caller has seen: it has
            changed since it was mounted, or was never mounted, is not empty, and the caller has not named its
            revision. The draft stays as it is; CONFLICT, the draft that `session` had was discarded meanwhile;
            TURN_IN_PROGRESS; TESTS_REQUIRED, as for `require_tests`, and for chosen units, with which no test is run.
        InvalidInput: as for `fork_session_kb`.
        NotFound: SESSION_NOT_FOUND, KB_NOT_FOUND.
        Expired, Unavailable: as for `fork_session_kb`.

    Effects: as for `fork_session_kb`, with the target's head and revision in place of a new base, and `kb.saved` and
    `kb-saved` in place of `kb.forked` and `kb-forked`.
    """
    kept_ids = _chosen_ids(include_conversation_units, conversation_unit_ids)
    saving = _Saving(
        target=target, name=None if name is None else base_name(name), is_fork=fork, kept_ids=kept_ids,
        expected_revision=expected_revision, actor=actor, fork_reason=reason, seen_draft=session.draft_id,
    )  # fmt: skip
    if kept_ids is None:
        prepare_journal(session)
    return change_idle_session(session.pk, partial(_save, saving=saving), wait_ms)


def _chosen_ids(is_included: bool, unit_ids: Collection[str] | None) -> Collection[str] | None:
    """Return the ids of the journal's units to save, or None for all."""
    if is_included:
        return unit_ids
    if unit_ids:
        raise InvalidInput("Units of the conversation are chosen, and none of them is to be included.")
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saving:
    """What is saved of a session, and into which base.

    `kept_ids` are the journal's units to save, None for all. `seen_draft` is the key of the draft that the session had
    when somebody decided to save it.
    """

    target: KnowledgeBase | None
    name: str | None
    is_fork: bool
    kept_ids: Collection[str] | None
    expected_revision: int | None
    actor: User | None
    fork_reason: Literal["fork", "save-fork"]
    seen_draft: int

    @property
    def amount(self) -> Literal["with", "without", "chosen"]:
        """Return how much of the journal is saved, in the words of the tests of a draft."""
        return "with" if self.kept_ids is None else "chosen" if self.kept_ids else "without"


def _save(session: Session, saving: _Saving) -> KnowledgeBase:
    """Seal what the locked session has to save, point a base at it, mount that base and announce both."""
    with within_quotas(session.project):
        return _save_all(session, saving)


def _save_all(session: Session, saving: _Saving) -> KnowledgeBase:
    previous = base = session.mounted_kb
    if session.draft_id != saving.seen_draft and is_discarded(saving.seen_draft):
        raise Conflict(
            f"The unsaved changes were discarded meanwhile, when '{previous.name}' was mounted. Nothing was saved."
        )
    is_fork = saving.is_fork or (saving.target is None and saving.name is not None and previous.is_default)
    if not is_fork:
        base = lock_replaced(session, saving.target or previous, saving.expected_revision)
        if settings.MRPVM_REQUIRE_TESTS:
            require_tests(base, state_of_draft(session, base, saving.amount))
    if session.mounted_layer_id != base.head_id:
        follow_fold(session, base)
    tip = seal_stack(session, saving.kept_ids)

    if is_fork:
        reason: str = saving.fork_reason
        origin = mounted_revision(session)
        base = fork_head(previous, tip, saving.name or previous.fork_name, actor=saving.actor, origin=origin)
        mount = point_at(session, base, reason=reason, actor=saving.actor)
        record_of_base(AuditKind.BASE_FORKED, base, parent=previous.kb_id)
    elif tip.pk == base.head_id and base == previous and saving.name is None:
        # An unchanged revision would only make other sessions outdated. The session may move to the compacted head.
        session.save(update_fields=["mounted_layer", "draft", "journal"])
        return base
    else:
        reason, origin = "save", None if base == previous else mounted_revision(session)
        base.name = saving.name or base.name
        move_head(base, tip, reason=reason, actor=saving.actor, origin=origin)
        mount = point_at(session, base, reason=reason, actor=saving.actor)
        record_of_base(AuditKind.BASE_SAVED, base, session_id=session.session_id, revision=base.revision)
        events.announce_revision(base)

    kind: Literal["kb.forked", "kb.saved"] = "kb.forked" if is_fork else "kb.saved"
    mounted, changed = events.mounted_facts(mount), events.draft_facts(session)
    events.append_all(session, [(kind, events.stored_facts(base)), ("kb.mounted", mounted), ("draft.changed", changed)])
    notify_on_commit((kb_forked if is_fork else kb_saved)(base, session=session, reason=reason))
    notify_on_commit(kb_loaded(session, base, reason=reason, previous=previous))
    return base

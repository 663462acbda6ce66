"""Saving a session's draft and journal into a base, and making new bases from what is there.

Nothing is copied: the session's layers are sealed where they stand and the base points at them.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction

from mrpvm.errors import Conflict, InvalidInput
from sessions_app import events
from sessions_app.actions.knowledge.bases import (
    MAX_NAME_CHARS,
    base_name,
    lock_base,
    move_head,
    note_revision,
    require_tests,
)
from sessions_app.actions.knowledge.journals import prepare_journal, seal_journal, seal_told, take_told
from sessions_app.actions.knowledge.lifecycle import kb_forked, kb_loaded, kb_saved
from sessions_app.actions.knowledge.mounts import draft_facts, follow_fold, mounted_facts, point_at
from sessions_app.actions.knowledge.notifications import notify_on_commit
from sessions_app.actions.sessions.slots import lock_idle_session, waiting_for_slot
from sessions_app.actions.settings.audit import record_of_base
from sessions_app.actions.settings.quotas import check_growth, stored
from sessions_app.actions.upkeep.staging import abandon
from sessions_app.layers.lifecycle import (
    create_layer,
    draft_layers,
    keep_removals,
    own_layers,
    place_draft,
    relink_layer,
    restack_layer,
    seal_layer,
)
from sessions_app.models import AuditKind, KnowledgeBase, KnowledgeLayer, Session
from sessions_app.queries.experiments.suites import state_of_draft

_FORK_SUFFIX = " fork"


@transaction.atomic
def fork_base(base: KnowledgeBase, name: str | None = None, actor: User | None = None) -> KnowledgeBase:
    """Return a new base that starts with what `base` holds; mounts nothing.

    Raises:
        InvalidInput: as for `create_base`.
        NotFound: KB_NOT_FOUND.

    Effects: the base and its first revision; afterwards `kb-forked` with no session.
    """
    source = lock_base(base)
    fork = _create_fork(source, source.head, name, actor, (source.pk, source.revision))
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

    The mounted base stays as it is, and what the session knows stays its own wherever it goes. Costs the same for
    every size of base.

    Args:
        name: what the new base is called; as `fork_name` says when None.
        include_conversation_units: the journal goes into the new base too.
        conversation_unit_ids: only these units of it go there, the others stay in it; all when None.

    Raises:
        InvalidInput: as for `create_base` and `take_told`; units are chosen and none is to be included.
        Conflict: TURN_IN_PROGRESS.
        NotFound: SESSION_NOT_FOUND.
        Expired: SESSION_EXPIRED.
        Unavailable: QUOTA_FULL, the project has no room for what was told; the draft stays as it is.

    Effects: the base, both layers sealed, two fresh ones, one mount; `kb.forked`, `kb.mounted`, `draft.changed`;
    afterwards `kb-forked` and `kb-loaded`.
    """

    @transaction.atomic
    def attempt() -> KnowledgeBase:
        locked = lock_idle_session(session.pk)
        return _fork_session(locked, name, actor, kept_ids=kept_ids, reason="fork")

    kept_ids = _told(include_conversation_units, conversation_unit_ids)
    if kept_ids is None:
        prepare_journal(session)
    return waiting_for_slot(wait_ms, attempt)


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
) -> KnowledgeBase:
    """Save what the session sees into a base, mount that base, and give it.

    Where nothing is to be saved into the mounted base, it stays at its revision.

    Args:
        target: the base to save into; the mounted one when None. It then holds what the draft shows.
        name: renames the target; with the default base mounted and no target it names a new base.
        fork: save into a new base even so.
        include_conversation_units: save the journal too.
        conversation_unit_ids: save only these units of it, the others stay in it; all when None.
        expected_revision: the target's, if that must be its present one; a base that the session never mounted is
            replaced only so.

    Raises:
        Conflict: KB_REVISION_CONFLICT, the target holds what neither the session nor the caller has seen: it has
            changed since it was mounted, or was never mounted, is not empty, and the caller has not named its
            revision. The draft stays as it is; TURN_IN_PROGRESS; TESTS_REQUIRED, as for `require_tests`, and for chosen
            units, with which no test is run.
        InvalidInput: as for `fork_session_kb`.
        NotFound: SESSION_NOT_FOUND, KB_NOT_FOUND.
        Expired, Unavailable: as for `fork_session_kb`.

    Effects: as for `fork_session_kb`, with the target's head and revision in place of a new base, and `kb.saved` and
    `kb-saved` in place of `kb.forked` and `kb-forked`.
    """

    @transaction.atomic
    def attempt() -> KnowledgeBase:
        locked = lock_idle_session(session.pk)
        if fork or (target is None and name and locked.mounted_kb.is_default):
            return _fork_session(locked, name, actor, kept_ids=kept_ids, reason="save-fork")
        base = lock_base(target or locked.mounted_kb, project_id=locked.project_id)
        _check_revision(locked, base, expected_revision)
        amount: Literal["with", "without", "chosen"] = (
            "with" if kept_ids is None else "chosen" if kept_ids else "without"
        )
        require_tests(base, state_of_draft(locked, base, amount))
        return _save_session(locked, base, name, actor, kept_ids=kept_ids)

    kept_ids = _told(include_conversation_units, conversation_unit_ids)
    if kept_ids is None:
        prepare_journal(session)
    return waiting_for_slot(wait_ms, attempt)


def _told(is_included: bool, unit_ids: Collection[str] | None) -> Collection[str] | None:
    """Return which units of the journal are saved; None stands for all."""
    if is_included:
        return unit_ids
    if unit_ids:
        raise InvalidInput("Units of the conversation are chosen, and none of them is to be included.")
    return ()


def _fork_session(
    session: Session, name: str | None, actor: User | None, *, kept_ids: Collection[str] | None, reason: str
) -> KnowledgeBase:
    parent, before = session.mounted_kb, stored(session.project)
    follow_fold(session, parent)
    tip = _seal_workspace(session, kept_ids)
    fork = _create_fork(parent, tip, name, actor, _mounted_revision(session))
    _finish(session, fork, "kb.forked", reason=reason, actor=actor, previous=parent)
    check_growth(session.project, before)
    return fork


def _save_session(
    session: Session, base: KnowledgeBase, name: str | None, actor: User | None, *, kept_ids: Collection[str] | None
) -> KnowledgeBase:
    previous, before = session.mounted_kb, stored(session.project)
    follow_fold(session, base)
    if name is not None:
        base.name = base_name(name)
    tip = _seal_workspace(session, kept_ids)
    if tip.pk == base.head_id and base == previous and name is None:
        # A revision that changes nothing would leave other sessions behind; this one may have moved to the folded head.
        session.save(update_fields=["mounted_layer", "draft", "journal"])
        return base
    origin = None if base == previous else _mounted_revision(session)
    move_head(base, tip, reason="save", actor=actor, origin=origin)
    record_of_base(AuditKind.BASE_SAVED, base, session_id=session.session_id, revision=base.revision)
    _finish(session, base, "kb.saved", reason="save", actor=actor, previous=previous)
    check_growth(session.project, before)
    return base


def _mounted_revision(session: Session) -> tuple[int, int] | None:
    """Return the key of the base that the session sees, and the revision of it: the base may have gone on since."""
    return session.mounts.filter(until=None).values_list("knowledge_base_id", "revision").first()


def _check_revision(session: Session, base: KnowledgeBase, expected: int | None) -> None:
    """Refuse to replace what nobody who saves has seen: the base then holds what the draft shows, and nothing else.

    Raises:
        Conflict: KB_REVISION_CONFLICT.
    """
    known = session.mounts.filter(knowledge_base=base).order_by("-pk").values_list("revision", flat=True).first()
    is_empty = base.head.unit_count == 0 and base.source_count == 0
    help_text = "save it as a fork, or mount the base again and repeat the change"
    if known is not None and known != base.revision:
        why = f"'{base.name}' has been changed since this session mounted it"
    elif expected not in (None, base.revision):
        why = f"'{base.name}' is at revision {base.revision} now, not at revision {expected}"
    elif known is None and expected is None and not is_empty:
        why = f"This session has never mounted '{base.name}', and would replace all that it holds"
        help_text = "save it as a fork, or look at what the base holds and name its revision as the one to be replaced"
    else:
        return
    raise Conflict(
        f"{why}. The draft is kept: {help_text}.",
        code="KB_REVISION_CONFLICT",
        details={"kb_id": base.kb_id, "mounted_revision": known, "revision": base.revision},
    )


def _seal_workspace(session: Session, kept_ids: Collection[str] | None) -> KnowledgeLayer:
    """Seal what is to be kept, put fresh layers on top of it, and give that tip.

    What is empty is not sealed but used again, so that saves without news do not lengthen the chain.

    Args:
        kept_ids: the units of the journal that are kept; all when None.
    """
    chosen = take_told(session, kept_ids) if kept_ids else []
    tip, stack = session.mounted_layer, own_layers(session)
    sealed: list[KnowledgeLayer] = []
    for layer in draft_layers(session):
        if not layer.is_empty:  # only the topmost one may be
            seal_layer(layer)
            sealed.append(layer)
            tip = layer
    for layer in stack if kept_ids is None else ():
        if not layer.is_empty:
            relink_layer(layer, tip)
            seal_journal(session, layer)
            sealed.append(layer)
            tip = layer
    if chosen:
        tip = seal_told(session, chosen, tip)
    if session.draft.is_empty:
        place_draft(session.draft, tip)
    else:
        session.draft = create_layer(KnowledgeLayer.Kind.DRAFT, tip)
    emptied = _restore_stack(session, stack, restack_layer if chosen else relink_layer)
    keep_removals(session, [*sealed, *emptied])
    return tip


def _restore_stack(
    session: Session, stack: Sequence[KnowledgeLayer], link: Callable[[KnowledgeLayer, KnowledgeLayer], None]
) -> list[KnowledgeLayer]:
    """Put what was not sealed of the session's own layers on its draft again, with a journal on top.

    Not what is empty below the journal, which is returned: its counts lack what lay above it and was sealed.

    Args:
        link: puts a layer on another; `relink_layer` where that one shows the same as the one below it until now.
    """
    below = session.draft
    empty = [layer for layer in stack[:-1] if layer.is_empty]
    abandon(KnowledgeLayer.objects.filter(pk__in=[layer.pk for layer in empty]))
    for layer in stack:
        if layer.sealed_at is None and layer not in empty:
            link(layer, below)
            below = layer
    if session.journal.sealed_at is not None:
        session.journal = create_layer(KnowledgeLayer.Kind.JOURNAL, below)
    return empty


def fork_name(parent: KnowledgeBase) -> str:
    """Return what a fork of the base is called unless somebody names it."""
    return f"{parent.name[: MAX_NAME_CHARS - len(_FORK_SUFFIX)]}{_FORK_SUFFIX}"


def _create_fork(
    parent: KnowledgeBase,
    tip: KnowledgeLayer,
    name: str | None,
    actor: User | None,
    origin: tuple[int, int] | None,
) -> KnowledgeBase:
    fork = KnowledgeBase.objects.create(
        project_id=parent.project_id,
        name=fork_name(parent) if name is None else base_name(name),
        parent=parent,
        head=tip,
        source_count=tip.source_count,
    )
    note_revision(fork, "fork", actor, origin)
    record_of_base(AuditKind.BASE_FORKED, fork, parent=parent.kb_id)
    return fork


def _finish(
    session: Session,
    base: KnowledgeBase,
    kind: Literal["kb.saved", "kb.forked"],
    *,
    reason: str,
    actor: User | None,
    previous: KnowledgeBase,
) -> None:
    mount = point_at(session, base, reason=reason, actor=actor)
    parent_kb_id = base.parent.kb_id if base.parent else None
    stored = events.BaseStored(kb_id=base.kb_id, kb_name=base.name, revision=base.revision, parent_kb_id=parent_kb_id)
    events.append_all(
        session,
        [(kind, stored), ("kb.mounted", mounted_facts(mount)), ("draft.changed", draft_facts(session))],
    )
    tell = kb_forked if kind == "kb.forked" else kb_saved
    notify_on_commit(tell(base, session=session, reason=reason))
    notify_on_commit(kb_loaded(session, base, reason=reason, previous=previous))

"""Create, fill, rename, delete and restore knowledge bases."""

import hashlib
from collections.abc import Iterator
from itertools import count

from django.db import IntegrityError, transaction
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput, NotFound
from sessions_app import events
from sessions_app.actions.knowledge.notifications import kb_saved, notify_on_commit
from sessions_app.actions.knowledge.source_rows import (
    NewSource,
    check_limit,
    check_source,
    insert_source,
    is_listed,
    refuse_taken,
)
from sessions_app.actions.settings.audit import record_of_base
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import (
    OnBatch,
    create_layer,
    earlier_sources,
    fill,
    hide_in_batches,
    hide_units,
    lock_base,
    lock_staged_on,
    move_head,
    no_such_base,
    note_revision,
    seal_layer,
    staging,
    unwatched,
)
from sessions_app.models import (
    AuditKind,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Project,
)
from sessions_app.models.knowledge.bases import MAX_NAME_CHARS
from sessions_app.queries.experiments.suites import untested_suites
from sessions_app.queries.knowledge.bases import deleted_bases, text_byte_count

DEFAULT_BASE_NAME = "Default KB"


@transaction.atomic
def create_base(project: Project, name: str, *, is_default: bool = False) -> KnowledgeBase:
    """Return a new, empty base.

    Raises:
        InvalidInput: KB_VALIDATION_MISSING_NAME, or INVALID_INPUT for a name over 200 characters.

    Effects: the base and its sealed, empty root layer.
    """
    checked = base_name(name)
    root = create_layer(KnowledgeLayer.Kind.BASE, None)
    seal_layer(root)
    base = KnowledgeBase.objects.create(project=project, name=checked, head=root, is_default=is_default)
    note_revision(base, "create")
    record_of_base(AuditKind.BASE_CREATED, base)
    return base


def ensure_default_base(project: Project) -> KnowledgeBase:
    """Return the project's default base, created if it is missing; safe if several processes do so at once."""
    base = KnowledgeBase.objects.select_related("head").filter(project=project, is_default=True).first()
    if base is not None:
        base.project = project
        return base
    try:
        return create_base(project, DEFAULT_BASE_NAME, is_default=True)
    except IntegrityError:
        return KnowledgeBase.objects.get(project=project, is_default=True)


def require_tests(base: KnowledgeBase, state: str) -> None:
    """Raise an error unless the tests of a base were run against this state and none of them broke.

    Raises:
        Conflict: TESTS_REQUIRED, with the suites.
    """
    missing = untested_suites(base, state)
    if missing:
        raise Conflict(
            f"Run the tests of '{base.name}' first, against just what is to be saved: {', '.join(missing)}. "
            "What breaks none of them may be saved.",
            code="TESTS_REQUIRED",
            details={"kb_id": base.kb_id, "suites": missing},
        )


@transaction.atomic
def rename_base(base: KnowledgeBase, name: str) -> KnowledgeBase:
    """Return the base under its new name; content and revision stay.

    Raises:
        InvalidInput: as for `create_base`.
    """
    locked = lock_base(base)
    earlier_name = locked.name
    locked.name = base_name(name)
    locked.updated_at = timezone.now()
    locked.save(update_fields=["name", "updated_at"])
    record_of_base(AuditKind.BASE_RENAMED, locked, earlier_name=earlier_name)
    return locked


@transaction.atomic
def delete_base(base: KnowledgeBase) -> None:
    """Soft-delete the base; its layers stay for the forks and turns that saw them.

    Raises:
        InvalidInput: KB_IS_DEFAULT, it is the project's default base.
        Conflict: KB_MOUNTED, sessions have it mounted; `details` counts them.
        NotFound: KB_NOT_FOUND.

    Effects: the base's row; `restore_base` undoes this.
    """
    locked = lock_base(base)
    if locked.is_default:
        raise InvalidInput(
            "The default base cannot be deleted: every new session begins with it.", code="KB_IS_DEFAULT"
        )
    session_count = locked.mounted_in.filter(deleted_at=None).count()
    if session_count:
        have = "session has" if session_count == 1 else "sessions have"
        raise Conflict(
            f"{session_count} {have} '{locked.name}' mounted. Unmount it there first.",
            code="KB_MOUNTED",
            details={"session_count": session_count},
        )
    locked.deleted_at = timezone.now()
    locked.save(update_fields=["deleted_at"])
    record_of_base(AuditKind.BASE_DELETED, locked)


@transaction.atomic
def restore_base(project: Project, kb_id: str) -> KnowledgeBase:
    """Return a deleted base, in the lists again.

    Raises:
        NotFound: KB_NOT_FOUND, there is no such deleted base.
        Unavailable: QUOTA_FULL, the project has no room for what it holds.
    """
    base = deleted_bases(project).select_for_update().filter(kb_id=kb_id).first()
    if base is None:
        raise no_such_base()
    with within_quotas(project):
        base.deleted_at = None
        base.save(update_fields=["deleted_at"])
    record_of_base(AuditKind.BASE_UNDELETED, base)
    return base


def add_source(
    base: KnowledgeBase, source: NewSource, *, replaces: bool = True, watch: OnBatch = unwatched
) -> KnowledgeSource:
    """Add a source and its admitted units to a base; the same `source_id` again replaces that source.

    Readers see the base with the old source until the last of several short transactions, and with the new one after
    it; sessions that have the base mounted continue to see the head they mounted.

    Args:
        replaces: False if `source_id` was free when it was chosen: then neither it nor the text may be there.
        watch: called between transactions; what it raises ends the ingest, and nothing is stored.

    Raises:
        InvalidInput: INVALID_INPUT without a name, INVALID_SOURCE_ID.
        TooLarge: KB_VALIDATION_*, a limit is exceeded; nothing is stored.
        Conflict: the id is taken by now; SOURCE_EXISTS, the base shows a source with this text.

    Effects: one sealed layer on top of the head, the base's head and revision; `kb-saved` after the commit.
    """
    check_source(source)
    head = _head_of(base)
    earlier = earlier_sources(head, source.source_id)
    refuse_taken(head, source, earlier, replaces=replaces)
    with staging(head) as layer:
        row = insert_source(layer, source, earlier)
        hide_in_batches(layer, earlier, watch)
        fill(layer, source.units, row, watch, source.entries)
        return _publish(base, layer.pk, row, replaces=replaces)


def remove_source(base: KnowledgeBase, source_id: str) -> KnowledgeSource:
    """Remove a source and its units from what a base shows; return the row that says so, under the source's name.

    Earlier revisions keep it, and so do the sessions that have one of them mounted.

    Raises:
        NotFound: SOURCE_NOT_FOUND, the base shows no such source; KB_NOT_FOUND.
        Conflict: the source was changed meanwhile.

    Effects: as for `add_source`.
    """
    head = _head_of(base)
    earlier = earlier_sources(head, source_id)
    if not is_listed(earlier):
        raise NotFound(f"The base has no source '{source_id}'.", code="SOURCE_NOT_FOUND")
    nothing = NewSource(name=earlier[-1].name, source_id=source_id, kind=KnowledgeSource.Kind.REMOVED)
    with staging(head) as layer:
        row = insert_source(layer, nothing, earlier)
        hide_in_batches(layer, earlier)
        return _publish(base, layer.pk, row, replaces=True)


def _head_of(base: KnowledgeBase) -> KnowledgeLayer:
    head = KnowledgeLayer.objects.filter(headed_bases=base).first()
    if head is None:
        raise no_such_base()
    return head


@transaction.atomic
def _publish(base: KnowledgeBase, layer_pk: int, source: KnowledgeSource, *, replaces: bool) -> KnowledgeSource:
    """Seal the layer of a staged source and make it the head of the base."""
    locked = lock_base(base)
    is_removal = source.kind == KnowledgeSource.Kind.REMOVED
    reason = "source-remove" if is_removal else "source-add"
    with within_quotas(locked.project):
        layer = lock_staged_on(layer_pk, locked.head)
        earlier = earlier_sources(locked.head, source.source_id)
        refuse_taken(locked.head, source, earlier, replaces=replaces)
        hide_units(layer, LayerUnit.objects.filter(origin__in=earlier))  # sources added since this one was staged
        layer.own_source_count = 1
        layer.source_count = locked.head.source_count + (not is_removal) - is_listed(earlier)
        layer.save(update_fields=["own_source_count", "source_count"])
        check_base_size(layer)
        seal_layer(layer)
        move_head(locked, layer, reason=reason)
        events.announce_revision(locked)
    act = AuditKind.BASE_SOURCE_REMOVED if is_removal else AuditKind.BASE_SOURCE_ADDED
    record_of_base(act, locked, source_id=source.source_id, name=source.name, revision=locked.revision)
    notify_on_commit(kb_saved(locked, session=None, reason=reason))
    source.layer = layer
    return source


def base_name(name: str) -> str:
    """Return the trimmed name of a base.

    Raises:
        InvalidInput: KB_VALIDATION_MISSING_NAME, or INVALID_INPUT for more than 200 characters.
    """
    name = name.strip()
    if not name:
        raise InvalidInput("A knowledge base needs a name.", code="KB_VALIDATION_MISSING_NAME")
    if len(name) > MAX_NAME_CHARS:
        raise InvalidInput(
            f"The name of a knowledge base has at most {MAX_NAME_CHARS} characters; this one has {len(name)}.",
            details={"limit": MAX_NAME_CHARS, "length": len(name)},
        )
    return name


def free_source_id(layer: KnowledgeLayer, name: str) -> str:
    """Return `src-` and 12 hex digits of the name's SHA-256, with `-1`, `-2` and so on if the id is taken."""
    stem = f"src-{hashlib.sha256(name.strip().encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    present = KnowledgeSource.objects.filter(layer_id__in=layer.chain, source_id__startswith=stem)
    taken = set(present.values_list("source_id", flat=True))
    return next(name for name in _candidates(stem) if name not in taken)


def check_base_size(layer: KnowledgeLayer) -> None:
    """Raise an error if a head shows more than a base may hold; one query, because counts are stored.

    Raises:
        TooLarge: KB_VALIDATION_MAX_TOTAL_UNITS, KB_VALIDATION_MAX_SOURCES, KB_VALIDATION_TOO_LARGE.
    """
    check_limit("The base", "units", layer.unit_count, "MRPVM_MAX_BASE_UNITS", "KB_VALIDATION_MAX_TOTAL_UNITS")
    check_limit("The base", "sources", layer.source_count, "MRPVM_MAX_BASE_SOURCES", "KB_VALIDATION_MAX_SOURCES")
    text_bytes, subject = text_byte_count(layer), "The control text of the base"
    check_limit(subject, "bytes", text_bytes, "MRPVM_MAX_BASE_TEXT_BYTES", "KB_VALIDATION_TOO_LARGE")


def _candidates(stem: str) -> Iterator[str]:
    yield stem
    yield from (f"{stem}-{number}" for number in count(1))

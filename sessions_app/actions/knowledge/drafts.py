"""Sources staged in a session's draft. They reach a base only by a save or a fork.

Small changes are made in the draft itself. Large ones are written in short transactions into a staged layer, which then
becomes the draft's topmost layer.
"""

from collections.abc import Sequence
from functools import partial
from itertools import batched

from django.conf import settings

from mrpvm.errors import NotFound
from sessions_app import events
from sessions_app.actions.knowledge.bases import check_base_size
from sessions_app.actions.knowledge.source_rows import NewSource, check_source, insert_source, is_listed, refuse_taken
from sessions_app.actions.sessions.slots import change_idle_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import (
    OnBatch,
    earlier_sources,
    fill,
    hide_in_batches,
    hide_units,
    index_units,
    keep_own,
    lock_staged_on,
    put_in_draft,
    remove_units,
    staging,
    take_out_source,
    unheld_units,
    unwatched,
)
from sessions_app.models import KnowledgeLayer, KnowledgeSource, LayerUnit, Session


def stage_source(
    session: Session, source: NewSource, *, replaces: bool = True, watch: OnBatch = unwatched, wait_ms: int = 0
) -> tuple[Session, KnowledgeSource]:
    """Put a source into the session's draft; return the session as it now is, and the source's row.

    The same `source_id` again replaces that source, also one of the mounted base, for this session alone.

    Args:
        replaces: False if `source_id` was free when it was chosen: then neither it nor the text may be there.
        watch: called between transactions; what it raises ends the work, and nothing is stored.
        wait_ms: how long to wait for a running turn.

    Raises:
        InvalidInput, TooLarge: as for `check_source` and `check_base_size`; nothing is stored.
        Conflict: TURN_IN_PROGRESS, or the id is taken by now; SOURCE_EXISTS, the draft shows a source with this text.
        NotFound, Expired: the session is over.

    Effects: rows, index, `draft.changed`, activity; the units of it that the session knows are kept in its own layers.
    """
    check_source(source)
    return _change(session, source, replaces=replaces, watch=watch, wait_ms=wait_ms)


def remove_source(session: Session, source_id: str, *, wait_ms: int = 0) -> Session:
    """Remove a source from the session's draft, also one of the mounted base; return the session as it now is.

    Raises:
        NotFound: SOURCE_NOT_FOUND, the draft shows no such source; SESSION_NOT_FOUND.
        Conflict, Expired: as for `stage_source`.

    Effects: as for `stage_source`.
    """
    nothing = NewSource(name=source_id, source_id=source_id, kind=KnowledgeSource.Kind.REMOVED)
    return _change(session, nothing, replaces=True, watch=unwatched, wait_ms=wait_ms)[0]


def _change(
    session: Session, source: NewSource, *, replaces: bool, watch: OnBatch, wait_ms: int
) -> tuple[Session, KnowledgeSource]:
    draft = Session.objects.select_related("draft").get(pk=session.pk).draft
    earlier = earlier_sources(draft, source.source_id)
    _check_there(source, earlier)
    refuse_taken(draft, source, earlier, replaces=replaces)
    changed_count = len(source.units) + LayerUnit.objects.filter(origin__in=earlier).count()
    if changed_count <= settings.MRPVM_UNITS_AT_ONCE:
        return change_idle_session(session.pk, partial(_change_at_once, source=source, replaces=replaces), wait_ms)
    _keep_many_own(session, [unit.hash for unit in source.units], watch, wait_ms)
    with staging(draft) as layer:
        row = insert_source(layer, source, earlier)
        hide_in_batches(layer, earlier, watch)
        fill(layer, source.units, row, watch, source.entries)
        publish = partial(_publish, layer_pk=layer.pk, row=row, replaces=replaces)
        return change_idle_session(session.pk, publish, wait_ms)


def _keep_many_own(session: Session, hashes: Sequence[str], watch: OnBatch, wait_ms: int) -> None:
    """Do most of the work of `keep_own` in short transactions if there are many units.

    Search results do not change meanwhile: of equal units in the journal and in a saved layer only one is shown.

    Args:
        watch: called between transactions; an exception that it raises ends the work.
        wait_ms: how long each transaction waits for a running turn.

    Raises:
        Conflict: TURN_IN_PROGRESS, a turn was still running after `wait_ms`.
        NotFound, Expired: as for `lock_session`.
    """
    unheld = unheld_units(Session.objects.select_related("journal").get(pk=session.pk), hashes)
    if len(unheld) > settings.MRPVM_UNITS_AT_ONCE:
        for batch in batched((unit.hash for unit in unheld), settings.MRPVM_UNITS_AT_ONCE, strict=False):
            watch(0)
            change_idle_session(session.pk, partial(keep_own, hashes=batch), wait_ms)


def _check_there(source: NewSource, earlier: Sequence[KnowledgeSource]) -> None:
    if source.kind == KnowledgeSource.Kind.REMOVED and not is_listed(earlier):
        raise NotFound(f"The draft shows no source '{source.source_id}'.", code="SOURCE_NOT_FOUND")


def _change_at_once(locked: Session, source: NewSource, *, replaces: bool) -> tuple[Session, KnowledgeSource]:
    with within_quotas(locked.project):
        draft = locked.draft
        earlier = earlier_sources(draft, source.source_id)
        _check_there(source, earlier)
        was_listed = is_listed(earlier)
        below = [row for row in earlier if row.layer_id != draft.pk]
        own_count = draft.own_source_count - (len(earlier) - len(below))
        refuse_taken(draft, source, earlier, replaces=replaces)
        keep_own(locked, [unit.hash for unit in source.units])
        _remove_own(draft, earlier)
        row = insert_source(draft, source, earlier)
        hide_units(draft, LayerUnit.objects.filter(origin__in=below), own_too=True)
        index_units(draft, source.units, origin=row)
        if source.kind == KnowledgeSource.Kind.REMOVED and not below:  # nothing below has to be hidden
            row.delete()
            own_count -= 1
        _count_sources(draft, own_count + 1, draft.source_count, source, was_listed=was_listed)
        return _finish(locked), row


def _remove_own(draft: KnowledgeLayer, earlier: Sequence[KnowledgeSource]) -> None:
    for row in earlier:
        if row.layer_id == draft.pk:
            remove_units(draft, row.units.values_list("unit_id", flat=True))
            take_out_source(row)


def _publish(
    locked: Session, layer_pk: int, row: KnowledgeSource, *, replaces: bool
) -> tuple[Session, KnowledgeSource]:
    """Make a staged layer the topmost one of the locked session's draft."""
    with within_quotas(locked.project):
        draft = locked.draft
        layer = lock_staged_on(layer_pk, draft)
        earlier = earlier_sources(draft, row.source_id)
        refuse_taken(draft, row, earlier, replaces=replaces)
        keep_own(locked, list(row.units.values_list("hash", flat=True)))  # units committed since `keep_many_own`
        hide_units(layer, LayerUnit.objects.filter(origin__in=earlier))  # sources added since this one was staged
        _count_sources(layer, 1, draft.source_count, row, was_listed=is_listed(earlier))
        put_in_draft(locked, layer)
        return _finish(locked), row


def _count_sources(
    layer: KnowledgeLayer, own: int, below: int, source: NewSource | KnowledgeSource, *, was_listed: bool
) -> None:
    """Store how many sources the layer changes and shows, `below` being how many there were.

    Raises:
        TooLarge: as for `check_base_size`.
    """
    layer.own_source_count = own
    layer.source_count = below + (source.kind != KnowledgeSource.Kind.REMOVED) - was_listed
    layer.save(update_fields=["own_source_count", "source_count"])
    check_base_size(layer)


def _finish(session: Session) -> Session:
    session.touch()
    session.save(update_fields=["draft", *Session.ACTIVITY_FIELDS])
    events.append(session, ("draft.changed", events.draft_facts(session)))
    return session

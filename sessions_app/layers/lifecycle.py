"""Making, moving, sealing and dropping layers."""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.knowledge import indexing
from mrpvm.knowledge.units import text_byte_count
from sessions_app.layers.retrieval.visibility import Totals, settle
from sessions_app.layers.retrieval.words import note_words
from sessions_app.models import (
    HiddenUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
    Session,
    UnitArtifact,
)
from sessions_app.models.named_sql import Write, add_to_counts, insert_rows, write_all

_COUNTS = ("unit_count", "evidence_count", "term_count")


def create_layer(kind: str, parent: KnowledgeLayer | None) -> KnowledgeLayer:
    """Return a new, empty, unsealed layer that shows what `parent` shows; one row, whatever the parent holds."""
    layer = KnowledgeLayer(kind=kind, index_version=indexing.INDEX_VERSION)
    if parent is not None:
        layer.parent, layer.ancestry = parent, parent.chain
        for name in (*_COUNTS, "source_count"):
            setattr(layer, name, getattr(parent, name))
    insert_rows([layer], with_keys=True)
    return layer


def removed_layer(layer: KnowledgeLayer, unit_count: int = 0) -> KnowledgeLayer:
    """Return a new layer for `unit_count` units taken out of an unsealed one; turns that saw them find them there."""
    removed = KnowledgeLayer(
        kind=KnowledgeLayer.Kind.REMOVED,
        index_version=layer.index_version,
        ancestry=[layer.pk],
        removed_from=layer,
        own_unit_count=unit_count,
    )
    insert_rows([removed], with_keys=True)
    return removed


def take_out_hidings(layer: KnowledgeLayer, hidings: QuerySet[HiddenUnit]) -> int:
    """Take rows that say which units are gone out of an unsealed layer, and give how many there were."""
    pks = list(hidings.values_list("pk", flat=True))
    if not pks:
        return 0
    taken = HiddenUnit.objects.filter(pk__in=pks)
    if layer.kind == KnowledgeLayer.Kind.STAGED:
        taken.delete()
    else:
        taken.update(layer=removed_layer(layer))
    return len(pks)


def give_up_layers(layers: Sequence[KnowledgeLayer], session: Session) -> None:
    """Leave unsealed layers of the session that it does not see any more to the turns that saw them.

    Whoever is staging something on one of them finds that it has to be moved.
    """
    pks = [layer.pk for layer in layers]
    KnowledgeLayer.objects.filter(parent__in=pks, kind=KnowledgeLayer.Kind.STAGED).update(parent=None, ancestry=[])
    given_up = KnowledgeLayer.objects.filter(pk__in=pks)
    given_up.update(parent=None, kind=KnowledgeLayer.Kind.REMOVED, removed_from=session.journal)


def abandon(layers: QuerySet[KnowledgeLayer]) -> None:
    """Leave unsealed layers that nothing points at any more to the sweeper.

    Whoever is staging something on one of them finds that it has to be moved.
    """
    pks = list(layers.filter(sealed_at=None).values_list("pk", flat=True))
    KnowledgeLayer.objects.filter(parent__in=pks, kind=KnowledgeLayer.Kind.STAGED).update(parent=None, ancestry=[])
    KnowledgeLayer.objects.filter(pk__in=pks).update(parent=None, kind=KnowledgeLayer.Kind.STAGED)


def keep_removals(session: Session, sealed: Sequence[KnowledgeLayer]) -> None:
    """Move removed units of layers that are now sealed to the session's journal: these are never deleted."""
    if sealed:
        KnowledgeLayer.objects.filter(removed_from__in=sealed).update(removed_from=session.journal)


def place_draft(draft: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Empty the draft and put it on `parent`; one row, unless there is something to throw away.

    What is on top of it is left to the caller: `restack_layer`, or `relink_layer` where nothing changes for it.
    """
    if not draft.is_empty:
        _clear_layer(draft.pk)
        # What is being staged on it finds that it has to be moved.
        KnowledgeLayer.objects.filter(parent=draft, kind=KnowledgeLayer.Kind.STAGED).update(ancestry=[])
    draft.parent, draft.ancestry = parent, parent.chain
    for name in (*_COUNTS, "source_count"):
        setattr(draft, name, getattr(parent, name))
    draft.own_unit_count = draft.own_source_count = draft.removed_unit_count = 0
    draft.index_version = indexing.INDEX_VERSION
    draft.save()


def restack_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Put an unsealed layer on top of another, or update it after a change of the one below.

    Costs by the layer's own units, never by what is below. What is above is left to the caller. Effects: the
    layer's parent, ancestry, counts and the rows that say which duplicates it hides; what it removed and is not below
    it any more is forgotten.
    """
    layer.parent = parent
    layer.ancestry = parent.chain
    if layer.removed_unit_count:
        removed = layer.hidden_units.filter(change__in=HiddenUnit.GONE)
        gone = removed.exclude(unit__layer_id__in=[layer.pk, *parent.chain])
        layer.removed_unit_count -= take_out_hidings(layer, gone)
    layer.hidden_units.exclude(change__in=HiddenUnit.GONE).delete()
    _count_again(layer, parent)
    layer.source_count = parent.source_count
    layer.save(update_fields=["parent", "ancestry", *_COUNTS, "source_count", "removed_unit_count"])


def recount_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Bring an unsealed layer's counts up to date where lengths have changed, its own or those of what is below."""
    _count_again(layer, parent)
    layer.save(update_fields=list(_COUNTS))


def _count_again(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    settled = settle(layer, _own_hashes(layer))
    shown = Totals(parent.unit_count, parent.evidence_count, parent.term_count) + settled.after - settled.below
    layer.unit_count, layer.evidence_count, layer.term_count = shown.units, shown.evidence, shown.terms


def restack_above(layer: KnowledgeLayer) -> None:
    """Bring all unsealed layers above this one up to date, also one that is just being filled."""
    for above in layer.children.select_for_update().filter(sealed_at=None):
        restack_layer(above, layer)
        if above.kind != KnowledgeLayer.Kind.JOURNAL:
            restack_above(above)


def own_layers(session: Session) -> list[KnowledgeLayer]:
    """Return what is above the session's draft, the lowest first: its context layers, then its journal."""
    own_ids = session.journal.chain[1 : session.journal.chain.index(session.draft_id)]
    below = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=own_ids)} if own_ids else {}
    return [*(below[pk] for pk in reversed(own_ids)), session.journal]


def draft_layers(session: Session) -> list[KnowledgeLayer]:
    """Return what is between the mounted base and the session's own layers, the lowest first; the draft is the
    last.
    """
    lower_ids = session.draft.ancestry[: session.draft.ancestry.index(session.mounted_layer_id)]
    lower = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=lower_ids)} if lower_ids else {}
    return [*(lower[pk] for pk in reversed(lower_ids)), session.draft]


def journal_source(session: Session, layer: KnowledgeLayer) -> KnowledgeSource:
    """Return the row of the session's journal source in one of its layers, making it if there is none.

    Whoever calls it holds the session's lock, or the layer alone.
    """
    source = layer.sources.filter(source_id=session.journal_source_id).first()
    return source or KnowledgeSource.objects.create(
        layer=layer,
        source_id=session.journal_source_id,
        name=f"session-{session.session_id}-journal",
        kind=KnowledgeSource.Kind.JOURNAL,
        chunk_count=1,
    )


def prepare_journal(session: Session, units_at_once: int) -> None:
    """Enter the many units of a large journal in its source, in short transactions, so that it can be sealed soon.

    Neither that nor the words that pages find them by is on a turn's path. Nothing is done for a session that takes no
    more.
    """
    is_ready = Session.objects.filter(pk=session.pk, journal__own_unit_count__lte=units_at_once).exists()
    while not is_ready:
        with transaction.atomic():
            locked = Session.objects.select_for_update().filter(pk=session.pk, deleted_at=None).first()
            if locked is None or locked.is_expired:
                return
            units = _enter_units(locked, locked.journal, units_at_once)
            note_words(units)
            is_ready = not units


def seal_stack(session: Session, *, chosen: KnowledgeLayer | None, with_journal: bool) -> KnowledgeLayer:
    """Seal what is to be kept of the locked session's layers, put fresh ones on top of it, and return that tip.

    What is empty is not sealed but used again, so that saves without news do not lengthen the chain. Units keep their
    ids: the ledger and plugins know them by these.

    Args:
        chosen: units that were moved out of the session's own layers, kept too.
        with_journal: keep all that the session's own layers hold.
    """
    tip, stack = session.mounted_layer, own_layers(session)
    drafts = [layer for layer in draft_layers(session) if not layer.is_empty]  # only the topmost one may be
    own = [layer for layer in stack if with_journal and not layer.is_empty]
    entered: list[LayerUnit] = []
    for layer in drafts:
        seal_layer(layer)
        tip = layer
    for layer in own if chosen is None else [*own, chosen]:
        relink_layer(layer, tip)
        entered += _enter_units(session, layer)
        seal_layer(layer)
        tip = layer
    if session.draft.is_empty:
        place_draft(session.draft, tip)
    else:
        session.draft = create_layer(KnowledgeLayer.Kind.DRAFT, tip)
    emptied = _restore_stack(session, stack, restack_layer if chosen else relink_layer)
    keep_removals(session, [*drafts, *own, *emptied])
    note_words(entered)
    return tip


def _enter_units(session: Session, layer: KnowledgeLayer, limit: int | None = None) -> list[LayerUnit]:
    """Enter the layer's units that have no source yet, and what they say, in its journal source; return them."""
    source = journal_source(session, layer)
    units = list(layer.units.filter(origin=None).order_by("pk")[:limit])
    LayerUnit.objects.filter(pk__in=[unit.pk for unit in units]).update(origin=source)
    source.unit_count = session.unit_count
    source.text_byte_count += sum(map(text_byte_count, units))
    source.save(update_fields=["unit_count", "text_byte_count"])
    return units


def _restore_stack(
    session: Session, stack: Sequence[KnowledgeLayer], link: Callable[[KnowledgeLayer, KnowledgeLayer], None]
) -> list[KnowledgeLayer]:
    """Put what was not sealed of the session's own layers on its draft again, with a journal on top.

    Not what is empty below the journal, which is returned: its counts lack what was above it and was sealed.

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


def relink_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Put an unsealed layer on a parent that shows exactly what its present parent shows: nothing is compared."""
    layer.parent = parent
    layer.ancestry = parent.chain
    layer.source_count = parent.source_count
    layer.save(update_fields=["parent", "ancestry", "source_count"])


def shift_counts(
    layer: KnowledgeLayer, by: Totals, *, own: int = 0, removed: int = 0, along: Sequence[Write] = ()
) -> None:
    """Add to the layer's counts, with whatever is written along, then bring what a session has above it up to date."""
    changes = {
        "unit_count": by.units,
        "evidence_count": by.evidence,
        "term_count": by.terms,
        "own_unit_count": own,
        "removed_unit_count": removed,
    }
    changed = {name: change for name, change in changes.items() if change}
    if changed:
        add_to_counts(layer, along=along, **changed)
    elif along:
        write_all(along)
    if layer.kind in (KnowledgeLayer.Kind.DRAFT, KnowledgeLayer.Kind.CONTEXT):
        restack_above(layer)


def seal_layer(layer: KnowledgeLayer) -> None:
    """Make the layer part of a base: from now on it never changes."""
    layer.kind = KnowledgeLayer.Kind.BASE
    layer.sealed_at = timezone.now()
    layer.save(update_fields=["kind", "sealed_at"])


def layers_of_bases() -> set[int]:
    """Return the keys of the layers that some base shows; one query."""
    chains = KnowledgeBase.objects.values_list("head_id", "head__ancestry")
    return {layer for head, ancestry in chains for layer in (head, *ancestry)}


def drop_layer(layer_id: int) -> None:
    """Delete an unsealed layer that nothing points at any more, with all it holds."""
    _clear_layer(layer_id)
    KnowledgeLayer.objects.filter(pk=layer_id, sealed_at=None).delete()


def _clear_layer(layer_id: int) -> None:
    Posting.objects.filter(layer_id=layer_id).delete()
    HiddenUnit.objects.filter(layer_id=layer_id).delete()
    HiddenUnit.objects.filter(unit__layer_id=layer_id).delete()
    UnitArtifact.objects.filter(unit__layer_id=layer_id).delete()
    LayerUnit.objects.filter(layer_id=layer_id).delete()
    KnowledgeSource.objects.filter(layer_id=layer_id).delete()


def _own_hashes(layer: KnowledgeLayer) -> set[str]:
    hashes = set(layer.units.order_by().values_list("hash", flat=True))
    if layer.removed_unit_count:
        removed = layer.hidden_units.filter(change__in=HiddenUnit.GONE)
        hashes.update(removed.values_list("unit__hash", flat=True))
    return hashes

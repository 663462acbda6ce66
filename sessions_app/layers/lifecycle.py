"""Making, moving, sealing and dropping layers."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.knowledge import indexing
from sessions_app.layers.retrieval.visibility import Totals, settle
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


def keep_removals(session: Session, sealed: Sequence[KnowledgeLayer]) -> None:
    """Move removed units of layers that are now sealed to the session's journal: these are never deleted."""
    if sealed:
        KnowledgeLayer.objects.filter(removed_from__in=sealed).update(removed_from=session.journal)


def place_draft(draft: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Empty the draft and put it on `parent`; one row, unless there is something to throw away.

    What lies on top of it is left to the caller: `restack_layer`, or `relink_layer` where nothing changes for it.
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
    """Put an unsealed layer on top of another, or bring it up to date with the one below.

    Costs by the layer's own units, never by what lies below. What lies above is left to the caller. Effects: the
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
    """Bring an unsealed layer's counts up to date where lengths have changed, its own or those of what lies below."""
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
    """Return what lies above the session's draft, the lowest first: its context layers, then its journal."""
    own_ids = session.journal.chain[1 : session.journal.chain.index(session.draft_id)]
    below = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=own_ids)} if own_ids else {}
    return [*(below[pk] for pk in reversed(own_ids)), session.journal]


def draft_layers(session: Session) -> list[KnowledgeLayer]:
    """Return what lies between the mounted base and the session's own layers, the lowest first; the draft is the
    last.
    """
    lower_ids = session.draft.ancestry[: session.draft.ancestry.index(session.mounted_layer_id)]
    lower = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=lower_ids)} if lower_ids else {}
    return [*(lower[pk] for pk in reversed(lower_ids)), session.draft]


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

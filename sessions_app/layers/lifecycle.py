"""Creates, stacks, seals and deletes layers."""

from collections.abc import Collection, Iterable, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.errors import InvalidInput
from mrpvm.knowledge import indexing
from mrpvm.knowledge.units import text_byte_count
from sessions_app.layers.units import COUNTS, index_units, remove_units, restack_layer
from sessions_app.layers.words import note_words
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
from sessions_app.models.named_sql import insert_rows

CHOSEN_MAX = 1_000


def create_layer(kind: str, parent: KnowledgeLayer | None) -> KnowledgeLayer:
    """Return a new, empty, unsealed layer that shows what `parent` shows; one row, whatever the parent holds."""
    layer = KnowledgeLayer(kind=kind, index_version=indexing.INDEX_VERSION)
    if parent is not None:
        layer.parent, layer.ancestry = parent, parent.chain
        for name in (*COUNTS, "source_count"):
            setattr(layer, name, getattr(parent, name))
    insert_rows([layer], with_keys=True)
    return layer


def give_up_layers(layers: Sequence[KnowledgeLayer], session: Session) -> None:
    """Mark unsealed layers that the session no longer sees as removed; earlier turns still read them.

    A layer staged on one of them is moved before it is published.
    """
    pks = [layer.pk for layer in layers]
    KnowledgeLayer.objects.filter(parent__in=pks, kind=KnowledgeLayer.Kind.STAGED).update(parent=None, ancestry=[])
    given_up = KnowledgeLayer.objects.filter(pk__in=pks)
    given_up.update(parent=None, kind=KnowledgeLayer.Kind.REMOVED, removed_from=session.journal)


def is_discarded(layer: int) -> bool:
    """Return whether a session no longer sees a layer that was its own."""
    return KnowledgeLayer.objects.filter(pk=layer, kind=KnowledgeLayer.Kind.REMOVED).exists()


def abandon(layers: QuerySet[KnowledgeLayer]) -> None:
    """Mark unsealed layers without a pointer for the sweeper.

    A layer staged on one of them is moved before it is published.
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

    The caller moves the layers above it: `restack_layer`, or `relink_layer` if nothing changes for them.
    """
    if not draft.is_empty:
        _clear_layer(draft.pk)
        # What is being staged on it finds that it has to be moved.
        KnowledgeLayer.objects.filter(parent=draft, kind=KnowledgeLayer.Kind.STAGED).update(ancestry=[])
    draft.parent, draft.ancestry = parent, parent.chain
    for name in (*COUNTS, "source_count"):
        setattr(draft, name, getattr(parent, name))
    draft.own_unit_count = draft.own_source_count = draft.removed_unit_count = 0
    draft.index_version = indexing.INDEX_VERSION
    draft.save()


def own_layers(session: Session) -> list[KnowledgeLayer]:
    """Return the layers above the session's draft, the lowest first: its context layers, then its journal."""
    own_ids = session.journal.chain[1 : session.journal.chain.index(session.draft_id)]
    below = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=own_ids)} if own_ids else {}
    return [*(below[pk] for pk in reversed(own_ids)), session.journal]


def draft_layers(session: Session) -> list[KnowledgeLayer]:
    """Return the layers between the mounted base and the session's own layers, the lowest first; the draft is last."""
    lower_ids = session.draft.ancestry[: session.draft.ancestry.index(session.mounted_layer_id)]
    lower = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=lower_ids)} if lower_ids else {}
    return [*(lower[pk] for pk in reversed(lower_ids)), session.draft]


def journal_source(session: Session, layer: KnowledgeLayer) -> KnowledgeSource:
    """Return the row of the session's journal source in one of its layers; create it if necessary.

    The caller must hold the session's lock, or be the only user of the layer.
    """
    source = layer.sources.filter(source_id=session.journal_source_id).first()
    return source or KnowledgeSource.objects.create(
        layer=layer,
        source_id=session.journal_source_id,
        name=f"session-{session.session_id}-journal",
        kind=KnowledgeSource.Kind.JOURNAL,
        chunk_count=1,
    )


def prepare_journal(session: Session) -> None:
    """Assign the units of a large journal to its source, in short transactions, so that sealing it is quick.

    Saves do this and index the words for pages, so that turns need not. Does nothing for an expired session.
    """
    units_at_once = settings.MRPVM_UNITS_AT_ONCE
    is_ready = Session.objects.filter(pk=session.pk, journal__own_unit_count__lte=units_at_once).exists()
    while not is_ready:
        with transaction.atomic():
            locked = Session.objects.select_for_update().filter(pk=session.pk, deleted_at=None).first()
            if locked is None or locked.is_expired:
                return
            units = _enter_units(locked, locked.journal, units_at_once)
            note_words(units)
            is_ready = not units


def seal_stack(session: Session, kept_ids: Collection[str] | None) -> KnowledgeLayer:
    """Seal the locked session's layers that are to be kept, put new ones on top, and return the topmost sealed layer.

    An empty layer is reused and not sealed, so that saves without changes do not lengthen the chain. Units keep their
    ids: the ledger and plugins know them by these.

    Args:
        kept_ids: units of the session's own layers to keep; all of them when None.

    Raises:
        InvalidInput: more than `CHOSEN_MAX`, or one is no unit that a save could take along.
    """
    tip, stack = session.mounted_layer, own_layers(session)
    drafts = [layer for layer in draft_layers(session) if not layer.is_empty]  # only the topmost one may be
    chosen = None
    if kept_ids:
        chosen = _move_down(stack, drafts[-1] if drafts else tip, kept_ids)
    own = [layer for layer in stack if kept_ids is None and not layer.is_empty]
    entered: list[LayerUnit] = []
    for layer in drafts:
        seal_layer(layer)
        tip = layer
    for layer in own if chosen is None else [chosen]:
        relink_layer(layer, tip)
        entered += _enter_units(session, layer)
        seal_layer(layer)
        tip = layer
    if session.draft.is_empty:
        place_draft(session.draft, tip)
    else:
        session.draft = create_layer(KnowledgeLayer.Kind.DRAFT, tip)
    emptied = _restore_stack(session, stack)
    keep_removals(session, [*drafts, *own, *emptied])
    note_words(entered)
    return tip


def _move_down(stack: Sequence[KnowledgeLayer], below: KnowledgeLayer, unit_ids: Collection[str]) -> KnowledgeLayer:
    """Move units out of the session's own layers into a new layer between these and `below`; return it.

    Costs by the session's own units. Turns that saw them find them in a removed layer.
    """
    if len(unit_ids) > CHOSEN_MAX:
        raise InvalidInput(f"At most {CHOSEN_MAX:,} units can be chosen one by one; leave the choice out to save all.")
    held = LayerUnit.objects.filter(layer__in=stack, unit_id__in=unit_ids).order_by("pk")
    units = {row.unit_id: row.to_value() for row in held}
    unknown = sorted(set(unit_ids) - units.keys())
    if unknown:
        raise InvalidInput(f"The conversation told nothing unsaved that is called {unknown[0]!r}.")
    moved = create_layer(KnowledgeLayer.Kind.JOURNAL, below)
    for layer in stack:
        remove_units(layer, units, are_moved=True)
    index_units(moved, list(units.values()))
    parent = moved
    for layer in stack:
        layer.refresh_from_db()
        restack_layer(layer, parent)
        parent = layer
    return moved


def _enter_units(session: Session, layer: KnowledgeLayer, limit: int | None = None) -> list[LayerUnit]:
    """Assign the layer's units without a source to its journal source, and count their text there; return them."""
    source = journal_source(session, layer)
    units = list(layer.units.filter(origin=None).order_by("pk")[:limit])
    LayerUnit.objects.filter(pk__in=[unit.pk for unit in units]).update(origin=source)
    source.unit_count = session.unit_count
    source.text_byte_count += sum(map(text_byte_count, units))
    source.save(update_fields=["unit_count", "text_byte_count"])
    return units


def _restore_stack(session: Session, stack: Sequence[KnowledgeLayer]) -> list[KnowledgeLayer]:
    """Put the session's own unsealed layers back on its draft, with a journal on top.

    Empty ones below the journal are dropped and returned: their counts lack what was sealed above them.
    """
    below = session.draft
    empty = [layer for layer in stack[:-1] if layer.is_empty]
    abandon(KnowledgeLayer.objects.filter(pk__in=[layer.pk for layer in empty]))
    for layer in stack:
        if layer.sealed_at is None and layer not in empty:
            relink_layer(layer, below)
            below = layer
    if session.journal.sealed_at is not None:
        session.journal = create_layer(KnowledgeLayer.Kind.JOURNAL, below)
    return empty


def relink_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Move an unsealed layer to a parent that shows exactly what its present parent shows: nothing is compared."""
    layer.parent = parent
    layer.ancestry = parent.chain
    layer.source_count = parent.source_count
    layer.save(update_fields=["parent", "ancestry", "source_count"])


def seal_layer(layer: KnowledgeLayer) -> None:
    """Make the layer part of a base: from now on it never changes."""
    layer.kind = KnowledgeLayer.Kind.BASE
    layer.sealed_at = timezone.now()
    layer.save(update_fields=["kind", "sealed_at"])


def layers_of_bases() -> set[int]:
    """Return the keys of the layers that some base shows; one query."""
    chains = KnowledgeBase.objects.values_list("head_id", "head__ancestry")
    return {layer for head, ancestry in chains for layer in (head, *ancestry)}


def outdated_layers(among: Iterable[int] | None = None) -> QuerySet[KnowledgeLayer]:
    """Return the layers with units that another version of the code has indexed; `manage.py reindex` is for them.

    What is just being staged, or was left over, is not among them.

    Args:
        among: the keys of the layers to look at; all when None.
    """
    layers = KnowledgeLayer.objects.filter(own_unit_count__gt=0).exclude(index_version=indexing.INDEX_VERSION)
    if among is not None:
        layers = layers.filter(pk__in=set(among))
    return layers.exclude(kind=KnowledgeLayer.Kind.STAGED).order_by("pk")


def drop_layer(layer_id: int) -> None:
    """Delete an unsealed layer that nothing points at any more, with all it holds."""
    _clear_layer(layer_id)
    KnowledgeLayer.objects.filter(pk=layer_id, sealed_at=None).delete()


def layers_of(session: Session) -> list[int]:
    """Return the ids of the session's own layers, the higher first, for `release_layers`."""
    return [layer.pk for layer in reversed([*draft_layers(session), *own_layers(session)])]


def release_layers(layer_ids: Sequence[int]) -> None:
    """Delete a purged session's journal and lowest draft layer, never a base; the sweeper removes the others.

    Must run in the transaction that deleted the session's row, after that: the row points at them.
    """
    journal_id, *others = layer_ids
    removals = list(layer_ids)
    while removals := list(KnowledgeLayer.objects.filter(removed_from__in=removals).values_list("pk", flat=True)):
        KnowledgeLayer.objects.filter(pk__in=removals).update(removed_from=None)
        abandon(KnowledgeLayer.objects.filter(pk__in=removals))
    drop_layer(journal_id)
    abandon(KnowledgeLayer.objects.filter(parent_id__in=others))
    drop_layer(others[-1])


def _clear_layer(layer_id: int) -> None:
    Posting.objects.filter(layer_id=layer_id).delete()
    HiddenUnit.objects.filter(layer_id=layer_id).delete()
    HiddenUnit.objects.filter(unit__layer_id=layer_id).delete()
    UnitArtifact.objects.filter(unit__layer_id=layer_id).delete()
    LayerUnit.objects.filter(layer_id=layer_id).delete()
    KnowledgeSource.objects.filter(layer_id=layer_id).delete()

"""A session's own units, in its layers or saved into the mounted base.

The session's committed units are authoritative. They are found by its layers and, in a base, by the units of its
journal source; a mount makes these agree with the committed units. Units staged in the draft hide saved units below
it, so the session's own ones among these are copied to its journal first.
"""

from collections.abc import Sequence
from itertools import batched, pairwise

from django.db.models import QuerySet

from mrpvm.values import KnowledgeUnit
from sessions_app.layers.lifecycle import (
    abandon,
    create_layer,
    draft_layers,
    give_up_layers,
    own_layers,
    place_draft,
    relink_layer,
)
from sessions_app.layers.retrieval.chains import resolve_chain
from sessions_app.layers.staged import lock_staged, lock_staged_on
from sessions_app.layers.units import hide_units, index_units, not_removed, remove_units, restack_above, restack_layer
from sessions_app.models import ContextUnit, KnowledgeBase, KnowledgeLayer, KnowledgeSource, LayerUnit, Session

_UNITS_A_QUERY = 5_000
_HASHES_A_QUERY = 500


def _saved_units(session: Session) -> QuerySet[LayerUnit]:
    """Return what the chain of the session's draft holds of the units that the session saved."""
    chain = session.draft.chain
    return LayerUnit.objects.filter(layer_id__in=chain, origin__in=_journal_sources(session, chain)).order_by()


def _journal_sources(session: Session, chain: Sequence[int]) -> QuerySet[KnowledgeSource]:
    sources = KnowledgeSource.objects.filter(source_id=session.journal_source_id, kind=KnowledgeSource.Kind.JOURNAL)
    return sources.filter(layer_id__in=chain)


def _saved_hashes(session: Session, chain: Sequence[int]) -> dict[int, str]:
    """Return the hashes of all units that a chain holds of what the session saved, by their keys.

    Costs by these units: the sources are read first, so that the units are found by their source and not by their
    layer, which may be a base of a million.
    """
    sources = list(_journal_sources(session, chain).values_list("pk", flat=True))
    rows = LayerUnit.objects.filter(origin__in=sources).order_by().values_list("pk", "hash", "layer_id")
    return {pk: digest for pk, digest, layer_pk in rows if layer_pk in chain}


def missing_units(session: Session, below: KnowledgeLayer) -> list[KnowledgeUnit]:
    """Return those of the session's units that neither its layers hold nor `below` shows as what it saved."""
    own = own_layers(session)
    if _held_count(own) == session.unit_count:
        return []
    held = LayerUnit.objects.filter(layer__in=own).order_by().values_list("hash", flat=True)
    there = {*held, *_saved(session, below).values()}
    return [row.to_value() for row in _committed(session).order_by("pk") if row.hash not in there]


def agree_with_units(session: Session) -> None:
    """Make the layers of the locked session agree with its committed units: its draft may be on another base now.

    Units in the base that the session no longer has are hidden from it, also if an equal unit is shown in their place.
    Units that the base does not show are added to its journal.
    Effects: rows of the session's layers; none where the two agree.
    """
    own, saved = own_layers(session), _saved_hashes(session, session.draft.chain)
    if not saved and _held_count(own) == session.unit_count:
        return
    known = set(_committed(session).values_list("hash", flat=True))
    for layer in own[:-1]:
        held = layer.units.order_by().values_list("unit_id", "hash")
        remove_units(layer, [unit_id for unit_id, digest in held if digest not in known])
    session.journal.refresh_from_db()
    forgotten = [pk for pk, digest in saved.items() if digest not in known]
    for batch in batched(forgotten, _UNITS_A_QUERY, strict=False):
        hide_units(session.journal, not_removed(session.journal, LayerUnit.objects.filter(pk__in=batch)))
    index_units(session.journal, missing_units(session, session.draft))


def keep_own(session: Session, hashes: Sequence[str]) -> None:
    """Copy the locked session's saved units with these hashes into its journal: its draft will get equal ones.

    They remain when the draft loses its units again. The cost depends on the hashes. Effects: rows of the journal.
    """
    index_units(session.journal, unheld_units(session, hashes))


def unheld_units(session: Session, hashes: Sequence[str]) -> list[KnowledgeUnit]:
    """Return those of the session's units with one of these hashes that its own layers do not hold: they are saved."""
    layers = [layer.pk for layer in own_layers(session)]
    units: list[ContextUnit] = []
    for batch in batched(dict.fromkeys(hashes), _HASHES_A_QUERY, strict=False):
        known = {row.hash: row for row in _committed(session).filter(hash__in=batch)}
        held = LayerUnit.objects.filter(layer_id__in=layers, hash__in=known).order_by().values_list("hash", flat=True)
        for digest in held:
            known.pop(digest, None)
        units += known.values()
    return [row.to_value() for row in sorted(units, key=lambda row: row.pk)]


def _saved(session: Session, below: KnowledgeLayer) -> dict[int, str]:
    """Return the hashes of what a chain shows of the units that the session saved, by their keys."""
    saved = _saved_hashes(session, below.chain)
    if not saved:
        return {}
    hidden = resolve_chain(below.chain).hidden
    return {pk: digest for pk, digest in saved.items() if pk not in hidden}


def _held_count(layers: Sequence[KnowledgeLayer]) -> int:
    return sum(layer.own_unit_count for layer in layers)


def _committed(session: Session) -> QuerySet[ContextUnit]:
    return session.context_units.filter(state=ContextUnit.State.COMMITTED)


def earlier_sources(layer: KnowledgeLayer, source_id: str) -> list[KnowledgeSource]:
    """Return what the layer's chain holds under this source id, the newest last, without the texts."""
    sources = KnowledgeSource.objects.filter(layer_id__in=layer.chain, source_id=source_id).latest_last()
    return list(sources.only("pk", "layer", "source_id", "kind", "added_at", "updated_at"))


def initial_layers(head: KnowledgeLayer, staged: int | None = None) -> tuple[KnowledgeLayer, KnowledgeLayer]:
    """Return an empty draft on a base's head and an empty journal on the draft, in this order.

    Args:
        staged: the key of a staged layer of the session's units to put between the two, if any.
    """
    below = draft = create_layer(KnowledgeLayer.Kind.DRAFT, head)
    if staged is not None:
        below = _set_kind(lock_staged_on(staged, draft), KnowledgeLayer.Kind.CONTEXT)
    return draft, create_layer(KnowledgeLayer.Kind.JOURNAL, below)


def put_on_head(session: Session, head: KnowledgeLayer, brought: int | None) -> None:
    """Put the locked session's own layers on another base's head, with an empty draft between; its row is unsaved.

    A draft with unsaved changes is left to the turns that saw it.

    Args:
        brought: the key of a staged layer of units that the session would miss there, if any.
    """
    stack, discarded = own_layers(session), draft_layers(session) if session.is_dirty else []
    if discarded:
        session.draft = create_layer(KnowledgeLayer.Kind.DRAFT, head)
    else:
        place_draft(session.draft, head)
    if brought is not None:
        stack.insert(0, _set_kind(lock_staged(brought), KnowledgeLayer.Kind.CONTEXT))
    _restack([session.draft, *stack])
    agree_with_units(session)
    give_up_layers(discarded, session)


def put_in_draft(session: Session, layer: KnowledgeLayer) -> None:
    """Make a staged layer on the locked session's draft the draft, with its own layers on top; its row is unsaved.

    An empty draft is left out.
    """
    draft, stack = session.draft, own_layers(session)
    if draft.is_empty and draft.parent is not None:
        source_count = layer.source_count
        relink_layer(layer, draft.parent)
        layer.source_count = source_count  # its own source is counted already
        layer.save(update_fields=["source_count"])
        abandon(KnowledgeLayer.objects.filter(pk=draft.pk))
    session.draft = _set_kind(layer, KnowledgeLayer.Kind.DRAFT)
    _restack([layer, *stack])


def put_under_journal(session: Session, layer: KnowledgeLayer) -> None:
    """Put a staged layer of units that were loaded into the locked session right under its journal."""
    restack_layer(session.journal, _set_kind(layer, KnowledgeLayer.Kind.CONTEXT))


def take_out_loads(session: Session, source_id: str) -> None:
    """Remove from the locked session's stack the own layers that hold nothing but this source."""
    for layer in own_layers(session)[:-1]:
        if set(layer.units.order_by().values_list("source_id", flat=True).distinct()) == {source_id}:
            assert layer.parent is not None  # noqa: S101  (a context layer lies on a draft)
            for above in layer.children.filter(sealed_at=None):
                restack_layer(above, layer.parent)
                restack_above(above)
            give_up_layers([layer], session)
    session.journal.refresh_from_db()


def take_out_units(session: Session, unit_ids: Sequence[str]) -> None:
    """Remove units from the locked session's own layers, and hide saved ones.

    Must run while the session still has the units.
    """
    layers = own_layers(session)
    for layer in layers:
        remove_units(layer, unit_ids)
    if len(layers) > 1:
        session.journal.refresh_from_db()
    for batch in batched(unit_ids, _UNITS_A_QUERY, strict=False):
        hashes = session.context_units.filter(unit_id__in=batch).values("hash")
        hide_units(session.journal, _saved_units(session).filter(hash__in=hashes))


def follow_fold(session: Session, base: KnowledgeBase) -> None:
    """Move the locked session's layers to another head, if that is its own one compacted.

    Else a save would put the base back on the long chain. Costs by the session's own units and by what they replace.
    """
    if not session.mounts.filter(until=None, knowledge_base=base, revision=base.revision).exists():
        return
    drafts, stack, below = draft_layers(session), own_layers(session), base.head
    for layer in drafts:
        _restack_draft(layer, below)
        below = layer
    session.draft = below
    _restack([session.draft, *stack])
    session.mounted_layer = base.head
    agree_with_units(session)


def _restack_draft(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Move a draft layer to another head that shows the same by other rows."""
    source_count = layer.source_count
    restack_layer(layer, parent)
    layer.source_count = source_count
    layer.save(update_fields=["source_count"])
    for source_id in layer.sources.values_list("source_id", flat=True):
        hide_units(layer, LayerUnit.objects.filter(origin__in=earlier_sources(parent, source_id)))


def _set_kind(layer: KnowledgeLayer, kind: KnowledgeLayer.Kind) -> KnowledgeLayer:
    layer.kind = kind
    layer.save(update_fields=["kind"])
    return layer


def _restack(layers: Sequence[KnowledgeLayer]) -> None:
    for below, layer in pairwise(layers):
        restack_layer(layer, below)

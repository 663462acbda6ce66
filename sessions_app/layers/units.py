"""Writes, hides, shows and removes units of layers, and updates the counts.

Turns, context loads and sources all use these functions. Of the units of a chain with the same hash that were not
removed, the one in the highest layer is shown. This is decided when a layer changes and stored as `HiddenUnit` rows,
so that reading need not compare units.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from msgspec import Struct

from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import IndexEntry, index_entry
from mrpvm.knowledge.units import text_byte_count
from mrpvm.knowledge.utterances import place_of
from mrpvm.values import KnowledgeUnit
from sessions_app.layers.derivations import derived_units, note_derivations
from sessions_app.layers.words import insert_words
from sessions_app.models import Derivation, HiddenUnit, KnowledgeLayer, KnowledgeSource, LayerUnit, Posting, named_sql
from sessions_app.models.knowledge.unit_fields import UNIT_COLUMNS, columns_of
from sessions_app.models.named_sql import (
    POSTING_COLUMNS,
    Write,
    add_to_counts,
    insert_rows,
    insert_values,
    look_up,
    value_insertions,
    write_all,
)

UNKNOWN: Mapping[str, IndexEntry] = MappingProxyType({})
"""No entries: they are made from the units."""
COUNTS = ("unit_count", "evidence_count", "term_count")
_COLUMNS = ("layer_id", "origin_id", "stretch", "place", "length", "is_evidence", "is_guidance", *UNIT_COLUMNS)
_ROWS_A_QUERY = 10_000
_POSTINGS_AT_ONCE = 150
"""So few, as those of what a turn was told, are written together with the layer's counts."""
_HASHES_A_QUERY = 10_000
_GONE = frozenset(HiddenUnit.GONE)
_NOTHING: Mapping[int, str] = MappingProxyType({})
Change = HiddenUnit.Change


class Copy(Struct, frozen=True):
    """One unit among those of a chain that have the same hash; `place` is 0 for the highest layer."""

    pk: int
    place: int
    is_evidence: bool
    length: int


class Totals(Struct, frozen=True):
    """What a chain's counts are made of."""

    units: int = 0
    evidence: int = 0
    terms: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(self.units + other.units, self.evidence + other.evidence, self.terms + other.terms)

    def __sub__(self, other: "Totals") -> "Totals":
        return Totals(self.units - other.units, self.evidence - other.evidence, self.terms - other.terms)


@dataclass(slots=True)
class Settled:
    """What a layer shows before and after a change, and the rows that have to change for it."""

    before: Totals = field(default_factory=Totals)
    after: Totals = field(default_factory=Totals)
    below: Totals = field(default_factory=Totals)
    stale: list[int] = field(default_factory=list)
    changes: list[tuple[int, HiddenUnit.Change]] = field(default_factory=list)


class IndexedUnits(Struct, frozen=True):
    """Units as the columns of rows of no layer yet, each with what it is found by; computed, not stored."""

    units: Sequence[KnowledgeUnit]
    entries: Sequence[IndexEntry]
    columns: Sequence[tuple[Any, ...]]


def indexed(units: Sequence[KnowledgeUnit], entries: Mapping[str, IndexEntry] = UNKNOWN) -> IndexedUnits:
    """Return units ready to be inserted: the part of indexing that needs no transaction.

    Args:
        entries: what is known already of units, by their ids.

    Raises:
        ValueError: a unit has no hash and would pass for a copy of every other such unit.
    """
    if not all(unit.hash for unit in units):
        raise ValueError("units are indexed after admission, which gives them their hash")
    index_entries = [entries.get(unit.id) or index_entry(unit) for unit in units]
    return IndexedUnits(
        units, index_entries, [_columns(unit, entry) for unit, entry in zip(units, index_entries, strict=True)]
    )


def _columns(unit: KnowledgeUnit, entry: IndexEntry) -> tuple[Any, ...]:
    place = place_of(unit)
    where = (place.stretch, place.number) if place else (None, None)
    return (*where, entry.length, unit.is_evidence, unit.is_guidance, *columns_of(unit))


def index_units(
    layer: KnowledgeLayer, units: Sequence[KnowledgeUnit], origin: KnowledgeSource | None = None
) -> Sequence[int]:
    """Add units to an unsealed layer and give their keys, in order; see `insert_indexed`."""
    return insert_indexed(layer, indexed(units), origin)


@transaction.atomic(savepoint=False)
def insert_indexed(layer: KnowledgeLayer, new: IndexedUnits, origin: KnowledgeSource | None = None) -> Sequence[int]:
    """Add units to an unsealed layer and give their rows' keys, in order.

    A unit whose hash the layer or an ancestor already shows is stored and counted once: the highest layer's, and
    within one layer the first, is shown.

    Raises:
        ValueError: the layer is sealed.

    Effects: unit and posting rows, duplicate rows, the layer's counts; the number of queries does not depend on the
    number of units up to some thousands, nor on what is below.
    """
    if not new.units:
        return []
    _check_unsealed(layer)
    if layer.index_version != indexing.INDEX_VERSION and not layer.own_unit_count:
        layer.index_version = indexing.INDEX_VERSION
        layer.save(update_fields=["index_version"])
    layer_pk, origin_pk = layer.pk, origin.pk if origin else None
    rows = ((layer_pk, origin_pk, *columns) for columns in new.columns)
    keys = insert_values(LayerUnit, _COLUMNS, rows, with_keys=True)
    if layer.kind != KnowledgeLayer.Kind.JOURNAL:  # which no page searches by words until it is saved
        insert_words((key, layer_pk, entry.words) for key, entry in zip(keys, new.entries, strict=True))
    if origin is not None:
        origin.text_byte_count = F("text_byte_count") + sum(map(text_byte_count, new.units))
        origin.save(update_fields=["text_byte_count"])  # reads the sum back
    if any(unit.derived_from_unit_ids for unit in new.units):
        note_derivations(layer_pk, keys, new.units)
    settled = settle(layer, (unit.hash for unit in new.units), added=set(keys))
    postings = _postings(layer_pk, keys, new.entries)
    is_small = len(postings) <= _POSTINGS_AT_ONCE
    if not is_small:
        named_sql.insert_postings(postings)
    along = value_insertions(Posting, POSTING_COLUMNS, postings) if is_small else []
    shift_counts(layer, settled.after - settled.before, own=len(keys), along=along)
    return keys


def not_removed(layer: KnowledgeLayer, units: QuerySet[LayerUnit]) -> QuerySet[LayerUnit]:
    """Return those of the units that the layer's ancestors hold and nothing in its chain has removed."""
    gone = HiddenUnit.objects.filter(layer_id__in=layer.chain, change=HiddenUnit.Change.REMOVED)
    return units.filter(layer_id__in=layer.ancestry).exclude(pk__in=gone.values("unit_id")).order_by()


@transaction.atomic(savepoint=False)
def hide_units(layer: KnowledgeLayer, units: QuerySet[LayerUnit], *, own_too: bool = False) -> int:
    """Remove units of ancestors from what an unsealed layer shows; return how many of them had not been removed before.

    A twin that a removed unit represented is shown again, unless it is removed too. What was derived from them in
    other sources is stale, and not shown until it is stored again.

    Args:
        own_too: whether the layer's own units may be derived from them too; else these are newer and not stale.
    """
    _check_unsealed(layer)
    hashes = dict(not_removed(layer, units).values_list("pk", "hash"))
    stale = derived_units(layer.chain if own_too else layer.ancestry, layer, units)
    _take_away(layer, hashes, HiddenUnit.Change.REMOVED)
    mark_stale(layer, {pk: digest for pk, digest in stale.items() if pk not in hashes})
    return len(hashes)


@transaction.atomic(savepoint=False)
def show_units(layer: KnowledgeLayer, units: QuerySet[LayerUnit]) -> int:
    """Show again what an unsealed layer has removed of its ancestors; return how many units that were.

    What was derived from them stays stale until its source is stored again.
    """
    _check_unsealed(layer)
    hidings = layer.hidden_units.filter(unit__in=units, change=HiddenUnit.Change.REMOVED)
    hashes = dict(hidings.values_list("unit_id", "unit__hash"))
    if hashes:
        take_out_hidings(layer, hidings)
        settled = settle(layer, hashes.values(), added=hashes.keys())
        shift_counts(layer, settled.after - settled.before, removed=-len(hashes))
    return len(hashes)


def mark_stale(layer: KnowledgeLayer, hashes: Mapping[int, str]) -> None:
    """Hide units of an unsealed layer's chain as stale, because their origins are gone; `hashes` are by key."""
    _take_away(layer, hashes, HiddenUnit.Change.STALE)


def _take_away(layer: KnowledgeLayer, hashes: Mapping[int, str], change: HiddenUnit.Change) -> None:
    if not hashes:
        return
    settled = settle(layer, hashes.values(), removed=hashes.keys())
    marked_count = _unmark(layer, hashes)
    HiddenUnit.objects.bulk_create(
        [HiddenUnit(layer=layer, unit_id=pk, change=change) for pk in hashes], batch_size=_ROWS_A_QUERY
    )
    shift_counts(layer, settled.after - settled.before, removed=len(hashes) - marked_count)


def _unmark(layer: KnowledgeLayer, units: Collection[int]) -> int:
    """Delete the layer's stale marks of units that are being removed; return their number."""
    return take_out_hidings(layer, layer.hidden_units.filter(unit_id__in=units, change=HiddenUnit.Change.STALE))


@transaction.atomic(savepoint=False)
def remove_units(layer: KnowledgeLayer, unit_ids: Iterable[str], *, are_moved: bool = False) -> int:
    """Remove units from an unsealed layer by their ids; return how many there were.

    Turns that saw them find them in a removed layer; those of a staged layer, which none saw, are deleted. What was
    derived from them is stale, as for `hide_units`, unless they `are_moved` to another layer of the chain.
    """
    _check_unsealed(layer)
    removed_count = 0
    for batch in batched(unit_ids, _ROWS_A_QUERY, strict=False):
        own = layer.units.filter(unit_id__in=batch).order_by()
        hashes = dict(own.values_list("pk", "hash"))
        if not hashes:
            continue
        derived = {} if are_moved else derived_units(layer.chain, layer, own)
        stale = {pk: digest for pk, digest in derived.items() if pk not in hashes}
        settled = settle(layer, hashes.values(), removed=hashes.keys())
        marked_count = _unmark(layer, hashes)
        if layer.kind == KnowledgeLayer.Kind.STAGED:
            delete_units(list(hashes))
        else:
            _set_aside(layer, list(hashes))
        shift_counts(layer, settled.after - settled.before, own=-len(hashes), removed=-marked_count)
        mark_stale(layer, stale)
        removed_count += len(hashes)
    return removed_count


def delete_units(keys: Sequence[int]) -> None:
    """Delete units with their postings and the rows that hide them."""
    Posting.objects.filter(unit_id__in=keys).delete()
    HiddenUnit.objects.filter(unit_id__in=keys).delete()
    LayerUnit.objects.filter(pk__in=keys).delete()


def _set_aside(layer: KnowledgeLayer, keys: Sequence[int]) -> None:
    """Move units of an unsealed layer into a removed one, with what they are found by."""
    removed = insert_removed_layer(layer, len(keys))
    hidings = HiddenUnit.objects.filter(unit_id__in=keys)
    hidings.exclude(change__in=HiddenUnit.GONE).delete()
    first = dict(hidings.order_by("-pk").values_list("unit_id", "pk"))  # of each unit, where several layers hide it
    hidings.exclude(pk__in=first.values()).delete()
    hidings.update(layer=removed)
    Posting.objects.filter(unit_id__in=keys).update(layer=removed)
    Derivation.objects.filter(unit_id__in=keys).update(layer=removed)
    LayerUnit.objects.filter(pk__in=keys).update(layer=removed)


def take_out_source(source: KnowledgeSource) -> None:
    """Remove the row of a source from its unsealed layer, which has lost its units already."""
    source.layer = insert_removed_layer(source.layer)
    source.save(update_fields=["layer"])


def _check_unsealed(layer: KnowledgeLayer) -> None:
    if layer.sealed_at is not None:
        raise ValueError(f"{layer} is sealed and never changes")


def insert_unit_postings(layer_pk: int, keys: Iterable[int], entries: Iterable[IndexEntry]) -> None:
    """Add the postings of stored units, under the key of their layer or of the row that holds them for it."""
    named_sql.insert_postings(_postings(layer_pk, keys, entries))


def _postings(
    layer_pk: int, keys: Iterable[int], entries: Iterable[IndexEntry]
) -> list[tuple[int, int, int, int, int]]:
    return sorted(
        (layer_pk, term, key, frequency, entry.length)
        for key, entry in zip(keys, entries, strict=True)
        for term, frequency in entry.postings
    )


def insert_removed_layer(layer: KnowledgeLayer, unit_count: int = 0) -> KnowledgeLayer:
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
    """Remove rows that hide units from an unsealed layer; return how many there were."""
    pks = list(hidings.values_list("pk", flat=True))
    if not pks:
        return 0
    taken = HiddenUnit.objects.filter(pk__in=pks)
    if layer.kind == KnowledgeLayer.Kind.STAGED:
        taken.delete()
    else:
        taken.update(layer=insert_removed_layer(layer))
    return len(pks)


def restack_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Move an unsealed layer on top of another, or update it after a change of the one below.

    The cost depends only on the layer's own units. The caller updates the layers above. Effects: the
    layer's parent, ancestry, counts and hidden duplicates; removals of units that are no longer below it are deleted.
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
    layer.save(update_fields=["parent", "ancestry", *COUNTS, "source_count", "removed_unit_count"])


def recount_layer(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    """Update an unsealed layer's counts after a change of lengths, its own or those of layers below."""
    _count_again(layer, parent)
    layer.save(update_fields=list(COUNTS))


def _count_again(layer: KnowledgeLayer, parent: KnowledgeLayer) -> None:
    settled = settle(layer, _own_hashes(layer))
    shown = Totals(parent.unit_count, parent.evidence_count, parent.term_count) + settled.after - settled.below
    layer.unit_count, layer.evidence_count, layer.term_count = shown.units, shown.evidence, shown.terms


def restack_above(layer: KnowledgeLayer) -> None:
    """Update all unsealed layers above this one, also one that is just being filled."""
    for above in layer.children.select_for_update().filter(sealed_at=None):
        restack_layer(above, layer)
        if above.kind != KnowledgeLayer.Kind.JOURNAL:
            restack_above(above)


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


def _own_hashes(layer: KnowledgeLayer) -> set[str]:
    hashes = set(layer.units.order_by().values_list("hash", flat=True))
    if layer.removed_unit_count:
        removed = layer.hidden_units.filter(change__in=HiddenUnit.GONE)
        hashes.update(removed.values_list("unit__hash", flat=True))
    return hashes


def settle(
    layer: KnowledgeLayer, hashes: Iterable[str], *, added: Collection[int] = (), removed: Collection[int] = ()
) -> Settled:
    """Decide anew what `layer` shows for `hashes`, and store the rows that say so.

    Args:
        added: units that were just inserted into the layer.
        removed: units that the layer is about to lose or to take away.

    Effects: the layer's duplicate and revealed rows for these hashes, at most three queries for 10,000 hashes.
    """
    settled = Settled()
    added, removed = frozenset(added), frozenset(removed)
    for batch in batched(dict.fromkeys(hashes), _HASHES_A_QUERY, strict=False):
        groups = _copies(layer.chain, batch)
        earlier = [copy.pk for group in groups for copy in group if len(group) > 1 or copy.pk not in added]
        changes = _changes(layer.chain, earlier) if earlier else {}
        for group in groups:
            _settle_group(group, changes, added, removed, settled)
    if settled.stale:
        layer.hidden_units.filter(unit_id__in=settled.stale).delete()
    if settled.changes:
        rows = [HiddenUnit(layer=layer, unit_id=unit, change=change) for unit, change in settled.changes]
        HiddenUnit.objects.bulk_create(rows, batch_size=5_000)
    return settled


def _copies(chain: Sequence[int], hashes: Collection[str]) -> list[list[Copy]]:
    place = {layer: index for index, layer in enumerate(chain)}
    groups: dict[str, list[Copy]] = defaultdict(list)
    columns = ("id", "layer_id", "hash", "is_evidence", "length")
    for pk, layer, digest, is_evidence, length in look_up(LayerUnit, columns, {"hash": hashes}, layer_id=chain):
        groups[digest].append(Copy(pk, place[layer], bool(is_evidence), length))
    return [sorted(group, key=lambda copy: (copy.place, copy.pk)) for group in groups.values()]


def _changes(chain: Sequence[int], units: Collection[int]) -> Mapping[int, Mapping[int, str]]:
    place = {layer: index for index, layer in enumerate(chain)}
    changes: dict[int, dict[int, str]] = defaultdict(dict)
    columns = ("layer_id", "unit_id", "change")
    for layer, unit, change in look_up(HiddenUnit, columns, {"unit_id": units}, layer_id=chain):
        changes[unit][place[layer]] = change
    return changes


def _is_shown(changes: Mapping[int, str]) -> bool:
    return not changes or changes[min(changes)] == Change.REVEALED


def _settle_group(
    group: Sequence[Copy],
    changes: Mapping[int, Mapping[int, str]],
    added: Collection[int],
    removed: Collection[int],
    settled: Settled,
) -> None:
    """Decide which of the units with one hash the top layer of their chain shows, and add what follows to `settled`.

    `below` is the one that the layers below it show, `before` and `after` are the ones that it shows without and with
    the change: the highest that nothing has removed. The layer's own rows say where it departs from what is below.

    Args:
        group: the units, those of the highest layer first.
        changes: what layers say of each unit, by the layers' places.
    """
    of_copy = {copy.pk: changes.get(copy.pk, _NOTHING) for copy in group}
    below = next((copy for copy in group if copy.place > 0 and _is_shown(_without_top(of_copy[copy.pk]))), None)
    before = next((copy for copy in group if copy.pk not in added and _is_shown(of_copy[copy.pk])), None)
    alive = [copy for copy in group if copy.pk not in removed and _GONE.isdisjoint(of_copy[copy.pk].values())]
    after = alive[0] if alive else None
    wanted: dict[int, HiddenUnit.Change] = {copy.pk: Change.DUPLICATE for copy in alive[1:] if copy.place == 0}
    if after is not None and after.place > 0 and after != below:
        wanted[after.pk] = Change.REVEALED
    if below is not None and below in alive and below != after:
        wanted[below.pk] = Change.DUPLICATE
    for copy in group:
        present, change = of_copy[copy.pk].get(0), wanted.get(copy.pk)
        if present in _GONE or present == change:
            continue
        if present:
            settled.stale.append(copy.pk)
        if change:
            settled.changes.append((copy.pk, change))
    settled.below += _totals(below)
    settled.before += _totals(before)
    settled.after += _totals(after)


def _without_top(changes: Mapping[int, str]) -> Mapping[int, str]:
    return {place: change for place, change in changes.items() if place > 0}


def _totals(copy: Copy | None) -> Totals:
    if copy is None:
        return Totals()
    return Totals(1, int(copy.is_evidence), copy.length if copy.is_evidence else 0)

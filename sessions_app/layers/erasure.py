"""Deletes units and sources from layers permanently, also from sealed ones, and updates all counts.

This is the only change of a sealed layer. The unit's hidings and postings are deleted too. Processes cache what sealed
layers hide under the time of the seal, so that time is changed.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from mrpvm.knowledge.units import text_byte_count
from sessions_app.layers.units import Totals, delete_units
from sessions_app.models import HiddenUnit, KnowledgeBase, KnowledgeLayer, KnowledgeSource, LayerUnit, PackedLayer

Kind = KnowledgeLayer.Kind
_UNCOUNTED = (Kind.REMOVED, Kind.INDEX)
type Chains = Mapping[int, Sequence[int]]


@transaction.atomic
def erase_units(keys: Collection[int]) -> None:
    """Delete units by their keys in all layers, also shared ones.

    Equal units must be given together: no duplicate is shown in the place of an erased unit.

    Effects: unit rows with everything that hangs on them; the counts of each layer that shows them; packed postings;
    `erased_at` of the layers that held them.
    """
    units = {unit.pk: unit for unit in LayerUnit.objects.filter(pk__in=keys)}
    if not units:
        return
    hidings: defaultdict[int, dict[int, str]] = defaultdict(dict)
    rows = HiddenUnit.objects.filter(unit_id__in=units).values_list("layer_id", "unit_id", "change")
    for layer, unit, change in rows:
        hidings[unit][layer] = change
    chains = _chains({unit.layer_id for unit in units.values()})
    for layer, chain in chains.items():
        held = set(chain)
        shown = [unit for unit in units.values() if unit.layer_id in held and _is_shown(hidings[unit.pk], chain)]
        _subtract(layer, _totals(shown))
    own = Counter(unit.layer_id for unit in units.values())
    gone = Counter(layer for changes in hidings.values() for layer, change in changes.items() if change in _GONE)
    for layer in own | gone:
        KnowledgeLayer.objects.filter(pk=layer).update(own_unit_count=F("own_unit_count") - own[layer])
        counted = KnowledgeLayer.objects.filter(pk=layer).exclude(kind__in=_UNCOUNTED)
        counted.update(removed_unit_count=F("removed_unit_count") - gone[layer])
    for origin, of_source in _by_origin(units.values()).items():
        KnowledgeSource.objects.filter(pk=origin).update(
            unit_count=F("unit_count") - len(of_source),
            text_byte_count=F("text_byte_count") - sum(text_byte_count(unit.to_value()) for unit in of_source),
        )
    KnowledgeLayer.objects.filter(pk__in=own).update(erased_at=timezone.now())
    PackedLayer.objects.filter(layer_id__in=own).delete()
    delete_units(list(units))
    move_seals({*own, *chains})


_GONE = frozenset(HiddenUnit.GONE)


def _is_shown(changes: Mapping[int, str], chain: Sequence[int]) -> bool:
    topmost = next((changes[layer] for layer in chain if layer in changes), None)
    return topmost is None or topmost == HiddenUnit.Change.REVEALED


def _totals(shown: Sequence[LayerUnit]) -> Totals:
    evidence = [unit for unit in shown if unit.is_evidence]
    return Totals(len(shown), len(evidence), sum(unit.length for unit in evidence))


def _subtract(layer: int, by: Totals) -> None:
    if by.units:
        KnowledgeLayer.objects.filter(pk=layer).update(
            unit_count=F("unit_count") - by.units,
            evidence_count=F("evidence_count") - by.evidence,
            term_count=F("term_count") - by.terms,
        )


def _by_origin(units: Collection[LayerUnit]) -> Mapping[int, list[LayerUnit]]:
    units_by_origin: defaultdict[int, list[LayerUnit]] = defaultdict(list)
    for unit in units:
        if unit.origin_id is not None:
            units_by_origin[unit.origin_id].append(unit)
    return units_by_origin


def _chains(layers: set[int]) -> Chains:
    """Return the chains of these layers and of all layers above them, by layer."""
    rows = KnowledgeLayer.objects.exclude(kind__in=_UNCOUNTED).values_list("pk", "ancestry")
    return {pk: (pk, *ancestry) for pk, ancestry in rows.iterator() if pk in layers or not layers.isdisjoint(ancestry)}


def move_seals(layers: Collection[int]) -> None:
    """Invalidate what every process has cached of these sealed layers' hidden units."""
    for layer in KnowledgeLayer.objects.filter(pk__in=layers, sealed_at__isnull=False).only("sealed_at"):
        if layer.sealed_at is not None:
            layer.sealed_at += timedelta(microseconds=1)
            layer.save(update_fields=["sealed_at"])


@transaction.atomic
def erase_source(source: KnowledgeSource, name: str) -> None:
    """Replace a source's row by one that marks its id as removed, under another name.

    Effects: the row, what plugins derived from it, its parts in quarantine, the counts of layers and bases.
    """
    chains = _chains({source.layer_id})
    before = {layer: _listed_count(chain) for layer, chain in chains.items()}
    KnowledgeSource.objects.filter(pk=source.pk).update(
        kind=KnowledgeSource.Kind.REMOVED, name=name, content="", hash=text_hash(""), chunk_count=0
    )
    source.artifacts.all().delete()
    source.quarantined.all().delete()
    for layer, chain in chains.items():
        lost = before[layer] - _listed_count(chain)
        if lost:
            KnowledgeLayer.objects.filter(pk=layer).update(source_count=F("source_count") - lost)
            KnowledgeBase.objects.filter(head_id=layer).update(source_count=F("source_count") - lost)


def _listed_count(chain: Sequence[int]) -> int:
    rows = KnowledgeSource.objects.filter(layer_id__in=chain).latest_of_each()
    return rows.filter(kind=KnowledgeSource.Kind.LISTED).count()


def text_hash(text: str) -> str:
    """Return the hash that a source with this text has."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

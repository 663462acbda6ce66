"""Reconstructs what a session saw at an earlier moment, from layers that have only grown since.

The rule for equal units is the same as when a layer changes (`visibility`): of those that were not removed by then, the
one in the highest layer is shown. So nothing need be stored for earlier moments.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import batched

from msgspec import Struct

from sessions_app.layers.retrieval.chains import Hidden, Marks, Packing, ResolvedChain, resolve_chain
from sessions_app.layers.retrieval.port import EffectiveView
from sessions_app.models import HiddenUnit, KnowledgeLayer, KnowledgeSource, LayerUnit, PackedLayer, Session
from sessions_app.models.knowledge.packed_layer import packing_version
from sessions_app.models.named_sql import look_up

_HASHES_A_QUERY = 10_000


class LayersGone(Exception):
    """A layer that was seen is not stored any more."""


class SeenLayers(Struct, frozen=True, kw_only=True):
    """A session's layers at a moment, the highest first, with the base's that it had mounted below them.

    `drafts` are those of `own` that held what was not saved. Counts are those of the whole chain.
    """

    own: tuple[int, ...]
    drafts: tuple[int, ...]
    mounted: int
    marks: Marks
    evidence_count: int
    term_count: int


def past_view(session: Session, seen: SeenLayers) -> EffectiveView:
    """Return what the session saw at that moment; the cost depends only on the session's own units.

    Raises:
        LayersGone: the mounted layer was removed.
    """
    mounted = KnowledgeLayer.objects.filter(pk=seen.mounted).only("ancestry").first()
    if mounted is None:
        raise LayersGone(f"layer {seen.mounted}")
    own = _OwnLayers.of(session, seen)
    below = resolve_chain(mounted.chain)
    shown_below, hidden = _visible(own, mounted.chain, below, seen.marks)
    shown_own = {unit.layer for unit in own.units if unit.pk not in hidden.of(unit.layer)}
    shown = tuple(layer for layer in own.chain if layer in shown_own)
    saved = KnowledgeSource.objects.filter(
        layer_id__in=mounted.chain, source_id=session.journal_source_id, kind=KnowledgeSource.Kind.JOURNAL
    )
    return EffectiveView(
        chain=(*own.chain, *mounted.chain),
        evidence_count=seen.evidence_count,
        term_count=seen.term_count,
        hidden=hidden,
        shown=(*shown, *shown_below),
        conversations=below.conversations | {layer for layer in shown if layer in own.said},
        packings=(*(packing for packing in own.packings if packing.layer in shown), *below.packings),
        drafts=tuple(layer for layer in own.chain if own.origins[layer] in seen.drafts),
        own_sources=frozenset(saved.values_list("pk", flat=True)),
        moved={**below.moved, **own.moved},
        is_outdated=below.is_outdated,
        guiding=(*(layer for layer in shown if layer in own.guiding), *below.guiding),
        marks=seen.marks,
    )


class _Own(Struct, frozen=True, kw_only=True):
    """A unit of one of the session's own layers."""

    pk: int
    layer: int
    hash: str


class _OwnLayers(Struct, frozen=True, kw_only=True):
    """The session's own layers at a moment, each followed by what was taken out of it since.

    `origins` gives each layer's place in what was seen: the layer itself, or the one it was taken out of. `later` are
    units that came after the moment.
    """

    chain: tuple[int, ...]
    origins: Mapping[int, int]
    units: Sequence[_Own]
    later: Mapping[int, frozenset[int]]
    said: frozenset[int]
    guiding: frozenset[int]
    packings: tuple[Packing, ...]
    moved: Mapping[int, int]

    @classmethod
    def of(cls, session: Session, seen: SeenLayers) -> "_OwnLayers":
        removals = _removals(session, seen)
        chain = tuple(layer for own in seen.own for layer in (own, *removals[own]))
        origins = {layer: own for own in seen.own for layer in (own, *removals[own])}
        units: list[_Own] = []
        later: defaultdict[int, set[int]] = defaultdict(set)
        said, guiding = set[int](), set[int]()
        columns = ("pk", "layer_id", "hash", "stretch", "is_guidance")
        rows = LayerUnit.objects.filter(layer_id__in=chain).order_by().values_list(*columns)
        for pk, layer, digest, stretch, is_guidance in rows.iterator():
            if pk > seen.marks.unit:
                later[layer].add(pk)
                continue
            units.append(_Own(pk=pk, layer=layer, hash=digest))
            if stretch is not None:
                said.add(layer)
            if is_guidance:
                guiding.add(layer)
        layers = KnowledgeLayer.objects.filter(pk__in=chain).values_list("pk", "index_version", "postings_layer_id")
        versions = {pk: version for pk, version, _ in layers}
        packed = PackedLayer.objects.filter(layer_id__in=chain, is_complete=True)
        return cls(
            chain=chain,
            origins=origins,
            units=units,
            later={layer: frozenset(pks) for layer, pks in later.items()},
            said=frozenset(said),
            guiding=frozenset(guiding),
            packings=tuple(
                Packing(layer, pk, count)
                for layer, pk, count, version in packed.values_list("layer_id", "pk", "unit_count", "version")
                if version == packing_version(versions[layer])
            ),
            moved={pk: postings for pk, _, postings in layers if postings},
        )


def _removals(session: Session, seen: SeenLayers) -> Mapping[int, list[int]]:
    """Return the layers that hold what was taken out of each own layer after the moment."""
    rows = KnowledgeLayer.objects.filter(
        removed_from__in=[*seen.own, session.journal_id], kind=KnowledgeLayer.Kind.REMOVED, pk__gt=seen.marks.layer
    )
    removals: defaultdict[int, list[int]] = defaultdict(list)
    for pk, ancestry in rows.order_by("pk").values_list("pk", "ancestry"):
        for origin in ancestry[:1]:
            removals[origin].append(pk)
    return removals


def _visible(
    own: _OwnLayers, chain: Sequence[int], below: ResolvedChain, marks: Marks
) -> tuple[tuple[int, ...], Hidden]:
    """Return which layers below showed units, and what the whole chain hid."""
    hidings = HiddenUnit.objects.filter(layer_id__in=own.chain, change__in=HiddenUnit.GONE, pk__lte=marks.hiding)
    gone = dict(hidings.values_list("unit_id", "unit__hash"))
    hashes = {unit.hash for unit in own.units} | set(gone.values())
    sealed = [_Own(pk=pk, layer=layer, hash=digest) for pk, layer, digest in _copies(chain, hashes)]
    taken = gone.keys() | _gone(chain, [unit.pk for unit in sealed])
    place = {layer: number for number, layer in enumerate((*dict.fromkeys(own.origins.values()), *chain))}
    groups: defaultdict[str, list[_Own]] = defaultdict(list)
    for unit in (*own.units, *sealed):
        groups[unit.hash].append(unit)
    hides: defaultdict[int, set[int]] = defaultdict(set, {layer: set(pks) for layer, pks in own.later.items()})
    shows: defaultdict[int, set[int]] = defaultdict(set)
    for group in groups.values():
        alive = [unit for unit in group if unit.pk not in taken]
        first = min(alive, key=lambda unit: (place[own.origins.get(unit.layer, unit.layer)], unit.pk), default=None)
        for unit in group:
            (shows if unit is first else hides)[unit.layer].add(unit.pk)
    touched = hides.keys() | shows.keys()
    hidden = {layer: below.hidden.of(layer) - shows[layer] | hides[layer] for layer in touched}
    revealed = [layer for layer in chain if shows.get(layer) and layer not in below.shown]
    shown = {*below.shown, *revealed}
    return tuple(layer for layer in chain if layer in shown), Hidden({**below.hidden.by_layer, **hidden})


def _copies(chain: Sequence[int], hashes: Collection[str]) -> list[tuple[int, int, str]]:
    """Return key, layer and hash of what the layers hold with these hashes."""
    columns = ("id", "layer_id", "hash")
    return [
        row
        for batch in batched(hashes, _HASHES_A_QUERY, strict=False)
        for row in look_up(LayerUnit, columns, {"hash": batch}, layer_id=chain)
    ]


def _gone(chain: Sequence[int], units: Collection[int]) -> set[int]:
    """Return which of these units the layers take away."""
    return {
        unit
        for batch in batched(units, _HASHES_A_QUERY, strict=False)
        for unit, change in look_up(HiddenUnit, ("unit_id", "change"), {"unit_id": batch}, layer_id=chain)
        if change in HiddenUnit.GONE
    }

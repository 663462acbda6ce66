"""Folds a long chain of layers into a short one that shows exactly the same units.

The upper layers of a base's chain are written once more as one layer: in a staged layer, in short transactions, while
searches read the old ones. A last transaction points the base at it. Layers are never changed or deleted
for that, so whoever has the old head mounted, and every earlier revision, keeps what it sees. A crash leaves a staged
layer, which is swept.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import batched, groupby

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone

from mrpvm.errors import Conflict, MRPError
from sessions_app.exclusive import alone_at
from sessions_app.layers.heads import lock_base
from sessions_app.layers.lifecycle import outdated_layers, seal_layer
from sessions_app.layers.retrieval.chains import resolve_chain
from sessions_app.layers.staged import lock_staged, staging
from sessions_app.layers.units import hide_units, indexed, insert_indexed, mark_stale
from sessions_app.models import (
    HiddenUnit,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    QuarantinedChunk,
    SourceArtifact,
    UnitArtifact,
)

_KEPT = 8
"""Layers that a fold leaves below the new one at most."""

logger = logging.getLogger(__name__)

_refused: dict[int, tuple[int, object]] = {}
"""Heads of bases that were folded wrongly, with the time of the request: they are not folded again."""


class FoldedWrongly(Exception):
    """The folded layer does not hold what the base shows; this is a defect, and nothing was published."""


def compact_long_chains(
    watch: Callable[[], object] = lambda: None, *, deepest: int = 16, few_removed: int = 1_000
) -> int:
    """Compact every base whose chain is too long or mostly removed, or was requested; return their number.

    A base that changes meanwhile, or cannot be folded, is left for the next time. One that was folded wrongly is left
    until its head changes, a compaction is requested or the server restarts. Nothing is done while another process
    compacts.

    Args:
        deepest: layers below a head that are read without folding; more make a search noticeably slower.
        few_removed: removed units that may stay; beyond them a chain is folded when more than half of its units are.
    """
    if not _wanted(deepest, few_removed):
        return 0
    with alone_at("compaction") as hold:  # what is wanted may have been done until now
        return _fold(_wanted(deepest, few_removed), watch) if hold else 0


def _wanted(deepest: int, few_removed: int) -> list[int]:
    """Return the bases to fold."""
    heads = list(
        KnowledgeBase.objects.order_by("pk").values_list("pk", "head_id", "head__ancestry", "compaction_asked_at")
    )
    layers = {layer for _, head, ancestry, _ in heads for layer in (head, *ancestry)}
    rows = KnowledgeLayer.objects.filter(pk__in=layers).values_list("pk", "own_unit_count", "removed_unit_count")
    counts = {pk: (held, removed) for pk, held, removed in rows}
    return [
        pk
        for pk, head, ancestry, asked_at in heads
        if len(ancestry) > deepest
        or asked_at
        or _is_mostly_removed([counts[layer] for layer in (head, *ancestry)], few_removed)
    ]


def _fold(wanted: Sequence[int], watch: Callable[[], object]) -> int:
    folded = 0
    for base in KnowledgeBase.objects.select_related("head").filter(pk__in=wanted):
        attempt = (base.head_id, base.compaction_asked_at)
        if _refused.get(base.pk) == attempt:
            continue
        try:
            folded += compact_base(base, watch)
        except FoldedWrongly:
            _refused[base.pk] = attempt
            logger.exception("%s was folded wrongly; its long chain stays", base.kb_id)
        except MRPError as error:
            logger.info("%s was not compacted: %s", base.kb_id, error.message)
        except Exception:
            logger.exception("%s was not compacted", base.kb_id)
    return folded


def _is_mostly_removed(counts: Sequence[tuple[int, int]], few: int) -> bool:
    """Return whether more than half of the units of a chain are removed, by the counts of its layers."""
    held, removed = (sum(column) for column in zip(*counts, strict=True))
    return removed > few and removed * 2 > held


def compact_base(base: KnowledgeBase, watch: Callable[[], object] = lambda: None) -> bool:
    """Fold the upper layers of the base's chain into one; return whether there was anything to fold.

    The base's revision does not change, because units, ranks and scores stay the same.

    Raises:
        Conflict: the base has changed meanwhile, one of its sources is just being replaced, or its index is of another
            version, which makes other counts; nothing was done.
        FoldedWrongly: a defect; nothing was done.

    Effects: one sealed layer in the place of several; costs by their units, never by those of the layers below.
    """
    head, lower = base.head, _fold_from(base.head)
    folded = head.chain if lower is None else head.chain[: head.chain.index(lower.pk)]
    if outdated_layers(head.chain).exists():
        raise Conflict("The base was indexed by another version: it is folded once it is reindexed.")
    if len(folded) < 2:
        KnowledgeBase.objects.filter(pk=base.pk).update(compaction_asked_at=None)
        return False
    with staging(lower) as layer:
        _hide(layer, folded, watch)
        _copy_units(layer, head, folded, _copy_sources(layer, folded), watch)
        _publish(base, layer.pk, head)
    return True


def _fold_from(head: KnowledgeLayer) -> KnowledgeLayer | None:
    """Return the layer that the folded one shall be on, None to fold the whole chain.

    It has at least as many units as are kept above it, so that a unit is copied few times in its life, and all its
    units are older than those above it, so that copies stay newer. From there down at most half of the units are
    removed: more would call for the next fold.
    """
    layers = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=head.chain)}
    removed = _removed_counts(head)
    sizes = [layers[pk].own_unit_count for pk in head.chain]
    first, last = zip(*(_span(pk) for pk in head.chain), strict=True)
    for place in range(2, len(head.chain)):
        newest_below = max(last[place:])
        oldest_above = min((pk for pk in first[:place] if pk), default=newest_below + 1)
        written = sum(size - removed[pk] for pk, size in zip(head.chain[:place], sizes, strict=False))
        is_large = sizes[place] >= written and len(head.chain) - place <= _KEPT
        is_alive = sum(removed[pk] for pk in head.chain[place:]) * 2 <= sum(sizes[place:])
        if is_large and is_alive and newest_below < oldest_above:
            return layers[head.chain[place]]
    return None


def _removed_counts(head: KnowledgeLayer) -> Counter[int]:
    """Return how many units of each layer of a chain are removed."""
    removed = HiddenUnit.objects.filter(layer_id__in=head.chain, change__in=HiddenUnit.GONE)
    counted = removed.values_list("unit__layer_id").annotate(Count("unit", distinct=True)).order_by()
    return Counter(dict(counted))


def _span(layer_pk: int) -> tuple[int, int]:
    """Return the first and last key of a layer's own units, zeros if it has none."""
    own = LayerUnit.objects.filter(layer_id=layer_pk).values_list("pk", flat=True)
    return own.order_by("pk").first() or 0, own.order_by("-pk").first() or 0


def _hide(layer: KnowledgeLayer, folded: Sequence[int], watch: Callable[[], object]) -> None:
    """Remove from the layers below what the folded ones removed."""
    removed = HiddenUnit.objects.filter(layer_id__in=folded, change=HiddenUnit.Change.REMOVED)
    pks = removed.filter(unit__layer_id__in=layer.ancestry).values_list("unit_id", flat=True)
    for batch in batched(list(pks), settings.MRPVM_UNITS_A_TRANSACTION, strict=False):
        watch()
        with transaction.atomic():
            hide_units(lock_staged(layer.pk), LayerUnit.objects.filter(pk__in=batch))


def _copy_sources(layer: KnowledgeLayer, folded: Sequence[int]) -> dict[str, KnowledgeSource]:
    """Return a source row in the layer for each source of the folded ones, by id, in their order.

    Of several rows the newest counts, with its parts in quarantine and its artifacts.
    """
    sources: dict[str, KnowledgeSource] = {}
    rows = KnowledgeSource.objects.filter(layer_id__in=folded).latest_of_each().latest_last()
    for source_id, newest in list(rows.values_list("source_id", "pk")):
        copy = KnowledgeSource.objects.get(pk=newest)
        copy.pk, copy.layer, copy.text_byte_count = None, layer, 0
        copy._state.adding = True
        with transaction.atomic():
            lock_staged(layer.pk)
            list(
                KnowledgeSource.objects.select_for_update().only("pk").filter(pk=newest)
            )  # its artifacts may just come
            copy.save()
            for chunk in QuarantinedChunk.objects.filter(origin_id=newest).order_by("pk"):
                chunk.pk, chunk.origin = None, copy
                chunk._state.adding = True
                chunk.save()
            artifacts = list(SourceArtifact.objects.filter(source_id=newest))
            for artifact in artifacts:
                artifact.pk, artifact.source = None, copy
            SourceArtifact.objects.bulk_create(artifacts)
        sources[source_id] = copy
    return sources


def _copy_units(
    layer: KnowledgeLayer,
    head: KnowledgeLayer,
    folded: Sequence[int],
    sources: dict[str, KnowledgeSource],
    watch: Callable[[], object],
) -> None:
    """Write the units of the folded layers that were not removed, a batch a transaction.

    Visible units come first and keep their order. Their duplicates come last, each after the units that hid it: they
    are shown again if the visible unit is removed. Stale units come last too and stay stale.
    """
    marks = HiddenUnit.objects.filter(layer_id__in=folded, change=HiddenUnit.Change.STALE)
    stale = frozenset(marks.filter(unit__layer_id__in=folded).values_list("unit_id", flat=True))
    for batch in batched(_units(head, folded), settings.MRPVM_UNITS_A_TRANSACTION, strict=False):
        watch()
        rows = LayerUnit.objects.select_related("origin").in_bulk(batch)
        ordered = [rows[pk] for pk in batch]
        with transaction.atomic():
            staged = lock_staged(layer.pk)
            for source_id, group in groupby(ordered, lambda row: row.origin.source_id if row.origin else ""):
                _copy(staged, list(group), sources.get(source_id), stale)


def _units(head: KnowledgeLayer, folded: Sequence[int]) -> Iterator[int]:
    removed = HiddenUnit.objects.filter(layer_id__in=folded, change=HiddenUnit.Change.REMOVED)
    gone = set(removed.filter(unit__layer_id__in=folded).values_list("unit_id", flat=True))
    hidden = resolve_chain(head.chain).hidden
    kept = LayerUnit.objects.filter(layer_id__in=folded).order_by("pk").values_list("pk", "layer_id")
    doubles: list[tuple[int, int]] = []
    for pk, layer_pk in kept:
        if pk in hidden.of(layer_pk):
            doubles += [] if pk in gone else [(folded.index(layer_pk), pk)]
        else:
            yield pk
    yield from (pk for _, pk in sorted(doubles))


def _copy(
    layer: KnowledgeLayer, rows: Sequence[LayerUnit], origin: KnowledgeSource | None, stale: Collection[int]
) -> None:
    unit_ids = [row.unit_id for row in rows]
    taken = set(layer.units.filter(unit_id__in=unit_ids).values_list("unit_id", flat=True))
    for row in rows:  # two sessions may have called what they saved the same; a layer has each id once
        row.unit_id = f"{row.unit_id}-{row.pk}" if row.unit_id in taken else row.unit_id
        taken.add(row.unit_id)
    units = [row.to_value() for row in rows]
    keys = insert_indexed(layer, indexed(units), origin)
    copied = {row.pk: key for row, key in zip(rows, keys, strict=True)}
    mark_stale(layer, {copied[row.pk]: row.hash for row in rows if row.pk in stale})
    artifacts = list(UnitArtifact.objects.filter(unit_id__in=copied))
    for artifact in artifacts:
        artifact.pk, artifact.unit_id = None, copied[artifact.unit_id]
    UnitArtifact.objects.bulk_create(artifacts)


@transaction.atomic
def _publish(base: KnowledgeBase, layer_pk: int, head: KnowledgeLayer) -> None:
    """Point the base at the folded layer, if it still has the head that was folded."""
    locked, layer = lock_base(base), lock_staged(layer_pk)
    if locked.head_id != head.pk:
        raise Conflict("The base has changed while it was being compacted.", code="KB_REVISION_CONFLICT")
    _refuse_replaced(head, layer)
    counts = ("unit_count", "evidence_count", "term_count")
    if any(getattr(layer, name) != getattr(head, name) for name in counts):
        held = {name: (getattr(layer, name), getattr(head, name)) for name in counts}
        raise FoldedWrongly(f"folded and shown: {held}")
    layer.source_count = head.source_count
    layer.own_source_count = layer.sources.exclude(kind=KnowledgeSource.Kind.JOURNAL).count()
    layer.created_at = timezone.now()
    layer.save(update_fields=["source_count", "own_source_count", "created_at"])
    seal_layer(layer)
    locked.head, locked.compaction_asked_at = layer, None
    locked.save(update_fields=["head", "compaction_asked_at"])
    KBRevision.objects.filter(knowledge_base=locked, revision=locked.revision).update(layer=layer)


def _refuse_replaced(head: KnowledgeLayer, layer: KnowledgeLayer) -> None:
    """Refuse to publish copies of sources that a staged layer is replacing.

    The staged layer would have to hide all the copies too, in its last transaction.

    Raises:
        Conflict: there is such a source; its upload has priority.
    """
    staged = KnowledgeSource.objects.filter(
        layer__kind=KnowledgeLayer.Kind.STAGED, layer__parent_id__in=head.chain, source_id=OuterRef("source_id"),
        updated_at__gt=OuterRef("updated_at"),
    )  # fmt: skip
    if layer.sources.filter(Exists(staged)).exists():
        raise Conflict("A source of the base is being replaced; its chain is folded later.")

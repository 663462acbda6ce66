"""Folding a long chain of layers into a short one that shows exactly the same [KB-13, O-2].

The upper layers of a base's chain are written once more as one layer: in a staged layer, in short transactions, while
everybody goes on reading the old ones. A last transaction points the base at it. Layers are never changed or deleted
for that, so whoever has the old head mounted, and every earlier revision, keeps what it sees. A crash leaves a staged
layer, which is swept.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import batched, groupby

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, MRPError
from sessions_app.actions.knowledge import lock_base
from sessions_app.actions.staging import UNITS_A_TRANSACTION, locked_staged, staging
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
from sessions_app.queries.knowledge import JOURNAL_KIND
from sessions_app.search.chains import resolve_chain
from sessions_app.search.index import hide_units, indexed, insert_indexed
from sessions_app.search.layers import seal_layer
from sessions_app.search.windows import Place, place_of

DEEPEST = 16
"""Layers below a head that are read without folding; more make a search noticeably slower."""
_KEPT = 8
"""Layers that a fold leaves below the new one at most."""

logger = logging.getLogger(__name__)


def compact_long_chains(watch: Callable[[], object] = lambda: None) -> int:
    """Fold every base whose chain is too long or that somebody wants folded; gives how many were.

    One that changes meanwhile, or cannot be folded, is left for the next time.
    """
    heads = KnowledgeBase.objects.order_by("pk").values_list("pk", "head__ancestry", "compaction_asked_at")
    wanted = [pk for pk, ancestry, asked_at in heads if len(ancestry) > DEEPEST or asked_at]
    folded = 0
    for base in KnowledgeBase.objects.select_related("head").filter(pk__in=wanted):
        try:
            folded += compact_base(base, watch)
        except MRPError as error:
            logger.info("%s was not compacted: %s", base.kb_id, error.message)
        except Exception:
            logger.exception("%s was not compacted", base.kb_id)
    return folded


def compact_base(base: KnowledgeBase, watch: Callable[[], object] = lambda: None) -> bool:
    """Fold the upper layers of the base's chain into one; tells whether there was anything to fold.

    The base's revision stays, for nobody sees a difference: units, ranks and scores are those of before.

    Raises:
        Conflict: the base has changed meanwhile, nothing was done.

    Effects: one sealed layer in the place of several; costs by their units, never by those of the layers below.
    """
    head, lower = base.head, _fold_from(base.head)
    folded = head.chain if lower is None else head.chain[: head.chain.index(lower.pk)]
    if len(folded) < 2:
        KnowledgeBase.objects.filter(pk=base.pk).update(compaction_asked_at=None)
        return False
    with staging(lower) as layer:
        _hide(layer, folded, watch)
        _copy_units(layer, head, folded, _copy_sources(layer, folded), watch)
        _publish(base, layer.pk, head)
    return True


def _fold_from(head: KnowledgeLayer) -> KnowledgeLayer | None:
    """Give the layer that the folded one shall lie on, None to fold the whole chain.

    It is as large as all above it together, so that a unit is written again few times in its life, and its units are
    older than those above it: what is copied stays newer than what is not.
    """
    layers = {layer.pk: layer for layer in KnowledgeLayer.objects.filter(pk__in=head.chain)}
    sizes = [layers[pk].own_unit_count for pk in head.chain]
    first, last = zip(*(_span(pk) for pk in head.chain), strict=True)
    for place in range(2, len(head.chain)):
        newest_below = max(last[place:])
        oldest_above = min((pk for pk in first[:place] if pk), default=newest_below + 1)
        is_large = sizes[place] >= sum(sizes[:place]) and len(head.chain) - place <= _KEPT
        if is_large and newest_below < oldest_above:
            return layers[head.chain[place]]
    return None


def _span(layer_pk: int) -> tuple[int, int]:
    """Give the first and last key of a layer's own units, zeros if it has none."""
    own = LayerUnit.objects.filter(layer_id=layer_pk).values_list("pk", flat=True)
    return own.order_by("pk").first() or 0, own.order_by("-pk").first() or 0


def _hide(layer: KnowledgeLayer, folded: Sequence[int], watch: Callable[[], object]) -> None:
    """Remove from the layers below what the folded ones removed."""
    removed = HiddenUnit.objects.filter(layer_id__in=folded, change=HiddenUnit.Change.REMOVED)
    pks = removed.filter(unit__layer_id__in=layer.ancestry).values_list("unit_id", flat=True)
    for batch in batched(list(pks), UNITS_A_TRANSACTION, strict=False):
        watch()
        with transaction.atomic():
            hide_units(locked_staged(layer.pk), LayerUnit.objects.filter(pk__in=batch))


def _copy_sources(layer: KnowledgeLayer, folded: Sequence[int]) -> dict[str, KnowledgeSource]:
    """Give a source row in the layer for each source of the folded ones, by id, in their order.

    Of several rows the newest counts, with its parts in quarantine and its artifacts; what sessions saved of their
    conversations adds up.
    """
    made: dict[str, KnowledgeSource] = {}
    listed = KnowledgeSource.objects.filter(layer_id__in=folded).order_by("pk").values_list("source_id", "pk")
    newest_of = dict(listed)
    for source_id in sorted(newest_of, key=lambda name: newest_of[name]):
        rows = list(KnowledgeSource.objects.filter(layer_id__in=folded, source_id=source_id).order_by("pk"))
        newest = rows[-1].pk
        copy = rows[-1]
        if copy.kind == JOURNAL_KIND:
            copy.unit_count = sum(row.unit_count for row in rows)
            copy.content = "\n".join(row.content for row in rows)
        copy.pk, copy.layer = None, layer
        copy._state.adding = True
        with transaction.atomic():
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
        made[source_id] = copy
    return made


def _copy_units(
    layer: KnowledgeLayer,
    head: KnowledgeLayer,
    folded: Sequence[int],
    sources: dict[str, KnowledgeSource],
    watch: Callable[[], object],
) -> None:
    """Write the units of the folded layers that were not removed, a batch a transaction.

    Those that are seen come first and keep their order. Their doubles come last, each below those that hid it: they
    are seen again where what stands for them is removed [KB-7].
    """
    for batch in batched(_units(head, folded), UNITS_A_TRANSACTION, strict=False):
        watch()
        rows = LayerUnit.objects.select_related("origin").in_bulk(batch)
        ordered = [rows[pk] for pk in batch]
        with transaction.atomic():
            staged = locked_staged(layer.pk)
            for source_id, group in groupby(ordered, lambda row: row.origin.source_id if row.origin else ""):
                _copy(staged, list(group), sources.get(source_id))


def _units(head: KnowledgeLayer, folded: Sequence[int]) -> Iterator[int]:
    removed = HiddenUnit.objects.filter(layer_id__in=folded, change=HiddenUnit.Change.REMOVED)
    gone = set(removed.filter(unit__layer_id__in=folded).values_list("unit_id", flat=True))
    hidden = resolve_chain(head.chain).hidden
    kept = LayerUnit.objects.filter(layer_id__in=folded).order_by("pk").values_list("pk", "layer_id")
    doubles: list[tuple[int, int]] = []
    for pk, layer_pk in kept:
        if pk in hidden:
            doubles += [] if pk in gone else [(folded.index(layer_pk), pk)]
        else:
            yield pk
    yield from (pk for _, pk in sorted(doubles))


def _copy(layer: KnowledgeLayer, rows: Sequence[LayerUnit], origin: KnowledgeSource | None) -> None:
    units = [row.to_value() for row in rows]
    keys = insert_indexed(layer, indexed(units), origin)
    moved = [
        LayerUnit(pk=key, stretch=row.stretch, place=row.place)
        for row, unit, key in zip(rows, units, keys, strict=True)
        if place_of(unit) != _place(row)  # a journal was renamed when it was saved
    ]
    LayerUnit.objects.bulk_update(moved, ["stretch", "place"])
    copied = {row.pk: key for row, key in zip(rows, keys, strict=True)}
    artifacts = list(UnitArtifact.objects.filter(unit_id__in=copied))
    for artifact in artifacts:
        artifact.pk, artifact.unit_id = None, copied[artifact.unit_id]
    UnitArtifact.objects.bulk_create(artifacts)


def _place(row: LayerUnit) -> Place | None:
    return None if row.stretch is None or row.place is None else Place(row.stretch, row.place)


@transaction.atomic
def _publish(base: KnowledgeBase, layer_pk: int, head: KnowledgeLayer) -> None:
    """Point the base at the folded layer, if it still has the head that was folded."""
    locked, layer = lock_base(base), locked_staged(layer_pk)
    if locked.head_id != head.pk:
        raise Conflict("The base has changed while it was being compacted.", code="KB_REVISION_CONFLICT")
    counts = ("unit_count", "evidence_count", "term_count")
    if any(getattr(layer, name) != getattr(head, name) for name in counts):
        raise Conflict("The compacted layer does not hold what the base shows; it was thrown away.")
    layer.source_count = head.source_count
    layer.own_source_count = layer.sources.exclude(kind=JOURNAL_KIND).count()
    layer.created_at = timezone.now()
    layer.save(update_fields=["source_count", "own_source_count", "created_at"])
    seal_layer(layer)
    locked.head, locked.compaction_asked_at = layer, None
    locked.save(update_fields=["head", "compaction_asked_at"])
    KBRevision.objects.filter(knowledge_base=locked, revision=locked.revision).update(layer=layer)

"""Staged layers: units are written in short transactions, and a last one makes them visible.

A staged layer lies on top of the layer that it is meant for. Nothing points at it, so readers do not see it; after a
crash it is swept. SQLite's one writer is never held for long, whatever a source's size: a
change of more than `MRPVM_UNITS_AT_ONCE` units is made in a staged layer, `MRPVM_UNITS_A_TRANSACTION` at a time.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import batched

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from mrpvm.errors import Conflict
from mrpvm.knowledge.indexing import IndexEntry
from mrpvm.values import KnowledgeUnit
from sessions_app.layers.lifecycle import create_layer, drop_layer
from sessions_app.layers.units import (
    UNKNOWN,
    delete_units,
    hide_units,
    indexed,
    insert_indexed,
    not_removed,
    restack_layer,
)
from sessions_app.models import KnowledgeLayer, KnowledgeSource, LayerUnit
from sessions_app.models.durability import durable_later

_STAGED = KnowledgeLayer.Kind.STAGED
_GIVEN_UP_AFTER = timedelta(minutes=10)
"""A staged layer that nobody has written to for this long is abandoned."""


type OnBatch = Callable[[int], object]
"""Called between transactions with how many units are written so far; what it raises ends the work."""


def unwatched(written_count: int) -> None:
    """Do nothing; used for a load that nobody watches."""


@contextlib.contextmanager
def staging(parent: KnowledgeLayer | None) -> Iterator[KnowledgeLayer]:
    """Return a new staged layer on `parent`, if any; unless it was published, it is removed when the block fails."""
    layer = create_layer(_STAGED, parent)
    try:
        yield layer
    except BaseException:
        with contextlib.suppress(DatabaseError):  # what cannot be removed now is swept later
            drop_staged(layer.pk)
        raise


@durable_later()
def fill(
    layer: KnowledgeLayer,
    units: Sequence[KnowledgeUnit],
    origin: KnowledgeSource | None = None,
    watch: OnBatch = unwatched,
    entries: Mapping[str, IndexEntry] = UNKNOWN,
) -> None:
    """Write units into a staged layer, each batch in a transaction of its own; `entries` as for `indexed`."""
    for number, batch in enumerate(batched(units, settings.MRPVM_UNITS_A_TRANSACTION, strict=False)):
        watch(number * settings.MRPVM_UNITS_A_TRANSACTION)
        indexed_units = indexed(batch, entries)
        with transaction.atomic():
            insert_indexed(lock_staged(layer.pk), indexed_units, origin)


@durable_later()
def hide_in_batches(layer: KnowledgeLayer, origins: Sequence[KnowledgeSource], watch: OnBatch = unwatched) -> None:
    """Hide what other layers hold of a source from a staged layer, each batch in a transaction of its own."""
    pks = not_removed(layer, LayerUnit.objects.filter(origin__in=origins)).values_list("pk", flat=True)
    for batch in batched(list(pks), settings.MRPVM_UNITS_A_TRANSACTION, strict=False):
        watch(0)
        with transaction.atomic():
            hide_units(lock_staged(layer.pk), LayerUnit.objects.filter(pk__in=batch))


def lock_staged(layer_pk: int) -> KnowledgeLayer:
    """Return the staged layer as it now is, locked until the end of the running transaction, and note that it is used.

    Raises:
        Conflict: it was treated as abandoned, because nothing was written to it for too long.
    """
    layers = KnowledgeLayer.objects.select_for_update().filter(pk=layer_pk, kind=_STAGED, worked_at__isnull=False)
    layer = layers.first()
    if layer is None:
        raise Conflict("Loading the source took too long and was given up; nothing of it was stored.")
    layer.worked_at = timezone.now()
    layer.save(update_fields=["worked_at"])
    return layer


def lock_staged_on(layer_pk: int, parent: KnowledgeLayer) -> KnowledgeLayer:
    """Return the locked staged layer on top of `parent` as it now is, moved there if something came between."""
    layer = lock_staged(layer_pk)
    if layer.ancestry != parent.chain:
        restack_layer(layer, parent)
    return layer


def sweep_staged(*, alone: bool = False) -> int:
    """Remove staged layers that nobody has written to for long; return how many.

    Args:
        alone: no other process serves this database and nothing is being loaded: all of them are left over.
    """
    layers = KnowledgeLayer.objects.filter(kind=_STAGED)
    unused = layers if alone else layers.filter(worked_at__lt=timezone.now() - _GIVEN_UP_AFTER)
    unused.update(worked_at=None)  # from here on nobody writes to them or publishes them
    left_over = list(layers.filter(worked_at=None).order_by("-pk").values_list("pk", flat=True))
    for layer_pk in left_over:
        drop_staged(layer_pk)
    return len(left_over)


def drop_staged(layer_pk: int) -> None:
    """Remove a staged layer, a batch of units a transaction; one that was published meanwhile stays."""
    while _drop_batch(layer_pk):
        pass


@transaction.atomic
def _drop_batch(layer_pk: int) -> bool:
    """Remove some of the layer's units, or else the layer; return whether something is left."""
    if not KnowledgeLayer.objects.select_for_update().filter(pk=layer_pk, kind=_STAGED).exists():
        return False
    units = LayerUnit.objects.filter(layer_id=layer_pk).order_by().values_list("pk", flat=True)
    pks = list(units[: settings.MRPVM_UNITS_A_TRANSACTION])
    if not pks:
        drop_layer(layer_pk)
        return False
    delete_units(pks)
    return True

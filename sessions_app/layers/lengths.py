"""Changes the lengths of stored units in their rows and in the counts of every layer that shows them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import batched

from django.db.models import F
from msgspec import Struct

from sessions_app.models import HiddenUnit, KnowledgeLayer, LayerUnit
from sessions_app.models.named_sql import update_each

_LAYERS_A_QUERY = 5_000
type Lengths = Mapping[int, tuple[int, int]]
"""The old and the new length of units, by their keys."""


def set_lengths(lengths: Lengths) -> None:
    """Set the new lengths of these units; the caller updates the counts."""
    update_each(LayerUnit, ("length",), ((new, unit) for unit, (_, new) in lengths.items()))


def change_lengths(layer: KnowledgeLayer, lengths: Lengths) -> None:
    """Set new lengths of units of a sealed layer, and update the counts of every layer that shows them.

    Must run inside a transaction. A concurrent writer of another layer may have read the old lengths and add wrong
    values to its counts: `recount_layer` corrects them.

    Effects: the units' rows, one update for all layers that show the same of the units.
    """
    if not lengths:
        return
    set_lengths(lengths)
    shifts = _Shifts.of(layer, {unit: new - old for unit, (old, new) in lengths.items()})
    level = [(layer.pk, layer.chain)]
    while level:  # from the lowest up, as everybody else locks them
        by_shift: defaultdict[int, list[int]] = defaultdict(list)
        for pk, chain in level:
            by_shift[shifts.seen_from(chain)].append(pk)
        for shift, pks in by_shift.items():
            for batch in batched(pks if shift else (), _LAYERS_A_QUERY, strict=False):
                KnowledgeLayer.objects.filter(pk__in=batch).update(term_count=F("term_count") + shift)
        level = _lock_children([pk for pk, _ in level], layer.pk)


def _lock_children(layers: Sequence[int], seen: int) -> list[tuple[int, list[int]]]:
    """Return the children of these layers that see a layer, locked, each with its chain."""
    children: list[tuple[int, list[int]]] = []
    for batch in batched(layers, _LAYERS_A_QUERY, strict=False):
        rows = KnowledgeLayer.objects.select_for_update().filter(parent_id__in=batch).order_by("pk")
        children += [(pk, [pk, *ancestry]) for pk, ancestry in rows.values_list("pk", "ancestry") if seen in ancestry]
    return children


class _Shifts(Struct, frozen=True):
    """The changes of the lengths of units, as seen from layers above, which may hide some of the units.

    `visibility` is what each of these layers hides or reveals. `sums` are known by the layers that decide them.
    """

    changes: Mapping[int, int]
    visibility: Mapping[int, Mapping[int, str]]
    sums: dict[tuple[int, ...], int]

    @classmethod
    def of(cls, layer: KnowledgeLayer, changes: Mapping[int, int]) -> "_Shifts":
        by_layer: defaultdict[int, dict[int, str]] = defaultdict(dict)
        rows = HiddenUnit.objects.filter(unit__layer=layer).values_list("layer_id", "unit_id", "change")
        for layer_pk, unit, change in rows.iterator():
            if unit in changes:
                by_layer[layer_pk][unit] = change
        return cls(changes, dict(by_layer), {(): sum(changes.values())})

    def seen_from(self, chain: Collection[int]) -> int:
        """Return the sum of the changes of those units that the chain, the highest layer first, shows."""
        deciding = tuple(layer for layer in chain if layer in self.visibility)
        if deciding not in self.sums:
            topmost: dict[int, str] = {}
            for layer in deciding:
                topmost = dict(self.visibility[layer]) | topmost
            hidden = (unit for unit, change in topmost.items() if change != HiddenUnit.Change.REVEALED)
            self.sums[deciding] = self.sums[()] - sum(self.changes[unit] for unit in hidden)
        return self.sums[deciding]

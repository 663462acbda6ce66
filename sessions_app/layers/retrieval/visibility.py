"""Which unit of a chain is seen for each hash: of those that were not removed, the one in the highest layer.

This is decided when a layer changes and kept as `HiddenUnit` rows, so that reading has nothing to compare. For every
hash a chain shows at most one unit.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched

from sessions_app.models import HiddenUnit, KnowledgeLayer, LayerUnit
from sessions_app.models.named_sql import look_up

_HASHES_A_QUERY = 10_000
_GONE = frozenset(HiddenUnit.GONE)
Change = HiddenUnit.Change


@dataclass(frozen=True, slots=True)
class Copy:
    """One unit among those of a chain that have the same hash; `place` is 0 for the highest layer."""

    pk: int
    place: int
    is_evidence: bool
    length: int


@dataclass(frozen=True, slots=True)
class Totals:
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
    """What one layer shows and what it has to change for that, before and after a change of its own."""

    before: Totals = field(default_factory=Totals)
    after: Totals = field(default_factory=Totals)
    below: Totals = field(default_factory=Totals)
    stale: list[int] = field(default_factory=list)
    changes: list[tuple[int, HiddenUnit.Change]] = field(default_factory=list)


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
    none: Mapping[int, str] = {}
    below = next(
        (copy for copy in group if copy.place > 0 and _is_shown(_without_top(changes.get(copy.pk, none)))), None
    )
    before = next((copy for copy in group if copy.pk not in added and _is_shown(changes.get(copy.pk, none))), None)
    alive = [copy for copy in group if copy.pk not in removed and _GONE.isdisjoint(changes.get(copy.pk, none).values())]
    after = alive[0] if alive else None
    wanted: dict[int, HiddenUnit.Change] = {copy.pk: Change.DUPLICATE for copy in alive[1:] if copy.place == 0}
    if after is not None and after.place > 0 and after != below:
        wanted[after.pk] = Change.REVEALED
    if below is not None and below in alive and below != after:
        wanted[below.pk] = Change.DUPLICATE
    for copy in group:
        present = changes.get(copy.pk, none).get(0)
        if present not in _GONE and present != wanted.get(copy.pk):
            settled.stale += [copy.pk] if present else []
            settled.changes += [(copy.pk, wanted[copy.pk])] if copy.pk in wanted else []
    settled.below += _totals(below)
    settled.before += _totals(before)
    settled.after += _totals(after)


def _without_top(changes: Mapping[int, str]) -> Mapping[int, str]:
    return {place: change for place, change in changes.items() if place > 0}


def _totals(copy: Copy | None) -> Totals:
    if copy is None:
        return Totals()
    return Totals(1, int(copy.is_evidence), copy.length if copy.is_evidence else 0)

"""Units derived from other units, which become stale when these are removed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import QuerySet

from mrpvm.values import KnowledgeUnit
from sessions_app.models import Derivation, HiddenUnit, KnowledgeLayer, LayerUnit
from sessions_app.models.named_sql import look_up

_ROWS_A_QUERY = 5_000


def note_derivations(layer_pk: int, keys: Iterable[int], units: Sequence[KnowledgeUnit]) -> None:
    """Store the origins of a layer's new units; `keys` are the keys of their rows. Most units have no origin."""
    rows = [
        Derivation(layer_id=layer_pk, unit_id=key, origin_unit_id=origin)
        for key, unit in zip(keys, units, strict=True)
        for origin in dict.fromkeys(unit.derived_from_unit_ids)
    ]
    if rows:
        Derivation.objects.bulk_create(rows, batch_size=_ROWS_A_QUERY)


def derived_units(holders: Sequence[int], layer: KnowledgeLayer, origins: QuerySet[LayerUnit]) -> dict[int, str]:
    """Return the hashes, by key, of the units in `holders` that were derived from `origins` in the layer's chain.

    Units derived from derived ones are among them; those of the same source are not, as a source is removed or replaced
    whole, and neither are removed or stale ones. One query where nothing is derived.
    """
    if not Derivation.objects.filter(layer_id__in=holders).exists():
        return {}
    digests: dict[int, str] = {}
    seen: set[int] = set()
    wanted = set(origins.filter(layer_id__in=layer.chain).values_list("unit_id", "source_id"))
    while wanted:
        origins_of = _derived(holders, wanted)
        wanted = set()
        for pk, unit_id, source_id, digest, is_stale in _held(layer.chain, origins_of.keys() - seen):
            if not origins_of[pk] - {source_id}:
                continue
            seen.add(pk)
            wanted.add((unit_id, source_id))
            if not is_stale:
                digests[pk] = digest
    return digests


def _derived(holders: Sequence[int], origins: Iterable[tuple[str, str]]) -> Mapping[int, set[str]]:
    """Return which units of some layers were derived from origins, given by unit and source id: from which sources."""
    sources_of = defaultdict(set)
    for unit_id, source_id in origins:
        sources_of[unit_id].add(source_id)
    columns = ("unit_id", "origin_unit_id")
    derived_from: defaultdict[int, set[str]] = defaultdict(set)
    for unit, origin in look_up(Derivation, columns, {"origin_unit_id": sources_of}, layer_id=holders):
        derived_from[unit] |= sources_of[origin]
    return derived_from


def _held(chain: Sequence[int], pks: Iterable[int]) -> Iterator[tuple[int, str, str, str, bool]]:
    """Return key, id, source and hash of those of the units that nothing in the chain has removed, and if it is
    stale.
    """
    pks = list(pks)
    changes = set(look_up(HiddenUnit, ("unit_id", "change"), {"unit_id": pks}, layer_id=chain))
    held = [pk for pk in pks if (pk, HiddenUnit.Change.REMOVED) not in changes]
    columns = ("id", "unit_id", "source_id", "hash")
    for pk, unit_id, source_id, digest in look_up(LayerUnit, columns, {"id": held}, layer_id=chain):
        yield pk, unit_id, source_id, digest, (pk, HiddenUnit.Change.STALE) in changes

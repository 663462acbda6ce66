"""Reads by one SQL statement what a search needs to know of a chain of layers before it reads postings.

The statement is written by hand, because each of its parts would otherwise be a separate query in every turn.
Utterances are searched layer by layer, so that the index stops at the first one, whatever number of rows the planner
expects.

The units that sealed layers hide never change, so each process caches them: a base whose sources were replaced often
hides more units than it shows. Only the layers above the cached one are read.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from threading import Lock
from typing import NamedTuple

from django.db import connection
from msgspec import Struct, field

from mrpvm.knowledge import indexing
from sessions_app.models import HiddenUnit, KnowledgeLayer, LayerUnit, PackedLayer
from sessions_app.models.knowledge.packed_layer import packing_version
from sessions_app.models.named_sql import open_cursor

_HIDDEN = HiddenUnit._meta.db_table
_LAYERS = KnowledgeLayer._meta.db_table
_PACKED = PackedLayer._meta.db_table
_UNITS = LayerUnit._meta.db_table
_GUIDANCE = {"sqlite": " = 1", "postgresql": ""}
"""How the condition of the index of guidance is written."""
_KEYS_REMEMBERED = 300_000
"""Keys of hidden units that a process remembers: some 25 MB. One chain that hides more is remembered alone."""


class Packing(Struct, frozen=True):
    """A complete `PackedLayer` of its layer's present postings: its layer, its key and how many units it has."""

    layer: int
    pk: int
    unit_count: int


class Hidden(Struct, frozen=True):
    """The keys of the units that a chain hides, by the layer of the units."""

    by_layer: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def __contains__(self, unit: object) -> bool:
        return any(unit in keys for keys in self.by_layer.values())

    def of(self, layer: int) -> frozenset[int]:
        """Return what is hidden of one layer."""
        return self.by_layer.get(layer, frozenset())

    def count(self, layers: Iterable[int]) -> int:
        """Return how many units of these layers are hidden."""
        return sum(len(self.of(layer)) for layer in layers)

    def changed(self, changes: Iterable["_Change"]) -> "Hidden":
        """Return what is hidden after changes by higher layers, of which the topmost decides about a unit."""
        topmost: dict[int, _Change] = {}
        for change in changes:
            topmost[change.unit] = min(topmost.get(change.unit, change), change)
        gone: defaultdict[int, set[int]] = defaultdict(set)
        back: defaultdict[int, set[int]] = defaultdict(set)
        for change in topmost.values():
            (gone if change.hides else back)[change.holder].add(change.unit)
        touched = gone.keys() | back.keys()
        return Hidden({**self.by_layer, **{layer: self.of(layer) - back[layer] | gone[layer] for layer in touched}})


class Marks(NamedTuple):
    """The highest keys of units, hidings and layers; rows with higher keys are newer."""

    unit: int = 0
    hiding: int = 0
    layer: int = 0


NOTHING_YET = Marks()


class ResolvedChain(Struct, frozen=True):
    """The hidden units of a chain, the layers that show units, and which of these are packed or hold conversations.

    `moved` gives the keys under which the postings of some of them lie, in place of their own; `is_outdated` tells
    whether another version than the code's has indexed one of them. `guiding` are those that hold guidance. `marks` are
    those of the moment of reading.
    """

    hidden: Hidden
    shown: tuple[int, ...]
    conversations: frozenset[int]
    packings: tuple[Packing, ...]
    moved: Mapping[int, int]
    is_outdated: bool
    guiding: tuple[int, ...]
    marks: Marks = NOTHING_YET


def resolve_chain(chain: Sequence[int]) -> ResolvedChain:
    """Read what is hidden, said and packed in the layers of a chain, the highest first; one query."""
    known, below = _remembered.highest(chain)
    above = chain[:known]
    with open_cursor() as cursor:
        cursor.execute(_statement(len(above), len(chain), _GUIDANCE[connection.vendor]), [*above, *chain, *chain])
        rows = cursor.fetchall()
    place = {layer: number for number, layer in enumerate(chain)}
    changes: list[_Change] = []
    layers = dict.fromkeys(chain, _ReadLayer())
    packings: list[tuple[str, Packing]] = []
    marks = Marks()
    for kind, layer, word, number, count, is_said, version, is_guiding in rows:
        if kind == "hidden":
            changes.append(_Change(place[layer], number, count, word != HiddenUnit.Change.REVEALED))
        elif kind == "packed":
            packings.append((word, Packing(layer, number, count)))
        elif kind == "marks":
            marks = Marks(unit=number, hiding=count, layer=layer)
        else:
            layers[layer] = _ReadLayer(word, count, bool(is_said), version, number, bool(is_guiding))
    if below and layers[chain[known]].sealed_at != below.sealed_at:
        # The cached layer was never committed, and its key now belongs to another layer.
        _remembered.forget(chain[known])
        return resolve_chain(chain)
    hidden = _hidden(chain, below.hidden if below else Hidden(), changes, layers)
    shown = tuple(layer for layer in chain if layers[layer].unit_count > len(hidden.of(layer)))
    return ResolvedChain(
        hidden=hidden,
        shown=shown,
        conversations=frozenset(layer for layer in shown if layers[layer].is_said),
        packings=tuple(
            packing
            for version, packing in packings
            if packing.layer in shown and version == packing_version(layers[packing.layer].version)
        ),
        moved={layer: moved for layer in shown if (moved := layers[layer].postings_layer)},
        is_outdated=any(layers[layer].version != indexing.INDEX_VERSION for layer in shown),
        guiding=tuple(layer for layer in shown if layers[layer].is_guiding),
        marks=marks,
    )


def _hidden(
    chain: Sequence[int], below: Hidden, changes: Collection["_Change"], layers: Mapping[int, "_ReadLayer"]
) -> Hidden:
    """Return what the chain hides; what its sealed part does is remembered if something of it was read."""
    sealed_from = len(chain) - len(list(takewhile(lambda layer: layers[layer].sealed_at, reversed(chain))))
    sealed = [change for change in changes if change.place >= sealed_from]
    if sealed:
        below = below.changed(sealed)
        _remembered.keep(chain[sealed_from], _SealedChain(layers[chain[sealed_from]].sealed_at, below))
    own = [change for change in changes if change.place < sealed_from]
    return below.changed(own) if own else below


class _Change(NamedTuple):
    """What a layer at a place of the chain, 0 for the highest, does to a unit; `holder` is the unit's layer."""

    place: int
    unit: int
    holder: int
    hides: bool


class _ReadLayer(Struct, frozen=True):
    """A layer as it was read; `sealed_at` is as the database writes it, empty for an unsealed one.

    `is_said` and `is_guiding` tell whether any of its own units was said, or is guidance; `version` has indexed them,
    and their postings lie under the key `postings_layer`, if not under the layer's own.
    """

    sealed_at: str = ""
    unit_count: int = 0
    is_said: bool = False
    version: str = ""
    postings_layer: int = 0
    is_guiding: bool = False


class _SealedChain(Struct, frozen=True):
    """What is hidden from a sealed layer down, and when that was sealed."""

    sealed_at: str
    hidden: Hidden

    @property
    def key_count(self) -> int:
        return 1 + self.hidden.count(self.hidden.by_layer)


class _HiddenCache:
    """LRU cache of what sealed layers hide, by the highest of them, with at most `max_keys` keys."""

    def __init__(self, max_keys: int = _KEYS_REMEMBERED) -> None:
        self._max_keys = max_keys
        self._lock = Lock()
        self._found: OrderedDict[int, _SealedChain] = OrderedDict()
        self._key_count = 0

    def highest(self, chain: Sequence[int]) -> tuple[int, _SealedChain | None]:
        """Return the highest layer of a chain that is remembered, by its place; the chain's length without one."""
        with self._lock:
            for place, layer in enumerate(chain):
                if sealed := self._found.get(layer):
                    self._found.move_to_end(layer)
                    return place, sealed
        return len(chain), None

    def keep(self, layer: int, sealed: _SealedChain) -> None:
        with self._lock:
            self._drop(layer)
            self._found[layer] = sealed
            self._key_count += sealed.key_count
            while self._key_count > self._max_keys and len(self._found) > 1:
                self._drop(next(iter(self._found)))

    def forget(self, layer: int) -> None:
        with self._lock:
            self._drop(layer)

    def _drop(self, layer: int) -> None:
        dropped = self._found.pop(layer, None)
        self._key_count -= dropped.key_count if dropped else 0


_remembered = _HiddenCache()


@lru_cache(maxsize=256)
def _statement(above_count: int, layer_count: int, guidance: str) -> str:
    above, all_layers = (", ".join(["%s"] * count) for count in (above_count, layer_count))
    # The unit's layer by a subquery, which is a look-up by key: a join may be planned as a walk through all units.
    hidden = f"""
        SELECT 'hidden', layer_id, change, unit_id,
            (SELECT unit.layer_id FROM {_UNITS} unit WHERE unit.id = hidden.unit_id), 0, '', 0
        FROM {_HIDDEN} hidden WHERE layer_id IN ({above})
        UNION ALL
    """  # noqa: S608
    return f"""
        {hidden if above_count else ""}
        SELECT 'packed', layer_id, version, id, unit_count, 0, '', 0 FROM {_PACKED}
        WHERE layer_id IN ({all_layers}) AND is_complete
        UNION ALL
        SELECT 'layer', layer.id, COALESCE(CAST(layer.sealed_at AS text), ''), COALESCE(layer.postings_layer_id, 0),
            layer.own_unit_count,
            (SELECT 1 FROM {_UNITS} unit WHERE unit.layer_id = layer.id AND unit.stretch IS NOT NULL
             ORDER BY unit.stretch LIMIT 1),
            layer.index_version,
            (SELECT 1 FROM {_UNITS} unit WHERE unit.layer_id = layer.id AND unit.is_guidance{guidance} LIMIT 1)
        FROM {_LAYERS} layer WHERE layer.id IN ({all_layers})
        UNION ALL
        SELECT 'marks', COALESCE((SELECT MAX(id) FROM {_LAYERS}), 0), '', COALESCE((SELECT MAX(id) FROM {_UNITS}), 0),
            COALESCE((SELECT MAX(id) FROM {_HIDDEN}), 0), 0, '', 0
    """  # noqa: S608

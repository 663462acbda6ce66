"""What a search has to know of a chain of layers before it reads a posting, by one statement.

It is written by hand because each of its parts would else be a query of every turn, and because a layer's utterances
have to be looked for layer by layer: by the order of its own index the first one ends the look, whatever a database
believes about how many there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db import connection

from sessions_app.models import HiddenUnit, KnowledgeLayer, LayerUnit, PackedLayer

_HIDDEN = HiddenUnit._meta.db_table
_LAYERS = KnowledgeLayer._meta.db_table
_PACKED = PackedLayer._meta.db_table
_UNITS = LayerUnit._meta.db_table


@dataclass(frozen=True, slots=True)
class Packing:
    """A complete `PackedLayer`: its key, its version, how many units it has and which keys they lie between."""

    layer: int
    pk: int
    version: str
    unit_count: int
    first_unit: int
    last_unit: int


@dataclass(frozen=True, slots=True)
class ResolvedChain:
    """What of a chain is not shown, which of its layers hold utterances, and which are packed."""

    hidden: frozenset[int]
    conversations: frozenset[int]
    packings: tuple[Packing, ...]


def resolve_chain(chain: Sequence[int]) -> ResolvedChain:
    """Read what is hidden, said and packed in the layers of a chain, the highest first; one query [KB-7]."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(len(chain)), [*chain, *chain, *chain])
        rows = cursor.fetchall()
    place = {layer: number for number, layer in enumerate(chain)}
    topmost: dict[int, tuple[int, str]] = {}
    conversations: list[int] = []
    packings: list[Packing] = []
    for kind, layer, word, number, *more in rows:
        if kind == "hidden":
            decided = place[layer], word
            topmost[number] = min(topmost.get(number, decided), decided)
        elif kind == "packed":
            packings.append(Packing(layer, number, word, *more))
        elif number is not None:
            conversations.append(layer)
    hidden = frozenset(unit for unit, (_, change) in topmost.items() if change != HiddenUnit.Change.REVEALED)
    return ResolvedChain(hidden, frozenset(conversations), tuple(packings))


@lru_cache(maxsize=64)
def _statement(layer_count: int) -> str:
    marks = ", ".join(["%s"] * layer_count)
    return f"""
        SELECT 'hidden', layer_id, change, unit_id, 0, 0, 0 FROM {_HIDDEN} WHERE layer_id IN ({marks})
        UNION ALL
        SELECT 'packed', layer_id, version, id, unit_count, first_unit, last_unit FROM {_PACKED}
        WHERE layer_id IN ({marks}) AND is_complete
        UNION ALL
        SELECT 'said', layer.id, '',
            (SELECT 1 FROM {_UNITS} unit WHERE unit.layer_id = layer.id AND unit.stretch IS NOT NULL
             ORDER BY unit.stretch LIMIT 1),
            0, 0, 0
        FROM {_LAYERS} layer WHERE layer.id IN ({marks})
    """  # noqa: S608

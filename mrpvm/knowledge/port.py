"""What a plugin may ask of stored knowledge: the port, and what it gives."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from mrpvm.values import KnowledgeUnit, Store


class ScoredUnit(Struct, frozen=True, kw_only=True):
    """One hit of a search: exact BM25 `score`, and per query term what it contributed.

    `highest_score` is the upper bound of any unit's score; 0 for a search without terms.
    """

    unit: KnowledgeUnit
    score: float
    store: Store
    term_scores: Mapping[str, float] = field(default_factory=dict)
    highest_score: float = 0.0


class KnowledgePort(Protocol):
    """The session's effective view below the current turn: journal, draft, mounted chain minus hidden.

    An artifact is what one plugin derived from one unit, as bytes that only that plugin understands. It goes
    with its unit and its layer: what a view does not show has none there, and one that was derived in another way
    (`version`) is stale and not given.
    """

    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        """Return the best `limit` evidence units by BM25 for stemmed `terms` with their weights; best first.

        Ties are broken by unit id.
        """

    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        """Return units that instruct a phase (scopes other than `kb-plugin`), newest first, score 0."""

    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the evidence units that came last, newest first, score 0: all of them where there are few."""

    def beside(self, unit_ids: Sequence[str], reach: int) -> Sequence[ScoredUnit]:
        """Return the evidence units up to `reach` places before and after units that this port has given, score 0.

        Those around the first unit come first, the nearest first. The units themselves are not among them.
        """

    def artifacts(self, version: str, unit_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return the calling plugin's own artifacts by unit id, of units that this port has given it."""

    def keep_artifacts(self, version: str, contents: Mapping[str, bytes]) -> None:
        """Keep artifacts for later calls if they can be kept; never fails because of that."""

    def source_artifacts(self, source_id: str) -> Mapping[str, bytes]:
        """Return by name what the calling plugin derived from a source as the view has it now."""


def places_beside(places: Sequence[int], reach: int) -> list[int]:
    """Return the places up to `reach` before and after these, without them; those around the first, nearest, first."""
    near = dict.fromkeys(
        place + side * distance for place in places for distance in range(1, reach + 1) for side in (1, -1)
    )
    return [place for place in near if place not in set(places)]


class TurnKnowledge(Protocol):
    """The view as a turn has it, before it is known which plugin asks."""

    def for_plugin(self, plugin_id: str) -> KnowledgePort:
        """Return the port of one plugin; what it keeps there no other one sees."""

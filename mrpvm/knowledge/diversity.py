"""A diverse ranking: greedy maximal marginal relevance."""

from collections.abc import Sequence, Set

from msgspec import Struct

RELEVANCE_SHARE = 0.7
"""Weight of relevance; the rest is novelty."""


class Pick(Struct, frozen=True):
    """One place of the new order.

    `place` counts from 0 in the given order; `closest` is the earlier pick that says most of the same, with the
    overlap of their terms, None and 0 if none shares any.
    """

    place: int
    closest: int | None = None
    overlap: float = 0.0


def diverse_order(
    relevances: Sequence[float],
    term_sets: Sequence[Set[str]],
    limit: int,
    *,
    relevance_share: float = RELEVANCE_SHARE,
) -> list[Pick]:
    """Return up to `limit` picks, each the best of what is left by its relevance and by its novelty to earlier picks.

    The first is the most relevant one. Novelty is one minus the Jaccard overlap with the closest earlier pick; equal
    values keep the given order.

    Args:
        relevances: one for each candidate, best first; only their ratio to the best counts.
        term_sets: the terms of each candidate.
    """
    best = max(relevances, default=0.0) or 1.0
    shares = [relevance / best for relevance in relevances]
    left = {place: Pick(place) for place in range(len(shares))}
    picked: list[Pick] = []
    while left and len(picked) < limit:
        chosen = max(
            left.values(),
            key=lambda pick: (
                relevance_share * shares[pick.place] + (1 - relevance_share) * (1 - pick.overlap),
                -pick.place,
            ),
        )
        picked.append(left.pop(chosen.place))
        for place, pick in left.items():
            shared = _jaccard(term_sets[place], term_sets[chosen.place])
            if shared > pick.overlap:
                left[place] = Pick(place, chosen.place, shared)
    return picked


def _jaccard(left: Set[str], right: Set[str]) -> float:
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0

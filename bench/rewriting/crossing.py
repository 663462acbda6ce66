"""Cross-validation of the weights, by folds and by whole collections.

The product's weights were learned from all of the public halves, so their figures over these are too good.
"""

from collections.abc import Callable, Iterator, Sequence

from bench.rewriting.training import PERMISSIVE, fold_of, learn
from bench.rewriting.turns import FollowUp
from mrpvm.conversation.rewriting.weights import RewritingWeights, learned

PARTS: dict[str, Callable[[FollowUp], object]] = {
    "learned from other conversations": fold_of,
    "learned from other collections": lambda turn: turn.dataset,
}
"""Ways to part the data: turns of a part are judged by what was learned from the other parts."""


def crossed(
    turns: Sequence[FollowUp], part_of: Callable[[FollowUp], object]
) -> Iterator[tuple[FollowUp, RewritingWeights]]:
    """Return each turn with weights that were learned without its part. A data set that is never learned from gets the
    product's.
    """
    for part in dict.fromkeys(part_of(turn) for turn in turns if turn.dataset in PERMISSIVE):
        others = [turn for turn in turns if turn.dataset in PERMISSIVE and part_of(turn) != part]
        weights = learn(others)
        yield from ((turn, weights) for turn in turns if turn.dataset in PERMISSIVE and part_of(turn) == part)
    yield from ((turn, learned()) for turn in turns if turn.dataset not in PERMISSIVE)


def can_be_crossed(turns: Sequence[FollowUp]) -> bool:
    """Return whether at least two parts have something to learn from, by folds and by collections."""
    known = [turn for turn in turns if turn.dataset in PERMISSIVE]
    return all(len({part_of(turn) for turn in known}) > 1 for part_of in PARTS.values())

"""The order of a turn's record: that of a run in which nothing happened side by side."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from mrpvm.trace.graph import path_key

type _Placed[Item] = tuple[tuple[int, ...], Item]


def in_frame_order[Item](items: Sequence[Item], frame_of: Callable[[Item], str]) -> list[Item]:
    """Return items of frames that ran side by side as if the frames had run one after another.

    A frame waits while its children run: what is between two of its own items is theirs, and goes child by child.
    """
    placed = [(path_key(frame_of(item))[0], item) for item in items]
    return [item for _, item in _ordered(placed, 1)]


def _ordered[Item](placed: Iterable[_Placed[Item]], depth: int) -> Iterator[_Placed[Item]]:
    for is_below, run in groupby(placed, lambda entry: len(entry[0]) > depth):
        if not is_below:
            yield from run
            continue
        below = sorted(run, key=lambda entry: entry[0][depth])
        for _, child in groupby(below, lambda entry: entry[0][depth]):
            yield from _ordered(child, depth + 1)

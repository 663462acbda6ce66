"""Durations in classes, from whose counts a percentile is read."""

import math
from collections.abc import Mapping

CLASSES_AN_OCTAVE = 8
"""A percentile is off by 4.5 % at most."""


def duration_key(duration_ms: int) -> int:
    """Return the class of a duration: the nearest eighth of a power of two."""
    return round(CLASSES_AN_OCTAVE * math.log2(max(duration_ms, 1)))


def percentile_ms(counts: Mapping[int, int], share: float) -> int | None:
    """Return the duration that this share of what was counted did not pass; None where nothing was.

    Args:
        counts: how many there are of each class.
        share: in (0, 1].
    """
    wanted = share * sum(counts.values())
    seen = 0
    for key in sorted(counts):
        seen += counts[key]
        if seen >= wanted:
            return round(2 ** (key / CLASSES_AN_OCTAVE))
    return None

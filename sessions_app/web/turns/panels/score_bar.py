"""A unit's score as a stacked bar: a part for each backend, and parts for agreement and boosts."""

from collections.abc import Mapping
from dataclasses import dataclass

BAR_WIDTH = 100
_BOOSTS = ("role", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """One part of a score; `at` and `width` are its place in the bar."""

    kind: str
    words: str
    at: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreBar:
    """The parts side by side, and their sum as a formula."""

    parts: tuple[BarPart, ...]
    formula: str


def score_bar(parts: Mapping[str, float], best: float) -> ScoreBar | None:
    """Return the bar of a score, scaled to the best score of its table; None for a score without parts."""
    if not parts or best <= 0:
        return None
    drawn, at = [], 0.0
    for name, value in parts.items():
        width = round(max(0.0, value) / best * BAR_WIDTH, 2)
        drawn.append(BarPart(kind=_kind(name), words=f"{name}: {value:+.2f}", at=round(at, 2), width=width))
        at += width
    terms = " + ".join(f"{name} {value:.2f}" for name, value in parts.items())
    return ScoreBar(parts=tuple(drawn), formula=f"{terms} = {sum(parts.values()):.2f}")


def _kind(name: str) -> str:
    first = name.split()[0]
    if first in _BOOSTS:
        return first
    if name.endswith("agree"):
        return "agreement"
    return "words" if first in ("bm25", "turn-overlap") else "links"

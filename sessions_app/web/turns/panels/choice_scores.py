"""The score of each candidate of a plan, part by part, as a page shows it."""

from dataclasses import dataclass

from mrpvm.values import CandidateScore

PART_WORDS = {
    "history": "what was learned of it",
    "plan": "place in the base plan",
    "act": "supports what is asked",
    "topics": "speaks of the same things",
    "confidence": "its own confidence",
    "calls": "model calls it expects",
    "depth": "depth is wanted",
    "speed": "speed is wanted",
    "symbolic": "fits a symbolic task",
    "retrieval": "fits a search for relations",
    "evaluation": "fits guidance on evaluation",
    "procedure": "fits guidance on a procedure",
    "description": "its description shares words with the question",
}
_LEAST = 0.005
"""Parts below it are shown as nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePart:
    """One part of a score."""

    name: str
    words: str
    value: str
    is_gain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginScore:
    """A candidate's score with its parts."""

    score: str
    parts: tuple[ScorePart, ...]


def scored(candidate: CandidateScore) -> PluginScore:
    """Return the score with two decimals; score parts of other packages' planners are shown under their own names."""
    return PluginScore(
        score=f"{candidate.score:.2f}",
        parts=tuple(
            ScorePart(name=name, words=PART_WORDS.get(name, name), value=f"{value:+.2f}", is_gain=value >= 0)
            for name, value in candidate.parts.items()
            if abs(value) >= _LEAST
        ),
    )

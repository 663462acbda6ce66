"""BM25 over the postings of one search: each unit's score, and each term's part in it."""

from collections.abc import Collection, Mapping
from copy import replace
from math import log
from typing import Protocol, Self

from msgspec import Struct, field

from mrpvm.knowledge.indexing import WHOLE_FREQUENCY
from sessions_app.layers.retrieval.windows import WHOLE_SHARE, TermPostings

K1, B = 1.2, 0.75
"""BM25's constants."""
SPEAKER_GAIN, SPEAKER_SHARE = 2.0, 0.5
"""What the words of somebody named in the question gain: as much as a rather rare term, but at most this share of what
the best term of the question can give. Where all terms are common, a name alone decides little."""
BEYOND = 18
"""Padding added to N, a window at each end, so that idf stays positive in short conversations."""


class Scale(Struct, frozen=True):
    """What a unit's frequency is held against: BM25's length norm is `constant + slope * length`.

    Frequencies and lengths are held against it in parts of which `share` make up a whole.
    """

    unit_count: int
    constant: float
    slope: float
    share: int = 1

    @classmethod
    def of(cls, unit_count: int, term_count: int, share: int = 1) -> Self:
        """Return the scale of a view with these counts."""
        average = term_count / unit_count
        return cls(unit_count, K1 * (1 - B) * WHOLE_FREQUENCY * share, K1 * B * WHOLE_FREQUENCY / average, share)

    @classmethod
    def of_windows(cls, unit_count: int, term_count: int) -> "Scale":
        """Return the scale for frequencies that are shared among neighbours."""
        return replace(cls.of(unit_count, term_count, WHOLE_SHARE), unit_count=unit_count + BEYOND)

    def gain(self, weight: float, document_frequency: int) -> float:
        """Return what a term adds at most to a unit's score."""
        rest = max(0, self.unit_count - document_frequency)
        return weight * log((rest + 0.5) / (document_frequency + 0.5) + 1) * (K1 + 1)


class PackedScores(Protocol):
    """The postings of packed layers, as far as a search asks them."""

    def frequency(self, term: str) -> int:
        """Return how many visible units have the term."""

    def best(self, ranked: "SearchScores", limit: int) -> dict[int, float]:
        """Return the scores of the best units by key."""

    def parts(self, units: Collection[int]) -> dict[int, Mapping[str, float]]:
        """Return what each term gave to those of the units that `best` gave."""


class SearchScores(Struct, frozen=True):
    """The scores of one search's units, and the terms' parts in them on demand.

    `packed` are the postings of packed layers, of which only the best units are ever looked at one by one.
    """

    postings: Mapping[str, TermPostings]
    gains: Mapping[str, float]
    scale: Scale
    speakers: Mapping[str, frozenset[int]] = field(default_factory=dict)
    packed: PackedScores | None = None

    @property
    def speaker_gain(self) -> float:
        """Return what a unit gains for each of its speaker's names in the question."""
        return min(SPEAKER_GAIN, SPEAKER_SHARE * max(self.gains.values(), default=0.0))

    @property
    def highest_score(self) -> float:
        """Return an upper bound of all units' scores."""
        return sum(self.gains.values()) + len(self.speakers) * self.speaker_gain

    @classmethod
    def of(
        cls,
        postings: Mapping[str, TermPostings],
        weights: Mapping[str, float],
        scale: Scale,
        speakers: Mapping[str, frozenset[int]] | None = None,
        packed: PackedScores | None = None,
    ) -> Self:
        """Return the ranking of weighted terms; `speakers` are those the question names, with what each of them
        said.
        """
        gains = {
            term: scale.gain(weight, len(postings[term]) + (packed.frequency(term) if packed else 0))
            for term, weight in weights.items()
        }
        return cls(postings, gains, scale, speakers or {}, packed)

    def best_scores(self, limit: int) -> dict[int, float]:
        """Return the scores of at least the best `limit` units."""
        scores = self.scores()
        return scores | self.packed.best(self, limit) if self.packed else scores

    def scores(self) -> dict[int, float]:
        """Return the score of every unit that has a term and is not packed."""
        scores: dict[int, float] = {}
        constant, slope = self.scale.constant, self.scale.slope
        for term, gain in self.gains.items():
            for unit, frequency, length in self.postings[term]:
                part = gain * frequency / (frequency + constant + slope * length)
                scores[unit] = scores.get(unit, 0.0) + part
        for said in self.speakers.values():
            for unit in said & scores.keys():
                scores[unit] += self.speaker_gain
        return scores

    def parts(self, units: Collection[int]) -> dict[int, Mapping[str, float]]:
        """Return what each term, and each speaker, contributed to these units' scores."""
        parts: dict[int, dict[str, float]] = {unit: {} for unit in units}
        constant, slope = self.scale.constant, self.scale.slope
        for term, gain in self.gains.items():
            for unit, frequency, length in self.postings[term]:
                if unit in parts:
                    parts[unit][term] = gain * frequency / (frequency + constant + slope * length)
        for name, said in self.speakers.items():
            for unit in said & parts.keys():
                parts[unit][f"said by {name}"] = self.speaker_gain
        return parts | (self.packed.parts(units) if self.packed else {})

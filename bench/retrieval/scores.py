"""How good a ranking is: recall, reciprocal rank and discounted gain over graded names."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, log2
from statistics import mean

from mrpvm.english.words.text import terms


def recall(ranked: Sequence[str], gold: Collection[str], depth: int) -> float:
    """Return the share of the right names among the first `depth`."""
    return len(set(ranked[:depth]) & set(gold)) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return one over the rank of the first right name, 0 if there is none."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def discounted_gain(ranked: Sequence[str], gold: Collection[str], depth: int) -> float:
    """Return nDCG at `depth`: every right name counts 1, discounted by the logarithm of its rank."""
    gain = sum(1 / log2(place + 2) for place, name in enumerate(ranked[:depth]) if name in gold)
    return gain / sum(1 / log2(place + 2) for place in range(min(depth, len(gold))))


@dataclass
class Tally:
    """The figures of one way of searching, by group of questions."""

    by_group: dict[str, list[Mapping[str, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, group: str, ranked: Sequence[str], gold: Collection[str]) -> None:
        """Add the ranking of one question."""
        self.by_group[group].append(
            {
                "R@10": recall(ranked, gold, 10),
                "MRR": reciprocal_rank(ranked, gold),
                "nDCG@10": discounted_gain(ranked, gold, 10),
                "nDCG@3": discounted_gain(ranked, gold, 3),
            }
        )

    def mean(self, figure: str, groups: Collection[str] = ()) -> float:
        """Return a figure's mean over the questions of these groups, or of all if none is named."""
        return mean(
            row[figure] for group, rows in self.by_group.items() if not groups or group in groups for row in rows
        )

    def macro(self, figure: str) -> float:
        """Return the mean over groups of a figure's mean."""
        return mean(mean(row[figure] for row in rows) for rows in self.by_group.values())


class PlainBM25:
    """The baseline: BM25 over stemmed words of plain text, in memory and independent of the product's search."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._postings: dict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}
        for name, text in texts.items():
            text_terms = terms(text)
            self._lengths[name] = len(text_terms)
            for term in text_terms:
                self._postings[term][name] = self._postings[term].get(name, 0) + 1
        self._average = mean(self._lengths.values())

    def ranked(self, question: str) -> list[str]:
        """Return the names of all texts that share a term with the query, best first."""
        scores: dict[str, float] = defaultdict(float)
        for term in dict.fromkeys(terms(question)):
            holders = self._postings.get(term, {})
            idf = log((len(self._lengths) - len(holders) + 0.5) / (len(holders) + 0.5) + 1)
            for name, count in holders.items():
                norm = 1.2 * (0.25 + 0.75 * self._lengths[name] / self._average)
                scores[name] += idf * count * 2.2 / (count + norm)
        return sorted(scores, key=lambda name: (-scores[name], name))

"""What was learned about questions and sentences, read from the file beside this module.

`bench/answers/training.py` writes it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path

PATH = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Weights of two logistic models by the names of their signs.

    `rank` orders the sentences, `sure` says how likely the best one answers. An answer is stated from the probability
    `stated` on.
    """

    rank: Mapping[str, float]
    sure: Mapping[str, float]
    stated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What was learned, by words alone and with vectors, and in how many paragraphs a stem stood.

    A passage is quoted from the share `quoted` of what it could share with the question.
    """

    words: Model
    meaning: Model
    quoted: float
    counts: Mapping[str, int]
    paragraph_count: int

    def rarity(self, term: str) -> float:
        """Return 1 for a stem of no paragraph, 0 for one of all."""
        return log((self.paragraph_count + 1) / (self.counts.get(term, 0) + 1)) / log(self.paragraph_count + 1)


def probability(weights: Mapping[str, float], row: Mapping[str, float]) -> float:
    """Return what a logistic model expects of a row of signs; those it does not know count nothing."""
    total = sum(weights.get(name, 0.0) * value for name, value in row.items() if value)
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@cache
def learned() -> Weights:
    """Return the weights that the product uses."""
    found = json.loads(PATH.read_text(encoding="utf-8"))
    return Weights(
        words=Model(**found["words"]),
        meaning=Model(**found["meaning"]),
        quoted=found["quoted"],
        counts=found["counts"],
        paragraph_count=found["paragraph_count"],
    )

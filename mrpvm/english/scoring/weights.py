"""The learned weights of the scorer, read from a file in this directory.

`bench/answers/training.py` writes it.
"""

import json
from collections.abc import Mapping
from functools import cache
from math import exp, log
from pathlib import Path

from msgspec import Struct

PATH = Path(__file__).with_name("weights.json")


class Model(Struct, frozen=True, kw_only=True):
    """Weights of two logistic models by the names of their features.

    `rank` orders the sentences, `sure` gives the probability that the best one answers. From the probability `stated`
    on the sentence is stated as the answer.
    """

    rank: Mapping[str, float]
    sure: Mapping[str, float]
    stated: float


class Weights(Struct, frozen=True, kw_only=True):
    """The models with and without vectors, and the number of paragraphs that contain each stem.

    A passage is quoted if it has at least the share `quoted` of what it could share with the question.
    """

    words: Model
    meaning: Model
    quoted: float
    counts: Mapping[str, int]
    paragraph_count: int

    def rarity(self, term: str) -> float:
        """Return the rarity of a stem: 1 for a stem in no paragraph, 0 for one in all."""
        return log((self.paragraph_count + 1) / (self.counts.get(term, 0) + 1)) / log(self.paragraph_count + 1)


def probability(weights: Mapping[str, float], row: Mapping[str, float]) -> float:
    """Return the probability that a logistic model gives to a row of features; unknown features are ignored."""
    total = sum([weights.get(name, 0.0) * value for name, value in row.items() if value])
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@cache
def learned() -> Weights:
    """Return the weights that the server uses."""
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    return Weights(
        words=Model(**stored["words"]),
        meaning=Model(**stored["meaning"]),
        quoted=stored["quoted"],
        counts=stored["counts"],
        paragraph_count=stored["paragraph_count"],
    )

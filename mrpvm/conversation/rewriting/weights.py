"""What was learned about follow-ups, read from the file beside this module; `bench/rewriting/training.py` writes it."""

import json
from collections.abc import Mapping
from functools import cache
from math import log
from pathlib import Path

from msgspec import Struct

PATH = Path(__file__).with_name("weights.json")


class RewritingWeights(Struct, frozen=True, kw_only=True):
    """Weights of four logistic models by the names of their signs, and in how many conversations a stem was said.

    `follows` tells messages of a conversation from questions of another matter, `need` those that cannot be understood
    alone from the others; `first` and `second` judge the words that a message may mean.
    """

    follows: Mapping[str, float]
    need: Mapping[str, float]
    first: Mapping[str, float]
    second: Mapping[str, float]
    counts: Mapping[str, int]
    conversation_count: int

    def rarity(self, term: str) -> float:
        """Return 1 for a stem of no conversation, 0 for one of all."""
        return log((self.conversation_count + 1) / (self.counts.get(term, 0) + 1)) / log(self.conversation_count + 1)


@cache
def learned() -> RewritingWeights:
    """Return the weights that the product uses."""
    stored = json.loads(PATH.read_text())
    return RewritingWeights(**{name: value for name, value in stored.items() if name != "provenance"})

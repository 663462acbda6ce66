"""What a unit is found by: its weighted terms, and the number that stands for a term in the index."""

from collections import Counter
from functools import lru_cache
from hashlib import blake2b

from mrpvm.knowledge.text import terms
from mrpvm.values import KnowledgeUnit

WHOLE_FREQUENCY = 10
"""Frequencies are whole numbers of tenths, so that sums are exact and every database gives the same score."""
_TOPIC_WEIGHT, _STATEMENT_WEIGHT, _REMARK_WEIGHT = 15, 10, 6


@lru_cache(maxsize=65_536)
def term_id(term: str) -> int:
    """Give the signed 64-bit number of a stemmed term."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def weighted_terms(unit: KnowledgeUnit) -> Counter[str]:
    """Give the unit's terms with their frequencies in tenths: topic 1.5, statement 1.0, remarks 0.6 [BP-20].

    A title says what the topic says and a body what the claim says, so of each pair the higher count holds. Role and
    acts are not indexed: they raise a unit's rank elsewhere, and as words they would match every unit [D-29].
    """
    weighted: Counter[str] = Counter()
    statement = _counts(unit.claim) | _counts(unit.procedure) | _counts(unit.text_body)
    for weight, counts in (
        (_TOPIC_WEIGHT, _counts(unit.topic) | _counts(unit.title)),
        (_STATEMENT_WEIGHT, statement),
        (_REMARK_WEIGHT, _counts(unit.condition) + _counts(unit.utility_note)),
    ):
        for term, count in counts.items():
            weighted[term] += weight * count
    return weighted


def _counts(text: str | None) -> Counter[str]:
    return Counter(terms(text)) if text else Counter()

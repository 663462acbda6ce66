"""Units for tests of search, with the hash that admission computes."""

from copy import replace
from typing import Any

from mrpvm.knowledge.units import content_hash
from mrpvm.values import KnowledgeUnit


def make_unit(unit_id: str, claim: str, *, topic: str = "", **more: Any) -> KnowledgeUnit:
    """Return an admitted unit."""
    unit = KnowledgeUnit(id=unit_id, role="Explanation", topic=topic, claim=claim, **more)
    return replace(unit, hash=content_hash(unit))

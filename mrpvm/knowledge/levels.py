"""How broad the evidence of a question should be: summaries, sections or single statements."""

from collections.abc import Iterable, Mapping, Set

from mrpvm.values import KnowledgeUnit

LONG_UNIT_CHARS = 1_500
"""A longer unit gives way to its parts."""
BREADTH: Mapping[str, int] = {"atomic": 0, "composite": 1, "aggregate": 2}
"""Levels of units, the narrowest first; an unknown one counts as the narrowest."""
BREADTH_BY_ACT: Mapping[str, int] = {
    "describe": 2,
    "explain": 2,
    "compare": 1,
    "recommend": 1,
    "evaluate": 1,
    "diagnose": 1,
    "implement": 1,
    "identify": 0,
    "define": 0,
    "verify": 0,
}
"""Broadest level that an act is served by: orientation, moderate detail, specific evidence."""
_PARTS_OF_A_WHOLE = 2
"""How many parts must be found for their section to stay beside them."""


def wanted_breadth(act: str, query_terms: Iterable[str], whole_terms: Set[str]) -> int:
    """Return the broadest level that serves a question beside the parts of one whole.

    A question with a term that the whole does not hold asks for detail.
    """
    breadth = BREADTH_BY_ACT.get(act, 0)
    names_more = any(term not in whole_terms for term in query_terms)
    return min(breadth, 1) if names_more else breadth


def gives_way(whole: KnowledgeUnit, found_parts: int, breadth: int) -> bool:
    """Return whether a unit is left out because parts of it were found as well.

    Args:
        found_parts: how many of its parts were found.
        breadth: the broadest level wanted, from `wanted_breadth`.
    """
    if not found_parts:
        return False
    if len(whole.text) > LONG_UNIT_CHARS:
        return True
    own = BREADTH.get(whole.ku_type, 0)
    if own == 0:
        return False
    is_between = breadth == own == BREADTH["composite"]
    return own > breadth or (is_between and found_parts < _PARTS_OF_A_WHOLE)

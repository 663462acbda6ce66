"""Relations that allow one object only, and contradictions under them."""

from collections.abc import Iterable

from mrpvm.english.words.text import terms
from mrpvm.knowledge.facts import Fact
from mrpvm.values import KnowledgeUnit

EXCLUSIVE_RELATIONS = frozenset(("part_of", "instance_of"))
"""Relations under which one subject has one object: two different ones exclude each other."""


def contradicts(fact: Fact, units: Iterable[KnowledgeUnit]) -> KnowledgeUnit | None:
    """Return the unit whose triple the fact contradicts: same subject and exclusive relation, another object.

    A fact that some unit states as it is contradicts none.
    """
    if fact.relation not in EXCLUSIVE_RELATIONS:
        return None
    subject, obj = set(terms(fact.subject)), set(terms(fact.object))
    rivals = [
        unit
        for unit in units
        if unit.relation == fact.relation and unit.subject and unit.object and set(terms(unit.subject)) == subject
    ]
    if any(set(terms(unit.object or "")) == obj for unit in rivals):
        return None
    return rivals[0] if rivals else None

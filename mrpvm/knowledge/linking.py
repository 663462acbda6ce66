"""Which units are linked to a question by triples, and the proof that they are."""

from collections.abc import Collection, Iterable, Sequence, Set

from msgspec import Struct

from mrpvm.english.words.text import terms
from mrpvm.knowledge.closure import (
    LIMITS,
    PREFERRED_RELATIONS,
    ClosureLimits,
    Triple,
    best_by_key,
    closure,
    neighbourhood,
    proof_lines,
)
from mrpvm.knowledge.facts import FACT_CONFIDENCE, facts_in
from mrpvm.values import KnowledgeUnit

MIN_SCORE = 0.15
_PATH_DISCOUNT = 0.25
_TOUCHES_BOOST, _SEED_BOOST = 1.15, 1.10
_TOKEN_POINTS, _EXACT_POINTS, _BOTH_SIDES_POINTS = 2, 4, 2


class Linked(Struct, frozen=True, kw_only=True):
    """How a unit is linked to a question: its best score, what it helps to show, and the proof line by line."""

    score: float
    shows: str
    proof: tuple[str, ...]


class Linking(Struct, frozen=True, kw_only=True):
    """The linked units by id, and how much was looked at for them."""

    units: dict[str, Linked]
    fact_count: int = 0
    derived_count: int = 0
    kept_count: int = 0


def links_of(unit: KnowledgeUnit) -> tuple[Triple, ...]:
    """Return what a unit states as links: its triple, else what the sentences of its claim state.

    A summary repeats what its parts state and gives none.
    """
    if unit.subject and unit.relation and unit.object:
        certainty = FACT_CONFIDENCE if unit.confidence is None else unit.confidence
        return (_stated(unit, unit.subject, unit.relation, unit.object, certainty),)
    if unit.ku_type != "atomic" or not unit.claim:
        return ()
    return tuple(
        _stated(unit, fact.subject, fact.relation, fact.object, FACT_CONFIDENCE) for fact in facts_in(unit.claim)
    )


def _stated(unit: KnowledgeUnit, subject: str, relation: str, obj: str, certainty: float) -> Triple:
    return Triple(subject=subject, relation=relation, object=obj, score=certainty, unit_id=unit.id)


def seed_strength(link: Triple, query_terms: Set[str]) -> int:
    """Return how much a link shares with a question: shared terms, whole arguments, both arguments."""
    points, sides = 0, 0
    for argument in (link.subject, link.object):
        own = set(terms(argument))
        shared = len(own & query_terms)
        points += _TOKEN_POINTS * shared + _EXACT_POINTS * (0 < shared == len(own))
        sides += shared > 0
    return points + _BOTH_SIDES_POINTS * (sides == 2)


def seeds_of(links: Iterable[Triple], query_terms: Set[str], limits: ClosureLimits = LIMITS) -> dict[Triple, int]:
    """Return the links that share most with a question, strongest first, with their strength."""
    rated = [(link, seed_strength(link, query_terms)) for link in best_by_key(links).values()]
    rated = [item for item in rated if item[1]]
    rated.sort(key=lambda item: (-item[1], item[0].relation not in PREFERRED_RELATIONS, item[0].key))
    return dict(rated[: limits.seed_count])


def link_units(query_terms: Collection[str], links: Sequence[Triple]) -> Linking:
    """Return the units that a question is linked to by stated and derived triples.

    A stated triple counts by its share of the strongest one's points; a derived one by its proof.
    """
    wanted = frozenset(query_terms)
    seeds = seeds_of(links, wanted)
    if not seeds:
        return Linking(units={}, fact_count=len(links))
    near = neighbourhood(tuple(seeds), links, LIMITS.depth)
    derived = closure(near, LIMITS)
    focused = [(link, _focus(link, wanted, seeds)) for link in sorted(derived, key=_certainty)[: LIMITS.proof_count]]
    focused = sorted((item for item in focused if item[1] >= MIN_SCORE), key=lambda item: (-item[1], item[0].key))
    focused = focused[: LIMITS.focused_count]
    strongest = max(seeds.values())
    own = [(link, link.score * points / strongest) for link, points in seeds.items()]
    kept = [*focused, *((link, score) for link, score in own if score >= MIN_SCORE)]
    return Linking(units=_by_unit(kept), fact_count=len(near), derived_count=len(derived), kept_count=len(focused))


def _certainty(link: Triple) -> tuple[float, int, tuple[str, str, str]]:
    return -link.score, link.step_count, link.key


def _focus(link: Triple, wanted: Set[str], seeds: Collection[Triple]) -> float:
    """Return the score of a derived link for a question; 0 when nothing ties the two together."""
    touches = bool(wanted & {*terms(link.subject), *terms(link.object)})
    from_seed = link.stated[0] in seeds
    if not (touches or from_seed):
        return 0.0
    score = link.score / (1 + _PATH_DISCOUNT * link.step_count)
    return score * (_TOUCHES_BOOST if touches else 1.0) * (_SEED_BOOST if from_seed else 1.0)


def _by_unit(kept: Sequence[tuple[Triple, float]]) -> dict[str, Linked]:
    """Return the best score of each unit; the proof shown is the best derived one that rests on it."""
    scores: dict[str, float] = {}
    shown: dict[str, Triple] = {}
    for link, score in kept:
        for leaf in link.stated:
            unit_id = leaf.unit_id or ""
            scores[unit_id] = max(scores.get(unit_id, 0.0), min(1.0, score))
            shown.setdefault(unit_id, link)
    return {
        unit_id: Linked(score=scores[unit_id], shows=link.text, proof=proof_lines(link))
        for unit_id, link in shown.items()
    }

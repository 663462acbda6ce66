"""Bounded forward closure over triples, every derived link with its proof."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from mrpvm.english.words.text import terms
from mrpvm.text_cache import TextCache


class Composition(Struct, frozen=True):
    """`A first B` and `B second C` give `A gives C`; the weight is what a step costs in certainty."""

    first: str
    second: str
    gives: str
    weight: float

    @property
    def name(self) -> str:
        """Return the rule's name in proofs."""
        return f"{self.first}+{self.second}"


RULES: tuple[Composition, ...] = (
    Composition("uses", "provides", "has_capability", 0.95),
    Composition("has_capability", "relevant_for", "relevant_for", 0.90),
    Composition("provides", "relevant_for", "relevant_for", 0.88),
    Composition("depends_on", "depends_on", "depends_on", 0.92),
    Composition("depends_on", "has_capability", "has_capability", 0.90),
    Composition("depends_on", "relevant_for", "relevant_for", 0.85),
    Composition("supports", "relevant_for", "relevant_for", 0.88),
    Composition("causes", "causes", "causes", 0.90),
)
"""The shipped rules."""
_RULE_OF: Mapping[tuple[str, str], Composition] = {(rule.first, rule.second): rule for rule in RULES}
PREFERRED_RELATIONS = frozenset(rule.gives for rule in RULES)
"""Relations that say what the question is usually after: relevant_for, has_capability, depends_on, causes."""


class ClosureLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one closure; `depth` bounds both the neighbourhood and the height of a proof."""

    depth: int = 3
    derived_count: int = 64
    proof_count: int = 32
    seed_count: int = 8
    focused_count: int = 12


LIMITS = ClosureLimits()
type LinkKey = tuple[str, str, str]


@TextCache
def argument_key(argument: str) -> str:
    """Return the form in which two arguments are the same: their stemmed content terms in order."""
    return " ".join(terms(argument))


class Triple(Struct, frozen=True, kw_only=True):
    """A triple that a unit states, or one that a rule derives from two others.

    `unit_id` is None and `rule` is set on a derived link; `score` is then the product of its premises' scores and the
    rule's weight.
    """

    subject: str
    relation: str
    object: str
    score: float
    unit_id: str | None = None
    rule: Composition | None = None
    premises: tuple["Triple", ...] = ()

    @property
    def key(self) -> LinkKey:
        """Return what makes two links the same."""
        return argument_key(self.subject), self.relation, argument_key(self.object)

    @property
    def stated(self) -> tuple["Triple", ...]:
        """Return the links of units that the proof rests on, in the order of the chain."""
        return tuple(leaf for premise in self.premises for leaf in premise.stated) if self.premises else (self,)

    @property
    def step_count(self) -> int:
        """Return how many rules were applied: the length of the path."""
        return len(self.stated) - 1

    @property
    def text(self) -> str:
        """Return the triple in words, with its score."""
        return f"{self.subject} {self.relation} {self.object} {self.score:.4f}"


def closure(stated: Iterable[Triple], limits: ClosureLimits = LIMITS) -> list[Triple]:
    """Return the links that the rules derive, one proof each: lower proofs first, the more certain before the others.

    Nothing is derived twice, none says what a unit states, none leads from a thing to itself. The result does not
    depend on the order of the input.
    """
    known = best_by_key(stated)
    by_subject: defaultdict[str, list[Triple]] = defaultdict(list)
    by_object: defaultdict[str, list[Triple]] = defaultdict(list)
    derived: list[Triple] = []
    newest = list(known.values())
    for _ in range(limits.depth):
        for link in newest:
            by_subject[link.key[0]].append(link)
            by_object[link.key[2]].append(link)
        pairs = [
            *((link, second) for link in newest for second in by_subject[link.key[2]]),
            *((first, link) for link in newest for first in by_object[link.key[0]]),
        ]
        applied = (_apply(first, second) for first, second in pairs)
        new_links = best_by_key(link for link in applied if link is not None and link.key not in known)
        newest = sorted(new_links.values(), key=_order)[: limits.derived_count - len(derived)]
        known |= {link.key: link for link in newest}
        derived += newest
    return derived


def _apply(first: Triple, second: Triple) -> Triple | None:
    rule = _RULE_OF.get((first.relation, second.relation))
    if rule is None or first.key[0] == second.key[2]:
        return None
    return Triple(
        subject=first.subject,
        relation=rule.gives,
        object=second.object,
        score=first.score * second.score * rule.weight,
        rule=rule,
        premises=(first, second),
    )


def best_by_key(links: Iterable[Triple]) -> dict[LinkKey, Triple]:
    """Return each link once, in its most certain form; links with an argument that says nothing are left out."""
    best: dict[LinkKey, Triple] = {}
    for link in sorted(links, key=_order):
        if link.key[0] and link.key[2]:
            best.setdefault(link.key, link)
    return best


def _order(link: Triple) -> tuple[float, LinkKey, tuple[str, ...], str, str]:
    return -link.score, link.key, tuple(leaf.unit_id or "" for leaf in link.stated), link.subject, link.object


def neighbourhood(seeds: Sequence[Triple], links: Iterable[Triple], depth: int = LIMITS.depth) -> list[Triple]:
    """Return the links that are connected to the seeds by at most `depth` shared arguments, seeds included."""
    touching: defaultdict[str, list[Triple]] = defaultdict(list)
    for link in links:
        for argument in {link.key[0], link.key[2]}:
            touching[argument].append(link)
    reached = {link.key: link for link in seeds}
    edge = list(reached.values())
    for _ in range(depth):
        arguments = dict.fromkeys(argument for link in edge for argument in (link.key[0], link.key[2]))
        edge = [link for argument in arguments for link in touching[argument] if link.key not in reached]
        reached |= {link.key: link for link in edge}
    return list(reached.values())


def proof_lines(link: Triple) -> tuple[str, ...]:
    """Return a proof that can be checked by hand: each stated link with its unit, then each step with its rule.

    fact [unit id]: subject relation object score
    step: subject relation object score = first+second weight x (first premise) x (second premise)
    """
    facts = [f"fact [{leaf.unit_id}]: {leaf.text}" for leaf in link.stated]
    return tuple(dict.fromkeys([*facts, *_steps(link)]))


def _steps(link: Triple) -> list[str]:
    if link.rule is None:
        return []
    before = [line for premise in link.premises for line in _steps(premise)]
    first, second = link.premises
    return [*before, f"step: {link.text} = {link.rule.name} {link.rule.weight} x ({first.text}) x ({second.text})"]

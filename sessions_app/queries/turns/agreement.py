"""How far people agree who have rated the same answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sessions_app.models import Project, TurnScore

SCORES_LOOKED_AT = 5_000
PEOPLE_COMPARED = 20

type GivenValue = tuple[int, str, str]
"""The key of a turn, a person, and the value that the person gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How two people rated the answers that both have rated.

    `kappa` is Cohen's (1960), from -1 to 1: how much more they agree than they would by chance. It is None where chance
    alone would have them always agree: both gave one and the same value throughout.
    """

    people: tuple[str, str]
    both_count: int
    equal_count: int
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements:
    """Agreement of all pairs of people who rated the same answers, those with most answers first, and totals."""

    pairs: Sequence[Agreement]
    both_count: int
    equal_count: int

    @property
    def equal_share(self) -> float | None:
        """Return the share of pairs of ratings of one answer that are equal; None without any."""
        return self.equal_count / self.both_count if self.both_count else None


def project_agreements(project: Project) -> Agreements:
    """Return how far people agree in the newest `SCORES_LOOKED_AT` ratings of the project."""
    rated = TurnScore.objects.filter(turn__session__project=project).exclude(value=TurnScore.Value.SKIPPED)
    return agreements(rated.order_by("-id").values_list("turn_id", "person", "value")[:SCORES_LOOKED_AT])


def agreements(given: Iterable[GivenValue]) -> Agreements:
    """Return how far those `PEOPLE_COMPARED` agree who gave most."""
    values: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for turn, person, value in given:
        values[person][turn] = value
    people = sorted(sorted(values), key=lambda person: -len(values[person]))[:PEOPLE_COMPARED]
    pairs = [_agreement(first, second, values) for first, second in combinations(sorted(people), 2)]
    pairs = sorted((pair for pair in pairs if pair.both_count), key=lambda pair: -pair.both_count)
    return Agreements(
        pairs=pairs,
        both_count=sum(pair.both_count for pair in pairs),
        equal_count=sum(pair.equal_count for pair in pairs),
    )


def _agreement(first: str, second: str, values: Mapping[str, Mapping[int, str]]) -> Agreement:
    both = [(values[first][turn], values[second][turn]) for turn in values[first].keys() & values[second].keys()]
    equal_count = sum(one == other for one, other in both)
    return Agreement(
        people=(first, second), both_count=len(both), equal_count=equal_count, kappa=_kappa(both, equal_count)
    )


def _kappa(both: Sequence[tuple[str, str]], equal_count: int) -> float | None:
    """Return Cohen's kappa of pairs of values."""
    count = len(both)
    firsts, seconds = Counter(one for one, _ in both), Counter(other for _, other in both)
    by_chance = sum(firsts[value] * seconds[value] for value in firsts)  # times count squared
    if by_chance == count * count:
        return None
    return (count * equal_count - by_chance) / (count * count - by_chance)
